#!/bin/sh
# ending.sh PROGRAM DOOR HOW WORK: runs the program with an overlay of its own, empty and then filled; it must end well.
# 77 (skipped) for `static` where the driver cannot launch a kernel that late, whoever does: OpenCL does not demand it,
# and Intel's CPU driver 2026.22 aborts the process.
set -u
rm -rf "$4"
mkdir -p "$4/cache"
export XDG_CACHE_HOME="$4/cache"
if [ "$3" = static ] && ! "$1" "$2" alone > "$4/alone" && grep -q '^driver ' "$4/alone"; then
  echo "skipped: $(head -n 1 "$4/alone") does not launch kernels in destructors of static objects"
  exit 77
fi
[ "$3" = exit ] && wanted=1 || wanted=2
for turn in 1 2; do
  "$1" "$2" "$3" > "$4/out"
  status=$?
  [ $status -eq 0 ] || exit $status
  right=$(grep -c '^right$' "$4/out")
  [ "$right" -eq $wanted ] || { echo "turn $turn: $right right products instead of $wanted"; exit 1; }
done
