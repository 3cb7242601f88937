#!/bin/bash
# benchmarks.sh TOOLS: BENCHMARKS.md and its picture are what the measurements give, and wrong data is named.
set -euo pipefail
tools=$1
script=$tools/report/benchmarks.py
"$script" --check

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/report"
cp "$tools/BENCHMARKS.md" "$scratch"
cp -r "$tools/report/data" "$tools/report/first-result.svg" "$scratch/report"
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

# A newer run takes the place of the old one, in the page and in the picture.
echo '900,2099-01-01,H100,,,,' >> "$data/runs.csv"
echo '901,2099-01-01,CPU,,,,' >> "$data/runs.csv"
echo '900,single,nn,1024,1024,1024,1,,,cublas,,1.5' >> "$data/gemm.csv"
echo '901,512,bundle,1,1,2,1,3,7,1' >> "$data/cold.csv"
refused BENCHMARKS.md first-result.svg
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

echo '900,single,nn,1,1,1,1,,,launch,,1' >> "$data/gemm.csv"
refused "gemm.csv: line" "the peer 'launch' is none of"
sed -i '$d' "$data/gemm.csv"

# A printed benchmark becomes a run.
cp "$tools/BENCHMARKS.md" "$scratch"
cat > "$scratch/gemm.json" <<JSON
{"device": "A, B", "driver": "1.0", "rows": [{"precision": "single", "trans": "nn", "m": 64, "n": 64, "k": 64,
 "batch": 1, "activation": null, "gflops": 123.456, "peer": null, "peer_gflops": null, "ratio": null}]}
JSON
"$script" --add "$scratch/gemm.json" --machine CPU --commit abc --command 'clbake bench gemm' "$scratch"
grep -q '^902,.*,CPU,"A, B",1.0,abc,clbake bench gemm$' "$data/runs.csv"
grep -q '^902,single,nn,64,64,64,1,,123.5,,,$' "$data/gemm.csv"

# So does a file of bench-programs, whose rows take the place of the program's earlier ones.
cat > "$scratch/programs.csv" <<CSV
program,way,ms,ms_min,ms_max,cpu_ms,number,rounds,same_output
Rodinia: nw,served,45.67,40,50,30,,3,yes
CSV
"$script" --add "$scratch/programs.csv" --machine CPU --device D --driver 2 --commit abc --command c "$scratch"
grep -q '^903,.*,CPU,D,2,abc,c$' "$data/runs.csv"
grep -q '^903,programs,Rodinia: nw,served by a bundle,46$' "$data/figures.csv"

# Nothing is written of what the tables cannot show.
cp -r "$data" "$scratch/before"
# not_added JSON TEXT
not_added() {
  echo "$1" > "$scratch/other.json"
  if "$script" --add "$scratch/other.json" "$scratch" > "$scratch/said" 2>&1; then exit 1; fi
  grep -q "other.json: $2" "$scratch/said"
  diff -r "$scratch/before" "$data"
}
not_added '{}' "is not what"
not_added "$(sed 's/"k": 64,//' "$scratch/gemm.json")" "is not what"
not_added "$(sed 's/"peer": null/"peer": "launch"/' "$scratch/gemm.json")" "the peer 'launch' is none of"
