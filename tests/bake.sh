#!/bin/sh
# bake.sh BUNDLE OPTIONS CLBAKE...: bakes every device of this machine. 77 (skipped) when it has none. CLBAKE: the command,
# with what runs it before it.
set -u
bundle=$1 options=$2
shift 2
# shellcheck disable=SC2086  # several words
"$@" build -o "$bundle" $options 2> "$bundle.log"
status=$?
cat "$bundle.log" >&2
if [ $status -eq 1 ] && grep -q 'no OpenCL platform' "$bundle.log"; then exit 77; fi
exit $status
