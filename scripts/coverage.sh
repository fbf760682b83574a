#!/usr/bin/env bash
# Runs all tests with coverage and prints the share of lines of each target that they reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

COVERAGE=1 scripts/test.sh
report=$(swift test --show-codecov-path --scratch-path .build/coverage)
python3 - "$report" "$PWD/Sources/" <<'PYTHON'
import collections, json, sys

report, root = sys.argv[1:]
lines = collections.defaultdict(lambda: [0, 0])
for file in json.load(open(report))["data"][0]["files"]:
    if file["filename"].startswith(root):
        target = file["filename"][len(root):].split("/")[0]
        for name in (target, "all"):
            lines[name][0] += file["summary"]["lines"]["covered"]
            lines[name][1] += file["summary"]["lines"]["count"]
for name in sorted(lines, key=lambda name: (name == "all", name)):
    covered, count = lines[name]
    print(f"{name:<18} {100 * covered / max(1, count):5.1f} %  {covered} of {count} lines")
PYTHON
