#!/bin/sh
# symbols.sh PROGRAM: a program that uses only the runtime holds nothing of kernels/ and builder/, and
# needs no shared library beyond OpenCL, zstd, the C and C++ runtimes (and Boost.Test, being a test).
set -u
if nm -C "$1" | grep -E 'clbake::(kernels|builder)::'; then
  echo "^ symbols that the runtime must not bring"
  exit 1
fi
allowed='^(libOpenCL|libzstd|libstdc\+\+|libm|libgcc_s|libc|libpthread|ld-linux|libasan|libubsan|libtsan|libboost_unit_test)'
needed=$(objdump -p "$1" | awk '/NEEDED/{print $2}' | grep -vE "$allowed")
[ -z "$needed" ] || { echo "needs: $needed"; exit 1; }
