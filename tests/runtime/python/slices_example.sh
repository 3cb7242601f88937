#!/usr/bin/env bash
# slices_example.sh ROOT PYTHON COMMAND BUNDLE MODULE LIBRARY WORK: the example fetches what it needs from a folder and from a static web
# server, once, goes on where it was interrupted, and sees a new release.
set -euo pipefail
root=$1 python=$2 clbake=$3 bundle=$4 module=$5 library=$6 work=$7
"$python" -c 'import numpy, pyopencl; pyopencl.get_platforms()' 2>/dev/null || exit 77
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cp -r "$module" module
ln -s "$library" module/clbake/libclbake.so
export PYTHONPATH=$work/module
"$clbake" split "$bundle" -o store --release 1 > split.log
fetch() { "$python" -B "$root/tools/example/slices/fetch.py" "$@" > log 2>&1 || { cat log; exit 1; }; }
says() { grep -q -- "$1" log || { echo "expected '$1' in:"; cat log; exit 1; }; }

# says_fetched WHERE: the first run fetches, the second finds everything, and what is half there is completed.
check() {
  fetch "$1" "$2"
  says '^release 1: 1 slices, '
  says ': native, fetched '
  says 'right, by native code'
  fetch "$1" "$2"
  says ': native, in the cache'
  slice=$(ls "$2"/*.clbake)
  [ "$(echo "$slice" | wc -l)" = 1 ] || { echo "more than one slice: $slice"; exit 1; }
  truncate -s 1000 "$slice"
  fetch "$1" "$2"
  says ': native, fetched '
  cmp "$slice" "store/$(basename "$slice")"
  printf 'no beginning of it' > "$slice"
  fetch "$1" "$2"
  says ': native, fetched '
  printf 'no beginning of it' > "${slice%.clbake}.part"  # an interrupted run's
  rm "$slice"
  fetch "$1" "$2"
  cmp "$slice" "store/$(basename "$slice")"
  [ ! -e "${slice%.clbake}.part" ] || { echo "a part was left"; exit 1; }
  printf 'damage' | dd of="$slice" bs=1 seek=2000 conv=notrunc 2> dd.log
  fetch "$1" "$2"
  says ': native, fetched '
}
check store cache

"$python" -u -m http.server 0 --bind 127.0.0.1 --directory store > server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
until port=$(grep -oE 'port [0-9]+' server.log); do kill -0 $server && sleep 0.1; done
check "http://127.0.0.1:${port#port }" web_cache

"$clbake" split "$bundle" -o store --release 2 > split.log
fetch "http://127.0.0.1:${port#port }" web_cache
says '^release 2: '
says ': native, in the cache'
rm store/index.clbake-index
"$clbake" split "$bundle" -o store --release 0 > split.log
if "$python" -B "$root/tools/example/slices/fetch.py" store cache > log 2>&1; then echo "an old index was taken"; exit 1; fi
says 'release 0, older than 1'
