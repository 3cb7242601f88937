#!/bin/sh
# unchanged.sh CLBAKE UNCHANGED PRELOAD HOST PLUGIN: a program is recorded, baked, and served: by run-with, by a library that is
# loaded before its loader, and by a file beside it. Its output is that of the program alone, and nothing is compiled.
set -u
clbake=$1 unchanged=$2 preload=$3 host=$4 plugin=$5
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*"
  cat "$work"/log* "$work/out" 2>/dev/null
  exit 1
}
export XDG_CACHE_HOME="$work/cache" CLBAKE_OVERLAY=off
"$unchanged" > "$work/expected"
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail "the program fails: $status"
for how in build link; do
  "$clbake" record -o "$work/recording" -- "$unchanged" $how > "$work/out" 2>&1 || fail "record fails: $how"
done
"$clbake" build --programs "$work/recording/programs.json" -o "$work/app.clbake" > "$work/out" 2>&1 ||
  fail "build fails"

# check NAME: the run before printed what the program alone does, and the log has a line for each device.
check() {
  cmp -s "$work/expected" "$work/out" || fail "$1: another output"
  [ "$(grep -c "is from $work/app.clbake" "$work/log")" -eq "$(wc -l < "$work/expected")" ] || fail "$1: not all is served"
  grep -q "compiled by the driver" "$work/log" && fail "$1: something is compiled"
  rm -rf "$work/log" "$work/cache"
}
"$unchanged" ask > "$work/answers" || fail "the program fails when it asks"
for how in build link; do
  "$clbake" run-with "$work/app.clbake" --log "$work/log" -- "$unchanged" $how > "$work/out" || fail "$how fails"
  check "$how"
done
"$clbake" run-with "$work/app.clbake" -- "$unchanged" ask > "$work/out" || fail "the program fails when it asks"
cmp "$work/answers" "$work/out" || fail "other answers: $(diff "$work/answers" "$work/out")"
rm -rf "$work/cache"
CLBAKE_BUNDLE="$work/app.clbake" CLBAKE_LOG="$work/log" LD_PRELOAD=$preload "$unchanged" callback > "$work/out" ||
  fail "fails behind the library that is loaded first"
check preload
CLBAKE_BUNDLE="$work/app.clbake" CLBAKE_LOG="$work/log" LD_PRELOAD=$preload "$host" "$plugin" > "$work/out" ||
  fail "fails where a plugin loads OpenCL"
check "a plugin"

# PoCL ends a process that cannot write its files: they go to the disk where memory is short.
if unshare -rm true 2> "$work/none"; then
  unshare -rm sh -c 'mount -t tmpfs -o size=8k none /dev/shm && exec "$@"' - \
    "$clbake" run-with "$work/app.clbake" --log "$work/log" -- "$unchanged" > "$work/out" || fail "fails in a full memory"
  check "a full memory"
else
  echo "not tried in a full memory: $(cat "$work/none")"
fi

layer=$(dirname "$preload")/libclbake-layer.so
mkdir "$work/app"
cp "$unchanged" "$work/app/program"
printf '# bundles and log\nCLBAKE_BUNDLE = ../app.clbake\nCLBAKE_LOG=%s/log\n' "$work" > "$work/app/clbake.conf"
(cd / && OPENCL_LAYERS=$layer "$work/app/program" > "$work/out") || fail "fails with a file beside it"
sed -i "s#/app/../app.clbake#/app.clbake#" "$work/log"
check "a file beside it"
chmod o+w "$work/app/clbake.conf"
OPENCL_LAYERS=$layer CLBAKE_LOG="$work/log" "$work/app/program" > "$work/out" || fail "fails with a file of others"
grep -q "clbake.conf: not used" "$work/log" || fail "a file that others can write to is used"
grep -q "is from" "$work/log" && fail "a file that others can write to is used"
exit 0
