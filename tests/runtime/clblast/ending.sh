#!/bin/sh
# ending.sh PROGRAM DOOR HOW WORK: runs the program with an overlay of its own, empty and then filled; it must end well.
set -u
rm -rf "$4"
mkdir -p "$4/cache"
export XDG_CACHE_HOME="$4/cache"
[ "$3" = exit ] && wanted=1 || wanted=2
for turn in 1 2; do
  "$1" "$2" "$3" > "$4/out"
  status=$?
  [ $status -eq 0 ] || exit $status
  right=$(grep -c '^right$' "$4/out")
  [ "$right" -eq $wanted ] || { echo "turn $turn: $right right products instead of $wanted"; exit 1; }
done
