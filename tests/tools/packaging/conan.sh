#!/bin/sh
# conan.sh WORK: conan makes the package with the system's OpenCL, zstd and libsodium, and builds and runs its test
# package. CONAN names conan. Exit status 77: there is none.
set -eu
work=$1
conan=${CONAN:-conan}
cd "$(dirname "$0")/../../.."
command -v "$conan" > /dev/null || { echo "skipped: no conan of PyPI"; exit 77; }
mkdir -p "$work"
export CONAN_HOME="$work/home"
"$conan" profile detect --force > "$work/log" 2>&1
for shared in False True; do
  "$conan" create tools/packaging/conan -o '&:system=True' -o "&:shared=$shared" --no-remote --build=missing > "$work/log" 2>&1 ||
    { tail -40 "$work/log"; exit 1; }
  grep '^clbake [0-9]*: missing.clbake' "$work/log"
done
echo "tested: the recipe for conan"
