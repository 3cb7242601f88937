#!/bin/sh
# bake.sh CLBAKE BUNDLE: bakes every device of this machine. 77 (skipped) when it has none.
set -u
"$1" devices > /dev/null 2>&1 || { echo "no OpenCL device on this machine"; exit 77; }
exec "$1" build -o "$2"
