#!/usr/bin/env bash
# Builds and runs all tests, or those that the arguments pick (as for `swift test`), and ends with the summary line and
# the exit code of the test runner. Every part is required: what is missing fails instead of being skipped.
#
# Whatever the tests start inherits AEGIS_TEST_RUN; what still runs at the end with this run's value is killed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=(swift build --build-tests)
run=(swift test --skip-build --disable-xctest)
if [ -n "${AEGIS_SANITIZER:-}" ]; then
    # A build of its own, so that the plain one stays warm.
    build+=(--sanitize "$AEGIS_SANITIZER" --scratch-path ".build/$AEGIS_SANITIZER")
    run+=(--sanitize "$AEGIS_SANITIZER" --scratch-path ".build/$AEGIS_SANITIZER")
    export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp ${TSAN_OPTIONS:-}"
fi
if [ -n "${AEGIS_COVERAGE:-}" ]; then
    build+=(--enable-code-coverage --scratch-path .build/coverage)
    run+=(--enable-code-coverage --scratch-path .build/coverage)
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/aegis-tests.XXXXXX")
run_id=$(basename "$scratch").$$

survivors() {
    local file
    for file in /proc/[0-9]*/environ; do
        if grep -qzFx "AEGIS_TEST_RUN=$run_id" "$file" 2>/dev/null; then basename "$(dirname "$file")"; fi
    done
}

clean_up() {
    local pids
    pids=$(survivors)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"${build[@]}"

# To a file, not down a pipe: a process that outlives its test would keep the pipe, and so this script, open.
output=$scratch/output
: >"$output"
env AEGIS_REQUIRE_ALL=1 AEGIS_TEST_RUN="$run_id" TMPDIR="$scratch" "${run[@]}" "$@" >"$output" 2>&1 </dev/null &
runner=$!
tail -n +1 -f --pid="$runner" "$output" &
printer=$!
code=0
wait "$runner" || code=$?
wait "$printer" || true

summary=$(grep -E 'Test run with [0-9]+ test' "$output" | tail -n 1) || true
if [ -z "$summary" ]; then
    echo "test.sh: the test runner ended without a summary, exit code $code" >&2
    [ "$code" -ne 0 ] || code=1
elif [ "$summary" != "$(tail -n 1 "$output")" ]; then
    printf '%s\n' "$summary"
fi
exit "$code"
