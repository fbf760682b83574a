#!/usr/bin/env bash
# Holds every file of Sources to the rings: which modules its target may import, and whether the word `unsafe` and C
# libraries may stand in it. Prints file:line for each breach and ends with 1. The table below is the architecture;
# docs/architecture.md explains it.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

# target: modules it may import; `unsafe` last, where C is called. `Foundation@X` allows it in files named X* alone.
readonly rings='
AegisCore:
AegisContent: AegisCore Foundation Synchronization
AegisEvents: AegisCore
AegisPorts: AegisCore
AegisPipeline: AegisCore AegisContent AegisEvents AegisPorts Synchronization
Runtime: AegisCore AegisPorts Glibc Synchronization CLinux unsafe
Observability: AegisCore AegisPorts Runtime Glibc Synchronization unsafe
Configuration: AegisCore AegisContent AegisEvents Foundation CYAML unsafe
KafkaEventLog: AegisCore AegisPorts Runtime Glibc Synchronization CRDKafka unsafe
SQLiteStore: AegisCore AegisEvents AegisPorts Runtime Glibc Synchronization CSQLite unsafe
ProviderToken: AegisCore AegisPorts Runtime Glibc Synchronization COpenSSL unsafe
IdentityDigests: AegisCore AegisPorts Glibc Synchronization COpenSSL unsafe
APNsSender: AegisCore AegisPorts Runtime Glibc Synchronization CLinux CNGHTTP2 COpenSSL unsafe
HTTPAPI: AegisCore AegisEvents AegisPorts Runtime Glibc Synchronization CMicroHTTPD unsafe
APNsSimulator: AegisCore AegisEvents Runtime Glibc Synchronization Foundation@Control CLinux CNGHTTP2 COpenSSL CMicroHTTPD unsafe
AegisTestKit: AegisCore AegisContent AegisEvents AegisPorts Runtime Foundation FoundationNetworking Glibc Synchronization unsafe
aegis: AegisCore AegisContent AegisEvents AegisPorts AegisPipeline Runtime Observability Configuration KafkaEventLog SQLiteStore ProviderToken IdentityDigests APNsSender HTTPAPI APNsSimulator Foundation Glibc Synchronization unsafe
'

find Sources -name '*.swift' -print0 | sort -z | xargs -0 awk -v rings="$rings" '
    function breach(text) {
        printf "%s:%d: %s\n", FILENAME, FNR, text
        breaches++
    }

    BEGIN {
        count = split(rings, lines, "\n")
        for (i = 1; i <= count; i++) {
            if (!match(lines[i], /^[A-Za-z0-9]+:/)) continue
            name = substr(lines[i], 1, RLENGTH - 1)
            known[name] = 1
            words = split(substr(lines[i], RLENGTH + 1), allowed, " ")
            for (j = 1; j <= words; j++) may[name, allowed[j]] = 1
        }
    }

    FNR == 1 {
        split(FILENAME, path, "/")
        target = path[2]
        file = FILENAME
        sub(/.*\//, "", file)
        comment = 0
        if (!(target in known)) breach("target " target " is not in the table of scripts/check-layers.sh")
    }

    !(target in known) { next }

    # What stands in comments is not code.
    {
        code = $0
        if (comment) {
            if (!index(code, "*/")) next
            sub(/^.*\*\//, "", code)
            comment = 0
        }
        sub(/\/\/.*$/, "", code)
        if (match(code, /\/\*/) && !index(code, "*/")) {
            code = substr(code, 1, RSTART - 1)
            comment = 1
        }
    }

    code ~ /(^|[^A-Za-z0-9_`"])unsafe([^A-Za-z0-9_`"]|$)/ && !((target, "unsafe") in may) {
        breach(target " may not say unsafe: only what calls C may")
    }

    code ~ /^[ \t]*(@[A-Za-z_]+(\([^)]*\))?[ \t]+)*((public|package|internal|fileprivate|private)[ \t]+)?import[ \t]/ {
        module = code
        sub(/^.*import[ \t]+((struct|class|enum|protocol|func|var|let|typealias|actor)[ \t]+)?/, "", module)
        sub(/[^A-Za-z0-9_].*$/, "", module)
        if ((target, module) in may) next
        for (rule in may) {
            split(rule, part, SUBSEP)
            if (part[1] == target && index(part[2], module "@") == 1 &&
                index(file, substr(part[2], length(module) + 2)) == 1) next
        }
        breach(target " may not import " module)
    }

    END { exit breaches > 0 }
' || exit 1
