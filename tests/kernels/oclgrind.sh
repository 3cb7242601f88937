#!/bin/sh
# oclgrind.sh CLBAKE DIRECTORY: runs small variants of every family in Oclgrind, which interprets the kernels and
# reports data races and accesses outside of buffers, at sizes that leave incomplete tiles. 77 (skipped) without
# Oclgrind. The bundle in DIRECTORY is made once; Oclgrind compiles from its sources.
set -u
clbake=$1
bundle=$2/oclgrind.clbake
command -v oclgrind > /dev/null || { echo "oclgrind is not installed"; exit 77; }

# Each way through a family's code once; the transposes are put in for TT.
points="
direct-s-TT-6x8x1-3x4x2-v4
register_tile-s-TT-16x32x16-8x16x1-v8
register_tile-d-TT-12x16x8-6x8x1-v4-split2
local_tile-s-TT-12x24x8-3x6x2-v1-prefetch0
local_tile-s-TT-16x32x8-4x4x4-v4-buffers2-load4-padding4-map2-fragments2
local_tile-d-TT-16x16x8-2x4x4-v2-split2-buffers2-prefetch0-load2-map0
local_tile-s-TT-16x16x4-4x4x4-v2-acbl-bpad-buffers2
stripe-s-TT-12x24x8-3x6x2-v1
stripe-s-TT-16x16x8-4x4x4-v4-locala1-localb1
stripe-d-TT-16x16x8-4x4x2-v2-arbl-bcbl-localb1
stripe-s-TT-16x16x8-4x4x2-v2-aimage-bimage-locala1"
variants=
for point in $points; do
  for transposes in nn tt; do
    variants="$variants,$(echo "$point" | sed "s/TT/$transposes/")"
  done
done
"$clbake" build -o "$bundle" --variant "${variants#,}" > "$2/oclgrind.build" 2>&1
status=$?
[ $status -eq 0 ] || [ $status -eq 3 ] || { cat "$2/oclgrind.build"; exit 1; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
count=0
for variant in $(echo "$variants" | tr , ' '); do
  case "$variant" in *-d-[nt][nt]-*) options="--precision double" ;; *) options="--precision single" ;; esac
  case "$variant" in *-tt-*) options="$options --trans-a --trans-b" ;; esac
  for sizes in "37 41 19 0" "33 3 17 0.5"; do
    set -- $sizes
    oclgrind --data-races --log "$log" "$clbake" run "$bundle" --device Oclgrind --variant "$variant" $options \
      --m "$1" --n "$2" --k "$3" --beta "$4" --lda 50 --ldb 51 --ldc 52 --repeat 1 > /dev/null
    status=$?
    count=$((count + 1))
    [ $status -eq 0 ] && [ ! -s "$log" ] && continue
    echo "$variant at m n k beta = $sizes: exit status $status"
    head -n 20 "$log"
    bad=1
  done
done
echo "$count runs"
exit $bad
