#!/bin/sh
# preload.sh UNCHANGED DOOR BUNDLE: with the door loaded before CLBlast, the program's first product comes from the bundle
# and the other one from the CLBlast that the program links; with a bundle that is missing the first still comes. The
# bundle beside the library is found where the library was loaded from, wherever the program goes.
set -u
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  cat "$work/log"
  exit 1
}
export XDG_CACHE_HOME="$work/cache" CLBAKE_CLBLAST_LOG="$work/log"
CLBAKE_CLBLAST_BUNDLE=$3 LD_PRELOAD=$2 "$1" > "$work/out"
status=$?
[ $status -ne 77 ] || exit 77
cat "$work/out"
[ $status -eq 0 ] || fail "the program fails: $status"
grep -q "bundle: $3" "$work/log" || fail "the bundle was not opened"
[ "$(grep -c 'GEMM goes to CLBlast' "$work/log")" -eq 1 ] || fail "not one of two products went to CLBlast"
grep -q 'served from source' "$work/log" && fail "the product is not the bundle's"
grep -q 'CLBlast: opened' "$work/log" && fail "another CLBlast than the program's was opened"

# Compiles, says so, and keeps the program for the next process, which has to say nothing.
for turn in first second; do
  rm -f "$work/log"
  CLBAKE_CLBLAST_BUNDLE=/missing/gemm.clbake LD_PRELOAD=$2 "$1" > "$work/out" || fail "fails without a bundle: $turn"
  grep -q 'bundle: /missing/gemm.clbake' "$work/log" || fail "the missing bundle is not told of"
  [ $turn = second ] || [ "$(grep -c 'is served from source' "$work/log")" -eq 1 ] || fail "the compilation is not told of once"
done
grep -q 'is served from overlay' "$work/log" || fail "the overlay does not serve"

for folder in here there; do
  mkdir -p "$work/$folder/clbake"
  cp "$2" "$work/$folder/door.so"
  cp "$3" "$work/$folder/clbake/clblast.clbake"
done
rm -f "$work/log"
(cd "$work/here" && LD_PRELOAD=./door.so "$1" "$work/there" > "$work/out") || fail "fails in another folder"
grep -q "bundle: $work/here/clbake/clblast.clbake" "$work/log" || fail "not the bundle beside the library"
grep -q "$work/there" "$work/log" && fail "a bundle of the folder that the program went to"
exit 0
