#!/bin/sh
# run.sh CLBAKE WORK BUNDLE FAKE [OPTIONS OF cmake]: clbake built with CLBAKE_LOAD_OPENCL and installed, and programs that
# use it with the library FAKE, a driver of the tests, and with the system's OpenCL. Exit status 77: the system has none.
set -eu
clbake=$1 work=$2 bundle=$3 fake=$4 here=$(cd "$(dirname "$0")" && pwd)
shift 4
logged() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
mkdir -p "$work"
rm -rf "$work/prefix" "$work/static" "$work/shared"
logged cmake -S "$clbake" -B "$work/clbake" -G Ninja -DCLBAKE_LOAD_OPENCL=ON -DCLBAKE_BUILD_TOOLS=OFF -DCLBAKE_LAYER=OFF \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
  "-DCMAKE_INSTALL_PREFIX=$work/prefix" "$@"
logged cmake --build "$work/clbake" --target install
library=$(echo "$work"/prefix/lib*/libclbake.so)

# It has no function with OpenCL's name, and it needs none.
if objdump -p "$library" | grep -q 'NEEDED.*OpenCL' || nm -A "${library%.so}.a" | grep ' cl[A-Z]'; then
  echo "^ of OpenCL, in a libclbake that should not know it"
  exit 1
fi

status=0
for kind in static shared; do
  [ $kind = shared ] && shared=ON || shared=OFF
  logged cmake -S "$here" -B "$work/$kind" -G Ninja "-DCMAKE_PREFIX_PATH=$work/prefix" "-DBUNDLE=$bundle" \
    -DBUILD_SHARED_LIBS=$shared "$@"
  logged cmake --build "$work/$kind"
  for way in table library c; do
    "$work/$kind/consumer" $way "$fake" || { echo "$kind $way: failed with the tests' driver"; exit 1; }
  done
  "$work/$kind/consumer" library libOpenCL.so.1 || status=$?
  [ $status -eq 0 ] || [ $status -eq 77 ] || { echo "$kind: failed with libOpenCL.so.1"; exit 1; }
done
exit $status
