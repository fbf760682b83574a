#!/usr/bin/env bash
# Prints what `aegis demo` prints, with what differs from run to run made equal: times are `N ms`, and hashes of devices,
# whose key is made anew for each demo, `xxxxxxxxxxxx`.
#
# AEGIS names the program; else the debug build, else the release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binary=${AEGIS:-}
for candidate in .build/debug/aegis .build/release/aegis; do
    [ -n "$binary" ] || [ ! -x "$candidate" ] || binary=$candidate
done
if [ -z "$binary" ]; then
    echo "demo-output.sh: there is no build of aegis; run: swift build --product aegis" >&2
    exit 1
fi
output=$("$binary" demo)
sed -E 's/\b[0-9]+ ms\b/N ms/g; s/\b[0-9a-f]{12}\b/xxxxxxxxxxxx/g' <<<"$output"
