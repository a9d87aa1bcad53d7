#!/usr/bin/env bash
# Installs goblin into an empty folder and builds and runs examples/ against it with find_package(goblin).
# Usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/prefix" >/dev/null
cmake -S "$2/examples" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$folder/build"
ctest --test-dir "$folder/build" --output-on-failure
"$folder/prefix/bin/goblin" --version
