#!/bin/sh
# oclgrind.sh CLBAKE BUNDLE: runs every variant of the bundle in Oclgrind, which interprets the kernel and reports data
# races and accesses outside of buffers, at a size that leaves incomplete tiles in every family. 77 (skipped) without
# Oclgrind.
set -u
clbake=$1
bundle=$2
command -v oclgrind > /dev/null || { echo "oclgrind is not installed"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
count=0
for variant in $("$clbake" inspect "$bundle" --json | sed -n 's/.*"variant": "\(.*\)",/\1/p' | sort -u); do
  # family-precision-transposes-...: s or d, then n or t for A and for B.
  case "$variant" in *-d-[nt][nt]-*) options="--precision double" ;; *) options="--precision single" ;; esac
  case "$variant" in *-[sd]-t[nt]-*) options="$options --trans-a" ;; esac
  case "$variant" in *-[sd]-[nt]t-*) options="$options --trans-b" ;; esac
  for sizes in "67 131 19 0" "65 3 33 0.5" "1 1 1 0"; do
    set -- $sizes
    oclgrind --data-races --log "$log" "$clbake" run "$bundle" --device Oclgrind --variant "$variant" $options \
      --m "$1" --n "$2" --k "$3" --beta "$4" --lda 140 --ldb 141 --ldc 142 --repeat 1 > /dev/null
    status=$?
    count=$((count + 1))
    [ $status -eq 0 ] && [ ! -s "$log" ] && continue
    echo "$variant at m n k beta = $sizes: exit status $status"
    head -n 20 "$log"
    bad=1
  done
done
[ $count -gt 0 ] || { echo "the bundle has no variants"; exit 1; }
echo "$count runs"
exit $bad
