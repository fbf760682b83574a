#!/usr/bin/env bash
# Builds and runs all tests, or those that the arguments pick (as for `swift test`), and ends with the summary line and
# the exit code of the test runner. Every part is required: what is missing fails instead of being skipped.
#
# Nothing that the tests started outlives them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/contain.bash

build=(swift build --build-tests)
run=(swift test --skip-build --disable-xctest)
if [ -n "${SANITIZER:-}" ]; then
    # A build of its own, so that the plain one stays warm.
    build+=(--sanitize "$SANITIZER" --scratch-path ".build/$SANITIZER")
    run+=(--sanitize "$SANITIZER" --scratch-path ".build/$SANITIZER")
    export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp ${TSAN_OPTIONS:-}"
fi
preload=
if [ "${SANITIZER:-}" = thread ]; then
    mkdir -p .build/thread
    preload=$PWD/.build/thread/tsan-threads.so
    clang -O1 -shared -fPIC -o "$preload" scripts/tsan-threads.c
fi
if [ -n "${COVERAGE:-}" ]; then
    build+=(--enable-code-coverage --scratch-path .build/coverage)
    run+=(--enable-code-coverage --scratch-path .build/coverage)
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/aegis-tests.XXXXXX")
run_id=$(new_run_id "$scratch")

clean_up() {
    end_survivors "$run_id"
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"${build[@]}"

# The tests that only compute come first, and those of the pipeline's loops by themselves: side by side with the others they
# would keep every thread of the concurrency pool busy, and a server under test would not come to answer within the patience
# of its clients. Those that start whole services come last, for the same reason.
readonly computing='AegisCoreTests|AegisContentTests|AegisEventsTests|ConfigurationTests|CredentialTests'
readonly services='IntegrationTests|FaultTests'

run_tests() {
    # To a file, not down a pipe: a process that outlives its test would keep the pipe, and so this script, open.
    local output=$scratch/output code=0 runner printer summary
    : >"$output"
    env ${preload:+LD_PRELOAD="$preload"} AEGIS_REQUIRE_ALL=1 CONTAINED_RUN="$run_id" TMPDIR="$scratch" \
        "${run[@]}" "$@" >"$output" 2>&1 </dev/null &
    runner=$!
    tail -n +1 -f --pid="$runner" "$output" &
    printer=$!
    wait "$runner" || code=$?
    wait "$printer" || true

    summary=$(grep -E 'Test run with [0-9]+ test' "$output" | tail -n 1) || true
    if [ -z "$summary" ]; then
        echo "test.sh: the test runner ended without a summary, exit code $code" >&2
        [ "$code" -ne 0 ] || code=1
    elif [ "$summary" != "$(tail -n 1 "$output")" ]; then
        printf '%s\n' "$summary"
    fi
    return "$code"
}

if [ $# -gt 0 ]; then
    run_tests "$@"
else
    run_tests --filter "$computing"
    run_tests --filter AegisPipelineTests
    run_tests --skip "$computing|AegisPipelineTests|$services"
    run_tests --filter "$services"
fi
