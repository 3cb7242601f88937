#!/bin/sh
# run.sh PROJECT WORK PREFIX COMPILER: the installed door, moved elsewhere, found by CMake and by pkg-config. Without a
# bundle it compiles what it needs; with the installed bundle in its place, damaged, it does so, too, and tells.
set -eu
project=$1 work=$2 prefix=$3 compiler=$4
rm -rf "$work"
mkdir -p "$work/cache"
cp -r "$prefix" "$work/moved"
cmake -S "$project" -B "$work/build" -G Ninja "-DCMAKE_PREFIX_PATH=$work/moved" "-DCMAKE_CXX_COMPILER=$compiler" \
  > "$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" > "$work/log" || { cat "$work/log"; exit 1; }
export XDG_CACHE_HOME="$work/cache" CLBAKE_CLBLAST_LOG="$work/door.log"
library=$(dirname "$(find "$work/moved" -name 'libclbake-clblast.so')")
head -c 100 "$project/main.cpp" > "$library/clbake/clblast.clbake"
"$work/build/consumer"
grep -q "bundle: $(realpath "$library")/clbake/clblast.clbake.*not a bundle" "$work/door.log" ||
  { echo "the installed bundle was not looked at:"; cat "$work/door.log"; exit 1; }

export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"
# shellcheck disable=SC2046  # several options
"$compiler" -std=c++17 -DCL_TARGET_OPENCL_VERSION=120 "$project/main.cpp" -o "$work/by_pkg_config" $(pkg-config --cflags --libs clbake-clblast)
"$work/by_pkg_config"
