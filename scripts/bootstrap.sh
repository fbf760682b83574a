#!/usr/bin/env bash
# Makes sure that everything a build and the tests need is on this machine: Debian's packages of the C libraries and
# tools, and the broker that tests run, in .tools/venv. Silent and quick where nothing is missing; otherwise it installs
# it, or says in one line for each problem what to do, and ends with 1.
#
# With --build it looks only for what a build needs: the libraries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly least_swift=6.2
readonly broker=noida-db broker_version=0.2.3
readonly venv=$PWD/.tools/venv log=$PWD/.tools/bootstrap.log
problems=0
scope=${1:-all}

problem() {
    printf 'bootstrap: %s\n' "$1" >&2
    problems=1
}

check_swift() {
    local version
    if ! command -v swift >/dev/null; then
        problem "swift is not on PATH; install Swift $least_swift or newer from swift.org and add its usr/bin to PATH"
        return
    fi
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1) || true
    if [ "$(printf '%s\n' "$least_swift" "${version:-0}" | sort -V | head -n 1)" != "$least_swift" ]; then
        problem "swift is ${version:-of an unknown version}; install $least_swift or newer from swift.org and put it first on PATH"
    fi
}

# A library counts by its pkg-config file, which is what the build looks for; a tool by its program.
missing_packages() {
    local pair
    for pair in sqlite3:libsqlite3-dev rdkafka:librdkafka-dev libnghttp2:libnghttp2-dev openssl:libssl-dev \
        yaml-0.1:libyaml-dev libmicrohttpd:libmicrohttpd-dev; do
        pkg-config --exists "${pair%%:*}" 2>/dev/null || echo "${pair##*:}"
    done
    command -v pkg-config >/dev/null || echo pkg-config
    [ "$scope" != --build ] || return 0
    for pair in curl:curl nghttp:nghttp2-client make:make git:git; do
        command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
    done
    [ -e /usr/share/zoneinfo/Europe/Berlin ] || echo tzdata
    broker_is_there || python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

install_packages() {
    local packages=("$@") as_root=()
    if ! command -v apt-get >/dev/null; then
        problem "this is not Debian (no apt-get); install what your system calls: ${packages[*]}"
        return
    fi
    if [ "$(id -u)" != 0 ]; then
        if ! sudo -n true 2>/dev/null; then
            problem "packages are missing and this is not root; run: sudo apt-get install ${packages[*]}"
            return
        fi
        as_root=(sudo -n)
    fi
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends
        "${packages[@]}")
    "${install[@]}" >>"$log" 2>&1 </dev/null ||
        { "${as_root[@]}" apt-get update && "${install[@]}"; } >>"$log" 2>&1 </dev/null ||
        problem "apt-get could not install ${packages[*]}; see .tools/bootstrap.log"
}

# The script names its interpreter by an absolute path, so a folder that was moved needs a new one.
broker_is_there() {
    [ "$scope" != --build ] || return 0
    [ -x "$venv/bin/$broker" ] && compgen -G "$venv/lib/python*/site-packages/noida_db-$broker_version.dist-info" >/dev/null &&
        [ -x "$venv/bin/python3" ] && head -n 3 "$venv/bin/$broker" | grep -qF "$venv/bin/python3"
}

install_broker() {
    rm -rf "$venv"
    if ! python3 -m venv "$venv" >>"$log" 2>&1 ||
        ! "$venv/bin/python3" -m pip install --quiet --disable-pip-version-check "$broker==$broker_version" \
            >>"$log" 2>&1 </dev/null; then
        rm -rf "$venv"
        problem "pip could not install $broker==$broker_version, which the tests run; see .tools/bootstrap.log"
    fi
}

check_swift
mapfile -t packages < <(missing_packages)
if [ ${#packages[@]} -gt 0 ] || ! broker_is_there; then
    mkdir -p .tools
    # Two at once would disturb each other; the second then finds everything in place.
    exec 9>.tools/lock
    ! command -v flock >/dev/null || flock 9
    : >"$log"
    mapfile -t packages < <(missing_packages)
    [ ${#packages[@]} -eq 0 ] || install_packages "${packages[@]}"
    broker_is_there || [ $problems -ne 0 ] || install_broker
fi
exit $problems
