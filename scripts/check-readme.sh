#!/usr/bin/env bash
# Holds README.md to the truth:
#
# 1. relative links of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ lead to files that exist;
# 2. the block between the demo marks is what `aegis demo` prints, times and hashes made equal;
# 3. the `console` blocks that stand under `<!-- run -->` run, in order, in one shell and without an error, and the event
#    they publish reaches the APNs simulator.
#
# The commands run in a scratch folder that has the examples, on free ports instead of those that the page names, so that
# neither this folder nor another broker on this machine is touched. AEGIS names the program; else the debug build,
# else the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/contain.bash

binary=${AEGIS:-}
for candidate in .build/debug/aegis .build/release/aegis; do
    [ -n "$binary" ] || [ ! -x "$candidate" ] || binary=$candidate
done
[ -n "$binary" ] || { echo "check-readme.sh: there is no build of aegis; run: swift build --product aegis" >&2; exit 1; }
binary=$(realpath "$binary")

scratch=$(mktemp -d "${TMPDIR:-/tmp}/aegis-readme.XXXXXX")
run_id=$(new_run_id "$scratch")
clean_up() {
    end_survivors "$run_id"
    rm -rf "$scratch"
}
trap clean_up EXIT

fail() {
    printf 'check-readme.sh: %s\n' "$1" >&2
    exit 1
}

# 1. Links.
broken=$(python3 - README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/decisions/*.md <<'PYTHON'
import os, re, sys
for page in sys.argv[1:]:
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", line):
            if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(page), target)):
                print(f"{page}:{number}: {target} does not exist")
PYTHON
)
[ -z "$broken" ] || fail "$broken"

# 2. The demo.
awk '/<!-- demo:begin -->/ { inside = 1; next } /<!-- demo:end -->/ { inside = 0 } inside && !/^```/' README.md \
    >"$scratch/declared"
AEGIS=$binary scripts/demo-output.sh >"$scratch/real"
diff -u --label README.md --label "aegis demo" "$scratch/declared" "$scratch/real" >&2 ||
    fail "the demo's output in README.md is not what it prints; run: make docs"

# 3. The commands.
mkdir -p "$scratch/bin" "$scratch/home"
ln -s "$binary" "$scratch/bin/aegis"
cp -r examples scripts catalog.yaml "$scratch/home"
ln -s "$PWD/.tools" "$scratch/home/.tools"
read -r broker data control api < <(python3 - <<'PYTHON'
import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
print(*(one.getsockname()[1] for one in held))
PYTHON
)
on_free_ports() { sed -E "s/\b9092\b/$broker/g; s/\b8443\b/$data/g; s/\b8444\b/$control/g; s/\b8080\b/$api/g"; }
on_free_ports <examples/local.yaml >"$scratch/home/examples/local.yaml"
{
    echo 'set -eu'
    awk '/<!-- run -->/ { due = 1; next } due && /^```console/ { inside = 1; due = 0; next } /^```/ { inside = 0 }
         inside && sub(/^\$ /, "")' README.md | on_free_ports
} >"$scratch/commands"
[ "$(wc -l <"$scratch/commands")" -gt 1 ] || fail "README.md has no block under <!-- run -->"
# The last block stops everything; the push is waited for before it.
sed -i "/^kill %/i \\
deadline=\$((SECONDS + 30)); until curl -sf http://127.0.0.1:$control/notifications | grep -q order-1007-confirmed; do [ \$SECONDS -lt \$deadline ] || { echo 'the published event did not reach the simulator' >\&2; exit 1; }; sleep 0.1; done" \
    "$scratch/commands"
cd "$scratch/home"
env CONTAINED_RUN="$run_id" TMPDIR="$scratch" PATH="$scratch/bin:$PATH" bash "$scratch/commands" >"$scratch/output" 2>&1 </dev/null ||
    fail "a command of README.md fails:
$(tail -n 40 "$scratch/output")"
