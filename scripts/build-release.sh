#!/usr/bin/env bash
# Builds the release with Swift's libraries inside and puts the program into a folder: build-release.sh DIR.
set -euo pipefail
target=$(realpath -m "${1:?usage: build-release.sh DIR}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flags=(--configuration release --product aegis --static-swift-stdlib)
swift build "${flags[@]}"
install -D --strip "$(swift build "${flags[@]}" --show-bin-path)/aegis" "$target/aegis"
