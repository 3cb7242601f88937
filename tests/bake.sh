#!/bin/sh
# bake.sh CLBAKE BUNDLE [OPTIONS]: bakes every device of this machine. 77 (skipped) when it has none.
set -u
clbake=$1 bundle=$2
shift 2
"$clbake" build -o "$bundle" "$@" 2> "$bundle.log"
status=$?
cat "$bundle.log" >&2
if [ $status -eq 1 ] && grep -q 'no OpenCL platform' "$bundle.log"; then exit 77; fi
exit $status
