#!/usr/bin/env bash
# smoke.sh CLBAKE: the command bakes, checks, compares and runs one program, and plans a fleet: each room once.
set -euo pipefail
clbake=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export POCL_CACHE_DIR=$work/cache
mkdir cache
echo "single nn 40x50x60" > shapes.txt
"$clbake" devices
"$clbake" space > space.txt
"$clbake" build --device 0 --variant direct-s-nn-6x8x1-6x8x1-v8 -o one.clbake
"$clbake" verify one.clbake
"$clbake" inspect one.clbake
"$clbake" run one.clbake --device 0 --m 40 --n 50 --k 60 --no-compile
"$clbake" check one.clbake --shapes shapes.txt --device 0
"$clbake" diff one.clbake one.clbake
"$clbake" prune one.clbake --shapes shapes.txt -o pruned.clbake
"$clbake" merge one.clbake pruned.clbake -o merged.clbake
"$clbake" split merged.clbake -o store
"$clbake" merge store -o merged_again.clbake
cmp merged.clbake merged_again.clbake
"$clbake" tune --device 0 --variant direct-s-nn-6x8x1-6x8x1-v8 --shapes shapes.txt --prior none --budget 10s -o tuned.json
"$clbake" plan --profile tuned.json --shapes shapes.txt -o fleet.json
