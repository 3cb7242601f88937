#!/bin/sh
# no_real_opencl.sh PROGRAM: every OpenCL function that the program calls is one of its own.
set -u
own=$(nm "$1" | grep -cE ' T cl[A-Z]')
[ "$own" -gt 0 ] || { echo "has no OpenCL functions of its own"; exit 1; }
if nm -D --undefined-only "$1" | grep -E ' U cl[A-Z]'; then
  echo "^ of the real OpenCL"
  exit 1
fi
