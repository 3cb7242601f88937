#!/bin/sh
# neon.sh WORK OBJDUMP CLBAKE...: bakes a default tile on PoCL on AArch64, runs it, and looks at the machine code that the
# driver loads: the loop over k multiplies a row of 16 columns, 4 at a time, by each of 6 elements, and touches no stack.
# CLBAKE: the command, with what runs it before it. Minutes under qemu. Exit status 77: there is no PoCL.
set -eu
work=$1 objdump=$2
shift 2
rm -rf "$work"
mkdir -p "$work/cache"
export POCL_CACHE_DIR="$work/cache"
"$@" devices --json | grep -q 'aarch64' || exit 77
"$@" build --device PoCL --variant register_tile-s-nn-252x128x256-6x16x1-v4 --jobs 1 --timeout 1200 -o "$work/neon.clbake"
"$@" run "$work/neon.clbake" --m 64 --n 64 --k 64
code=$(find "$work/cache" -name 'clbake_gemm*.so' | head -1)
[ -n "$code" ] || { echo "the driver unpacked no machine code"; exit 1; }
# Loops of 24 multiply-adds by an element, from the label that the branch goes back to.
loops=$("$objdump" -d "$code" | awk '
  / and\t|movi\t/ { adds = 0; stack = 0 }
  /fmla\tv[0-9]+\.4s, v[0-9]+\.4s, v[0-9]+\.s\[/ { adds++ }
  /\[sp/ { stack++ }
  /b\.ne\t/ { if (adds == 24 && stack == 0) loops++; adds = 0; stack = 0 }
  END { print loops + 0 }')
echo "$loops loops of 24 multiply-adds on four elements each, without the stack"
[ "$loops" -ge 1 ]
