#!/usr/bin/env bash
# Installs goblin into an empty folder, and builds and runs programs against what is there and nothing else.
# Usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/prefix" >/dev/null
"$folder/prefix/bin/goblin" --version
[ -f "$folder/prefix/share/doc/goblin/LICENSE" ]

# The examples take the component core, on a machine that lacks whatever only the others need.
missing=()
for package in METIS Spectra spectra Eigen3 Boost nlohmann_json CLI11 simdjson; do
  missing+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cmake -S "$2/examples" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_BUILD_TYPE=Release \
  --no-warn-unused-cli "${missing[@]}" >/dev/null
cmake --build "$folder/build"
ctest --test-dir "$folder/build" --output-on-failure

# Without COMPONENTS it is everything, and a component that does not exist is refused.
mkdir "$folder/everything"
cat >"$folder/everything/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(everything LANGUAGES CXX)
find_package(goblin COMPONENTS core nonsense QUIET)
if(goblin_FOUND)
  message(FATAL_ERROR "the component 'nonsense' was found")
endif()
find_package(goblin REQUIRED)
add_executable(everything everything.cpp)
target_link_libraries(everything PRIVATE goblin::goblin)
TEXT
cat >"$folder/everything/everything.cpp" <<'TEXT'
#include <goblin/goblin.hpp>
int main() {
  const goblin::world::Cliques world({.cliques = 2, .size = 3});
  return goblin::cluster::partition(world.graph(), {.clusters = 2}).labels.size() == 6 ? 0 : 1;
}
TEXT
cmake -S "$folder/everything" -B "$folder/everything/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" >/dev/null
cmake --build "$folder/everything/build"
"$folder/everything/build/everything"

# The same without CMake.
PKG_CONFIG_PATH=$(dirname "$(find "$folder/prefix" -name goblin.pc)")
export PKG_CONFIG_PATH
for file in "$PKG_CONFIG_PATH"/*.pc; do
  ! grep -o '^[A-Z][A-Za-z.]*:' "$file" | sort | uniq -d | grep . || { echo "$file: a field stands twice"; exit 1; }
done
for static in "" --static; do
  for program in "goblin $folder/everything/everything.cpp" "goblin-core $2/examples/friends.cpp"; do
    read -r package source <<<"$program"
    # shellcheck disable=SC2046,SC2086
    c++ "$source" -o "$folder/program" $(pkg-config $static --cflags --libs "$package")
    "$folder/program"
  done
done
