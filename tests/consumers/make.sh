#!/bin/sh
# make.sh KIND WORK BUNDLE PREFIX: builds and runs the consumer that knows clbake by pkg-config only.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 work=$2 bundle=$3 prefix=$4
rm -rf "$work"
mkdir -p "$work"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
make --no-print-directory -C "$work" -f "$here/pkg_config/Makefile" KIND="$kind" SOURCE="$here/gemm.cpp" BUNDLE="$bundle" \
  CLBAKE="$prefix/bin/clbake"
if objdump -p "$work/consumer" | grep -q 'NEEDED *libclbake'; then linked=shared; else linked=static; fi
[ "$linked" = "$kind" ] || { echo "linked $linked, not $kind"; exit 1; }
exec "$work/consumer"
