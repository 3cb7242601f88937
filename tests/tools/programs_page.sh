#!/bin/bash
# programs_page.sh SOURCES CLBAKE LAYER: the commands of runtime/layer/PROGRAMS.md do what the page says, with the program
# of the page where it is installed and runs, else with a small one of our own. Exit status 77 where something
# that they need is missing.
set -euo pipefail
sources=$1 clbake=$2 layer=$3
page=$sources/runtime/layer/PROGRAMS.md
skip() { echo "$*"; exit 77; }
devices=$("$clbake" devices 2> /dev/null) || skip "no OpenCL device"
case "$devices" in *rusticl*) skip "Mesa's rusticl gives no machine code, which the page's commands ask for" ;; esac
command -v python3 > /dev/null || skip "no python3"
command -v cc > /dev/null || skip "no C compiler"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/drivers-cache"
ln -s "$clbake" "$scratch/bin/clbake"
export PATH=$scratch/bin:$PATH XDG_CACHE_HOME=$scratch/cache POCL_CACHE_DIR=$scratch/drivers-cache
cd "$scratch"
# clpeak fails where a platform has no device.
clpeak --kernel-latency > /dev/null 2>&1 ||
  cc -O1 "$sources/tools/example/launches/launches.c" -o "$scratch/bin/clpeak" -lOpenCL

fail() { echo "programs_page.sh: $*"; exit 1; }
# The page's commands, in its order: lines that are indented by four blanks, without those that install clbake.
mapfile -t commands < <(sed -n 's/^    \(clbake \|OPENCL_LAYERS=\|tools\/bench-programs \)/\1/p' "$page")
run() {  # LINE: its output goes to the file `said`
  local line=${1//'$PWD/build/release/runtime/layer/libclbake-layer.so'/$layer}
  line=${line/#'tools/bench-programs'/"'$sources/tools/bench-programs' --rounds 1 --clbake '$clbake' --layer '$layer'"}
  # 'first' is what differs in the small program's output.
  line=${line/"'latency|Clock'"/"'latency|Clock|first'"}
  CLBAKE_LOG=stderr bash -c "$line" > said 2>&1 || fail "failed: $line: $(cat said)"
}
says() { grep -qE "$1" said || fail "'$1' is not in: $(cat said)"; }
# A process's learner ends some seconds after it.
wait_for_learner() {
  local i
  echo "$XDG_CACHE_HOME" > pattern  # in a file, as grep would find its own command line
  for ((i = 0; i < 1500; ++i)); do
    [ -n "$(grep -lszF -f pattern /proc/[0-9]*/cmdline)" ] || return 0
    sleep 0.2
  done
  fail "the learner does not end"
}

[ ${#commands[@]} -eq 8 ] || fail "the page has ${#commands[@]} commands: ${commands[*]}"
run "${commands[0]}" && says "(^|[^0-9])1 program"                           # record
run "${commands[1]}" && says "1 variant"                           # build
run "${commands[2]}" && says "own program"                         # inspect
run "${commands[3]}"                                               # check
run "${commands[4]}" && says "is from .*clpeak.clbake"             # run-with
run "${commands[5]}" && says "is from .*clpeak.clbake"             # by the environment
run "${commands[6]}" && says "served .* same" && says "learnt .* same"  # bench-programs
run "${commands[7]}" && says "is compiled by the driver"           # run-with, nothing baked
wait_for_learner
run "${commands[7]}" && says "is from the overlay"                 # the next process
