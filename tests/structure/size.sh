#!/bin/sh
# size.sh COMPILER ROOT LIBCLBAKE.A: what a program that embeds clbake grows by. Two stripped programs, with their
# sections collected, that link OpenCL and zstd dynamically: one opens a bundle, prepares and enqueues, the other does
# nothing. The difference, which the program's own lines are part of, may be 238 KB.
set -eu
compiler=$1 root=$2 archive=$3
limit=245700
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed 's/@NAME@/direct_clbake/g' "$root/runtime/cmake/bundle.h.in" > "$work/direct_clbake.h"
# The bundle's bytes are not the library's.
printf '%s\n' '#include "direct_clbake.h"' 'const unsigned char direct_clbake[] = {0};' 'const size_t direct_clbake_size = 1;' \
  > "$work/bundle.cpp"
echo 'int main() {}' > "$work/empty.cpp"

# bytes PROGRAM SOURCES...: builds it; code, constants and data in bytes.
bytes() {
  program=$work/$1
  shift
  "$compiler" -std=c++17 -Os -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -I"$work" \
    -I"$root/runtime/include" -I"$root/cache/include" "$@" -o "$program" \
    -s -Wl,--gc-sections,--no-as-needed -lOpenCL -lzstd
  size "$program" | awk 'END {print $1 + $2}'
}
with=$(bytes with "$root/tests/consumers/gemm.cpp" "$work/bundle.cpp" "$archive")
without=$(bytes without "$work/empty.cpp")
whole=$(size -t "$archive" | awk 'END {print $1 + $2}')
figure=$((with - without))
echo "embedded library: $figure bytes in a program, of $limit allowed; all of the archive: $whole"
[ "$figure" -gt 0 ] && [ "$figure" -le "$limit" ]
