#!/bin/bash
# benchmarks.sh TOOLS: BENCHMARKS.md and its pictures are what the measurements give, and wrong data is named.
set -euo pipefail
tools=$1
script=$tools/report/benchmarks.py
"$script" --check

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/report"
cp "$tools/BENCHMARKS.md" "$scratch"
cp -r "$tools/report/data" "$tools"/report/*.svg "$scratch/report"
data=$scratch/report/data

# refused TEXT...: the check fails and says all of this.
refused() {
  if said=$("$script" --check "$scratch" 2>&1); then
    echo "not refused: $*"
    exit 1
  fi
  for text in "$@"; do
    case "$said" in *"$text"*) ;; *) echo "'$said' does not contain '$text'"; exit 1 ;; esac
  done
}

# A newer run takes the place of the old one, in the page and in both pictures.
echo '900,2099-01-01,H100,,,,' >> "$data/runs.csv"
echo '901,2099-01-01,CPU,,,,' >> "$data/runs.csv"
echo '900,single,nn,1024,1024,1024,1,,,cublas,,1.5' >> "$data/gemm.csv"
echo '901,512,bundle,1,1,2,1,3,7,1' >> "$data/cold.csv"
refused BENCHMARKS.md first-result.svg speed.svg
"$script" "$scratch"
"$script" --check "$scratch"
grep -q "| clbake bundle, nothing left to compile | 2.00 (1.00-3.00) |" "$scratch/BENCHMARKS.md"

echo '902,single,nn,1,1,1,1,,,cublas,,1' >> "$data/gemm.csv"
refused "gemm.csv: line $(wc -l < "$data/gemm.csv"): run 902 is not in runs.csv"
sed -i '$d' "$data/gemm.csv"
echo '900,single,nn,x,1,1,1,,,cublas,,1' >> "$data/gemm.csv"
refused "gemm.csv: line" "m: 'x' is not a number"
sed -i '$d' "$data/gemm.csv"
sed -i '/<!--speed-->/d' "$scratch/BENCHMARKS.md"
refused "'<!--speed-->' must stand in it once"
