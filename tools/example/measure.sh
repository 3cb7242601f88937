# Sourced by the `compare` of each example. Wants: trials, device (may be empty), work (a folder).

# build_example PROJECT BUILD OPTIONS OF cmake...: builds a project of an example against clbake as built in BUILD.
build_example() {
  local project=$1 build=$2
  shift 2
  [ -f "$build/cmake_install.cmake" ] || { echo "compare: $build is not a build folder of clbake" >&2; return 1; }
  {
    cmake --install "$build" --prefix "$work/prefix" &&
      cmake -G Ninja -S "$project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" "$@" &&
      cmake --build "$work/build"
  } > "$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; return 1; }
}

# run PROGRAM CACHES: one run with the driver caches in a folder. Prints "FIRST LATER" of the line that the program
# prints, or "FIRST " if that is all it has.
run() {
  env POCL_CACHE_DIR="$2" CUDA_CACHE_PATH="$2" MESA_SHADER_CACHE_DIR="$2" NEO_CACHE_DIR="$2" \
    "$work/build/$1" ${device:+"$device"} > "$work/out" || return
  sed -E 's/.* first ([0-9.]+)( later ([0-9.]+))?$/\1 \3/' "$work/out"
}
median() { sort -n | sed -n "$(((trials + 1) / 2))p"; }

# measure NAME PROGRAM: two lines, with empty and with kept driver caches. Keeps "NAME empty" and "NAME kept" in firsts.
declare -A firsts
measure() {
  local caches folder i first later
  for caches in empty kept; do
    : > "$work/times"
    [ $caches = empty ] || { mkdir -p "$work/kept"; run "$2" "$work/kept" > "$work/filled"; }
    for ((i = 0; i < trials; ++i)); do
      folder=$work/kept
      [ $caches = kept ] || { folder=$work/empty$i; rm -rf "$folder"; mkdir "$folder"; }
      run "$2" "$folder" >> "$work/times"
    done
    first=$(cut -d' ' -f1 "$work/times" | median) later=$(cut -d' ' -f2 "$work/times" | median)
    firsts["$1 $caches"]=$first
    printf '%-12s %-7s %10s %10s\n' "$1" $caches "$first" "${later:--}"
  done
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.3g x", a / b}'; }
