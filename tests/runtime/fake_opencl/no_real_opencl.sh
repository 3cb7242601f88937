#!/bin/sh
# no_real_opencl.sh PROGRAM: every OpenCL function that the program calls is one of its own.
set -u
own=$(nm "$1" | grep -cE ' T cl[A-Z]')
[ "$own" -gt 0 ] || { echo "has no OpenCL functions of its own"; exit 1; }
case $1 in
  *.exe) real=$(objdump -p "$1" | grep -i 'DLL Name: OpenCL') ;;
  *) real=$(nm -D --undefined-only "$1" | grep -E ' U cl[A-Z]') ;;
esac
[ -z "$real" ] || { echo "$real"; echo "^ of the real OpenCL"; exit 1; }
