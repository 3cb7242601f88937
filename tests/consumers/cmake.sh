#!/bin/sh
# cmake.sh PROJECT WORK BUNDLE [OPTIONS OF cmake]: configures, builds and runs a consumer with a copy of the bundle in
# it, and once more with half of the bundle, which must be built in and refused. Exit status: the first run's.
set -eu
project=$1 work=$2 bundle=$3
shift 3
rm -rf "$work"
mkdir -p "$work"
cp "$bundle" "$work/direct.clbake"
cmake -S "$project" -B "$work/build" -G Ninja "-DBUNDLE=$work/direct.clbake" "$@" > "$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build" --target consumer > "$work/log" || { cat "$work/log"; exit 1; }
grep -i 'warning' "$work/log" && exit 1
status=0
"$work/build/consumer" || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit "$status"

head -c 100 "$bundle" > "$work/direct.clbake"
cmake --build "$work/build" --target consumer > "$work/log" || { cat "$work/log"; exit 1; }
if "$work/build/consumer"; then
  echo "the bundle was changed, the program was not"
  exit 1
fi
exit "$status"
