#!/bin/sh
# oclgrind.sh CLBAKE SOURCE_BUNDLE DIRECTORY BAKED [all]: runs the variants of points.txt in Oclgrind, which interprets
# the kernels and reports data races and accesses outside buffers, at sizes with incomplete tiles: each single- and
# double-precision point with one pair of transposes; with `all` each point with both. 77 (skipped) without Oclgrind. It
# compiles from sources, in a bundle that SOURCE_BUNDLE writes to DIRECTORY. BAKED has the kernels of complex products.
set -u
clbake=$1
baked=$4
all=${5:-}
bundle=$3/oclgrind$all.clbake
command -v oclgrind > /dev/null || { echo "oclgrind is not installed"; exit 77; }

here=$(dirname "$0")
variants=
while read -r point; do
  case "$point" in *-mapmma* | *-exchange* | *-buffers[3-6]* | warpgroup_tile* | thin_tile*) continue ;; esac  # PTX and sub-groups, which Oclgrind lacks
  case "$point" in *-h-*) continue ;; esac
  if [ -n "$all" ]; then
    pairs="nn tt"
  else
    case "$point" in *-b-* | *-b[qv]b-*) continue ;; esac
    [ "${pairs:-tt}" = tt ] && pairs=nn || pairs=tt
  fi
  case "$point" in *-[sb][qv][sb]-*) pairs=nn ;; esac
  for transposes in $pairs; do
    variants="$variants $(echo "$point" | sed "s/TT/$transposes/")"
  done
done < "$here/points.txt"
# shellcheck disable=SC2086  # several words
"$2" "$bundle" $variants || exit 1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
count=0
leading="--lda 50 --ldb 51"
units=1
# run_in_oclgrind WHAT BUNDLE OPTIONS...: a run is good if it ends well and Oclgrind has nothing to say.
run_in_oclgrind() {
  what=$1 from=$2
  shift 2
  oclgrind --compute-units $units --data-races --log "$log" "$clbake" run "$from" --device Oclgrind "$@" $leading \
    --ldc 52 --repeat 1 > /dev/null
  status=$?
  count=$((count + 1))
  [ $status -eq 0 ] && [ ! -s "$log" ] && return
  echo "$what: exit status $status"
  head -n 20 "$log"
  bad=1
}
for variant in $variants; do
  case "$variant" in *-d-[nt][nt]-*) options="--precision double" ;; *-b-*) options="--precision bfloat16" ;;
    *-ius-*) options="--precision int8-uint8-single" ;; *-uis-*) options="--precision uint8-int8-single" ;;
    *-fee-*) options="--precision e5m2-e4m3-e4m3" ;; *-sqs-*) options="--precision single-q4-single" ;;
    *-b?b-*) options="--precision bfloat16-q$(case "$variant" in *q*) echo 4 ;; *) echo 8 ;; esac)-bfloat16" ;; *) options="--precision single" ;; esac
  # One size for each pair of transposes: an interpreter is slow.
  case "$variant" in
    *-tt-*) options="$options --trans-a --trans-b" sizes="33 3 17 0.5" ;;
    *) sizes="37 41 19 0" ;;
  esac
  case "$variant" in *-[sb][qv][sb]-*)
    leading="--lda 200" options="$options --weight-group 64 --weight-zeros" sizes="5 37 192 0" ;; esac
  set -- $sizes
  run_in_oclgrind "$variant at m n k beta = $sizes" "$bundle" --variant "$variant" $options \
    --m "$1" --n "$2" --k "$3" --beta "$4"
  leading="--lda 50 --ldb 51"
  case "$variant" in *-split0*)  # a tail behind whole tiles
    leading="--lda 70 --ldb 71" units=8
    run_in_oclgrind "$variant with a tail" "$bundle" --variant "$variant" $options --m 37 --n 41 --k 67 --beta 0.5
    leading="--lda 50 --ldb 51" units=1 ;;
  esac
  case "$variant" in *-[sb][qv][sb]-*) continue ;; local_tile-*-nn-*) ;; *) continue ;; esac
  leading="--lda 51 --ldb 52"  # B in vectors, A not
  run_in_oclgrind "$variant with B aligned" "$bundle" --variant "$variant" $options --m 37 --n 41 --k 19 --beta 0
  leading="--lda 50 --ldb 51"
done
for options in "--trans-a --conj-a --beta 0.5,2" "--trans-b --conj-b --beta 0"; do
  run_in_oclgrind "complex-single $options" "$baked" --precision complex-single $options \
    --m 13 --n 11 --k 19 --alpha 2,-1
done
echo "$count runs"
exit $bad
