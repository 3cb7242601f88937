#!/bin/sh
# masked_cpu.sh PROGRAM WORK: what was baked on a CPU is a named miss on one of the same name from which a feature was
# taken, as virtual machines do, and serves on one that has more. The CPUs are those of QEMU's emulation.
set -u
emulator=$(command -v qemu-x86_64 || command -v qemu-x86_64-static) || { echo "no qemu-x86_64"; exit 77; }
rm -rf "$2" && mkdir -p "$2"
export FAKE_OPENCL_PLATFORM='Portable Computing Language' FAKE_OPENCL_CPU=haswell
bad=0

# says CPU EXPECTED ARGUMENTS...
says() {
  cpu=$1 expected=$2
  shift 2
  said=$("$emulator" -cpu "$cpu" "$program" "$@" 2>&1)
  [ "$said" = "$expected" ] || { echo "$cpu, $*: $said; not: $expected"; bad=1; }
}
program=$1 bundle=$2/haswell.clbake less=$2/less.clbake
all='sse3 ssse3 cx16 sse4.1 sse4.2 popcnt avx f16c fma movbe bmi bmi2 lzcnt avx2'
says max "$all" bake "$bundle"
says max 'native; 1 programs' serve "$bundle"
for feature in movbe bmi2 f16c fma avx2; do
  says "max,-$feature" "Fake Alpha: what was baked needs $feature, which this CPU does not have; 0 programs" serve "$bundle"
done
says max,-xsave "Fake Alpha: what was baked needs avx, which this CPU does not have; 0 programs" serve "$bundle"
says max,-movbe "$(echo "$all" | sed 's/ movbe//')" bake "$less"
says max 'native; 1 programs' serve "$less"
says Nehalem "Fake Alpha: what was baked needs avx, which this CPU does not have; 0 programs" serve "$less"
exit $bad
