#!/bin/sh
# aarch64.sh SOURCE INCLUDE WORK: the forwarding functions for AArch64, cross-compiled and run by qemu. 77: without
# g++-aarch64-linux-gnu and qemu-user. INCLUDE: the folder of CLBlast's headers, with OpenCL's.
set -eu
source=$1 include=$2 work=$3
command -v aarch64-linux-gnu-g++ > /dev/null && command -v qemu-aarch64 > /dev/null || exit 77
door=$source/runtime/clblast tests=$source/tests/runtime
rm -rf "$work"
mkdir -p "$work/include"
# Not the whole folder: the host's C library may be in it.
cp -r "$include/CL" "$include/clblast.h" "$include/clblast_c.h" "$work/include"
compile() {
  aarch64-linux-gnu-g++ -std=c++17 -O2 -Wall -Wextra -Werror -fPIC -DCL_TARGET_OPENCL_VERSION=120 "-I$door/src" \
    "-I$tests" -isystem "$work/include" "$@"
}
compile -shared "$door/src/forward/forward.cpp" "$door/src/forward/stubs.cpp" "$door/src/log.cpp" \
  "-Wl,--version-script=$door/exports.map" -o "$work/libdoor.so"
compile -shared "$tests/clblast/fake_clblast.cpp" -o "$work/fake_clblast.so"
compile "$tests/clblast/forwarded_calls.cpp" "$work/libdoor.so" -o "$work/forwarded_calls"
export CLBAKE_CLBLAST_LIBRARY="$work/fake_clblast.so"
for now in '' 1; do
  LD_BIND_NOW=$now qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$work" "$work/forwarded_calls"
done
