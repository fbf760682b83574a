#!/usr/bin/env bash
# Puts the output of `aegis demo` into README.md, between its demo marks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

block=$(mktemp)
page=$(mktemp)
trap 'rm -f "$block" "$page"' EXIT
{
    echo '```text'
    scripts/demo-output.sh
    echo '```'
} >"$block"
awk -v block="$block" '
    /<!-- demo:begin -->/ { print; while ((getline line < block) > 0) print line; inside = 1; marks++ }
    /<!-- demo:end -->/ { inside = 0; marks++ }
    !inside && !/<!-- demo:begin -->/ { print }
    END { exit marks != 2 }
' README.md >"$page" || { echo "update-readme.sh: README.md lacks its demo marks" >&2; exit 1; }
cmp -s "$page" README.md || cat "$page" >README.md
