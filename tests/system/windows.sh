#!/usr/bin/env bash
# windows.sh WORK SOURCES BUILD CXX CLBAKE...: the command for Windows from tuning to a program with its bundle inside, in
# a folder whose path is long and not ASCII; then on a network share, and with Ctrl-C. BUILD: the build folder with
# libclbake.dll; CXX: a cross compiler; CLBAKE: the command, with what runs it before it. Exit status 77: no OpenCL device.
set -euo pipefail
work=$1 sources=$2 build=$3 cxx=$4
shift 4
clbake=("$@")
emulator=("${@:1:$#-1}")
rm -rf "$work"
folder=$work/später-日本
for part in {1..4}; do folder+=/$(printf "$part%.0s" {1..60}); done
mkdir -p "$folder"
cd "$work"
status=0
"${clbake[@]}" devices > devices.txt 2> devices.err || status=$?
grep -q 'no OpenCL platform' devices.err && exit 77
[ $status -eq 0 ]
step() { echo "--- $*" >&2; "${clbake[@]}" "$@"; }
has() { grep -q -- "$2" "$1" || { echo "no '$2' in:"; cat "$1"; exit 1; }; }

echo 64x64x64 > "$folder/shapes.txt"
variants=direct-s-nn-6x8x1-6x8x1-v8,direct-s-nt-6x8x1-6x8x1-v8,direct-s-tn-6x8x1-6x8x1-v8,direct-s-tt-6x8x1-6x8x1-v8
step tune --budget 20s --shapes "$folder/shapes.txt" --variant ${variants%%,*} -o "$folder/profile.json"
step build --variant $variants -o "$folder/gemm.clbake" > built.txt
has built.txt '4 baked'
step prove --again "$folder/gemm.clbake" > proven.txt
step build --programs "$sources/tools/example/perceptron/programs.json" -o "$folder/programs.clbake"
step merge "$folder/gemm.clbake" "$folder/programs.clbake" -o "$folder/all.clbake"
step verify "$folder/all.clbake"
step inspect "$folder/all.clbake" > inspected.txt
has inspected.txt 'single nn nt tn tt, 1 own program'
step run "$folder/all.clbake" --m 64 --n 64 --k 64 > run.txt
has run.txt 'from the bundle'
step check "$folder/all.clbake" --shapes "$folder/shapes.txt"
step split "$folder/all.clbake" -o "$folder/store"
[ -s "$folder/store/index.clbake-index" ]

# A network share, as wine has them.
shares=${WINEPREFIX:-$HOME/.wine}/dosdevices/unc/clbake-test
mkdir -p "$shares"
trap 'rm -rf "$shares"' EXIT
ln -sfn "$work" "$shares/share"
cp "$folder/gemm.clbake" gemm.clbake
step verify '\\clbake-test\share\gemm.clbake'
step merge //clbake-test/share/gemm.clbake "$folder/programs.clbake" -o '\\clbake-test\share\joined.clbake'
[ -s joined.clbake ]
step run '\\clbake-test\share\joined.clbake' --m 8 --n 8 --k 8 > run.txt
has run.txt 'from the bundle'

# A program with the bundle inside. The compiler is not under wine: it knows no drive Z.
step embed "$folder/all.clbake" --name perceptron_clbake -o perceptron_clbake.S,perceptron_clbake.h
sed -i 's|"Z:/|"/|' perceptron_clbake.S
example=$sources/tools/example/perceptron
"$cxx" -std=c++17 -O1 -I. -I"$sources/runtime/include" -I"$sources/cache/include" -DCL_TARGET_OPENCL_VERSION=120 \
  -I"${CLBAKE_WINDOWS_PREFIX:-$sources/build/windows-prefix}/include" "$example/perceptron.cpp" \
  "$example/network_clbake.cpp" perceptron_clbake.S -o perceptron.exe \
  "$build/runtime/libclbake.dll.a" -L"${CLBAKE_WINDOWS_PREFIX:-$sources/build/windows-prefix}/lib" -lOpenCL
cp "$build/runtime/libclbake.dll" .
"${emulator[@]}" ./perceptron.exe

# Ctrl-C in a terminal: the build keeps what it has, and goes on later.
mkfifo keys
script -qec "$(printf '%q ' "${clbake[@]}" build --jobs 1 --variant $variants -o "$PWD/stopped.clbake")" screen.txt < keys > /dev/null &
exec 3> keys
until [ "$(find stopped.clbake.work -name '*.compiled' 2> /dev/null | wc -l)" -ge 2 ]; do
  kill -0 $! || { cat -v screen.txt; exit 1; }
  sleep 0.1
done
printf '\003' >&3
status=0
wait $! || status=$?
exec 3>&-
[ $status -eq 130 ] || { echo "exit status $status:"; cat -v screen.txt; exit 1; }
[ ! -e stopped.clbake ]
find stopped.clbake.work -name '*.compiled' | grep -q .
step build --jobs 1 --variant $variants -o stopped.clbake
[ -s stopped.clbake ] && [ ! -e stopped.clbake.work ]
