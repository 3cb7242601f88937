#!/usr/bin/env bash
# release.sh [DIR]: installs and runs what tools/packaging/release left in DIR (else the variable CLBAKE_RELEASE names it),
# each package in a folder of its own, and says what could not be run here. CLBAKE_RELEASE_KEY: the public key of
# minisign's that signed it. CLBAKE_ARM64_ROOT: a root directory in which programs of AArch64 run, else build/arm64-root.
# CLBAKE_WINE: a command that runs Windows' programs (wine). The command runs without a driver, the wheels multiply on a
# device. Exit status 77: there is no DIR.
set -euo pipefail  # so grep reads all of a pipe: no -q
release=${1:-${CLBAKE_RELEASE:-}}
[ -n "$release" ] || { echo "skipped: CLBAKE_RELEASE names no release"; exit 77; }
release=$(realpath -e "$release")
here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../../..")
cd "$root"
source tools/packaging/common.sh
arm64_root=${CLBAKE_ARM64_ROOT:-$root/build/arm64-root}
wine=${CLBAKE_WINE:-wine}
golden=$root/tests/cache/golden/v1.0.clbake
work=$root/build/packaging/test
rm -rf "$work"
mkdir -p "$work"

tested() { echo "tested: $*"; }
not_run() { echo "not run: $*"; }
fail() { echo "$*" >&2; exit 1; }
# in_arm64 COMMAND...: runs it in the root of AArch64, which sees the project.
in_arm64() { "$root"/tools/cmake/toolchains/in-root "$arm64_root" "$root" "$@"; }
# The command, by its words before, says its version and verifies a bundle.
command_works() {
  "$@" --version | grep -F "$version" > /dev/null || fail "$*: not version $version"
  "$@" verify "$golden" > "$work/log" || { cat "$work/log"; fail "$*: verifies no bundle"; }
}

checksums() {
  cd "$release"
  sha256sum --quiet --strict -c SHA256SUMS
  [ "$(ls -I 'SHA256SUMS*')" = "$(sed 's/^[^ ]* [ *]//' SHA256SUMS | sort)" ] || fail "SHA256SUMS lists other files"
  cd "$root"
  tested SHA256SUMS
}

signature() {
  [ -n "${CLBAKE_RELEASE_KEY:-}" ] || { not_run "signature: no CLBAKE_RELEASE_KEY"; return; }
  minisign -V -q -p "$CLBAKE_RELEASE_KEY" -m "$release/SHA256SUMS" || fail "SHA256SUMS.minisig does not hold"
  { cat "$release/SHA256SUMS"; echo; } > "$work/changed"
  ! minisign -V -q -p "$CLBAKE_RELEASE_KEY" -m "$work/changed" -x "$release/SHA256SUMS.minisig" 2> /dev/null ||
    fail "the signature holds for other checksums"
  tested SHA256SUMS.minisig
}

# deb ARCHITECTURE TRIPLET: the packages without those of debugging symbols, unpacked into one folder.
deb() {
  local x=$work/$1 package
  ls "$release"/libclbake1_*_"$1".deb > /dev/null 2>&1 || { not_run "deb-$1: not in the release"; return; }
  for package in "$release"/*_"$1".deb; do
    case $package in *-dbgsym_*) ;; *) dpkg -x "$package" "$x" ;; esac
  done
  dpkg-deb -f "$release"/libclbake1_*_"$1".deb Depends | grep libzstd1 > /dev/null || fail "libclbake1: does not depend on libzstd1"
  dpkg-deb -f "$release"/clbake_*_"$1".deb Depends | grep libsodium > /dev/null || fail "clbake: does not depend on libsodium"
  dpkg-deb -c "$release"/clbake_*_"$1".deb | grep libclbake-layer.so > /dev/null || fail "clbake: has no layer for run-with"
  [ -s "$x/usr/lib/$2/$(basename "$(cat "$x/usr/share/clbake/clbake.lay")")" ] || fail "deb-$1: clbake.lay names no layer"
  zcat "$x/usr/share/man/man1/clbake.1.gz" | grep '^.TH CLBAKE 1' > /dev/null || fail "deb-$1: no man page"
  local run=(env "LD_LIBRARY_PATH=$x/usr/lib/$2" "$x/usr/bin/clbake")
  if [ "$1" != "$(dpkg --print-architecture)" ]; then
    [ -d "$arm64_root" ] || { not_run "deb-$1: no $arm64_root"; return; }
    command_works in_arm64 "${run[@]}"
  else
    command_works "${run[@]}"
    # A program that finds the package, links the library and holds a bundle; without a device it ends with 77.
    tests/consumers/cmake.sh "$root/tests/consumers/find_package" "$work/consumer" \
      "$root/tests/runtime/golden/direct.clbake" "-DCMAKE_PREFIX_PATH=$x/usr" -DBUILD_SHARED_LIBS=ON || [ $? -eq 77 ]
    bare_debian "$1"
  fi
  tested "deb-$1"
}

# The packages of ARCHITECTURE installed by apt in a Debian with nothing but apt, which is thrown away.
bare_debian() {
  [ "$(id -u)" -eq 0 ] && command -v mmdebstrap > /dev/null || { not_run "deb-$1 in a bare Debian: no root or mmdebstrap"; return; }
  local packages
  packages=$(find "$release" -name "*_$1.deb" ! -name '*-dbgsym_*' | tr '\n' ' ')
  cat > "$work/install" <<INSTALL
set -e
apt-get install -qq --no-install-recommends /tmp/*.deb > /tmp/log 2>&1 || { cat /tmp/log; exit 1; }
clbake --version
clbake verify /tmp/$(basename "$golden")
clbake devices || true
ldd /usr/lib/*/libclbake-layer.so | grep 'not found' && exit 1
apt-get remove -qq clbake libclbake1 > /tmp/log 2>&1
[ ! -e /usr/bin/clbake ]
INSTALL
  mmdebstrap --quiet --variant=apt "--customize-hook=copy-in $packages $golden $work/install /tmp" \
    '--customize-hook=chroot "$1" sh /tmp/install' bookworm /dev/null > "$work/bare.log" 2>&1 ||
    { tail -20 "$work/bare.log"; fail "deb-$1: not installed in a bare Debian"; }
  grep -F "$version" "$work/bare.log" > /dev/null || fail "deb-$1: not version $version in a bare Debian"
  tested "deb-$1 in a bare Debian"
}

# The wheel of MACHINE: installed where it can be loaded, with the pyopencl that is there, away from the sources.
wheel() {
  local wheel site=$work/site-$1
  wheel=$(ls "$release"/clbake-*"_$1.whl" 2> /dev/null) || { not_run "wheel-$1: not in the release"; return; }
  python3 -m zipfile -e "$wheel" "$site"
  local run=(env "PYTHONPATH=$site" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/release_wheel.py"
             "$root/tests/runtime/golden/direct.clbake" "$site") status=0
  case $1 in
    x86_64)
      /usr/bin/python3 -m venv --system-site-packages "$work/venv"
      "$work/venv/bin/pip" install -q --no-index --no-deps "$wheel"
      local python=$work/venv/bin/python
      run=("$python" "$here/release_wheel.py" "$root/tests/runtime/golden/direct.clbake" "$work/venv")
      ;;
    aarch64)
      [ -d "$arm64_root" ] || { not_run "wheel-$1: no $arm64_root"; return; }
      run=(in_arm64 "${run[@]}")
      ;;
    amd64)
      [ -e "$site/clbake/libclbake.dll" ] || fail "wheel-windows: no libclbake.dll"
      command -v "$wine" > /dev/null || { not_run "wheel-windows: no wine"; return; }
      x86_64-w64-mingw32-gcc -DCL_TARGET_OPENCL_VERSION=120 -I runtime/include -I cache/include \
        "-I${CLBAKE_WINDOWS_PREFIX:-$root/build/windows-prefix}/include" "$here/release_wheel.c" -o "$site/clbake/uses.exe"
      "$wine" "$site/clbake/uses.exe" "$root/tests/runtime/golden/direct.clbake"
      tested "wheel-windows, its library: no Python for Windows"
      return
      ;;
  esac
  (cd "$work" && "${run[@]}") || status=$?
  case $status in
    0) tested "wheel-$1" ;;
    77) not_run "wheel-$1: no pyopencl or no device" ;;
    *) fail "wheel-$1: failed" ;;
  esac
}

windows() {
  local zip=$release/clbake-$version-windows-x86_64.zip
  [ -e "$zip" ] || { not_run "windows: not in the release"; return; }
  python3 -m zipfile -e "$zip" "$work/windows"
  local folder=$work/windows/clbake-$version-windows-x86_64 file
  for file in include/clbake/clbake.h bin/libclbake.dll bin/libclbake-layer.dll lib/libclbake.a lib/libclbake.dll.a LICENSE \
              lib/cmake/clbake/clbakeConfig.cmake lib/pkgconfig/clbake.pc; do
    [ -e "$folder/$file" ] || fail "windows: no $file"
  done
  command -v "$wine" > /dev/null || { not_run "windows: no wine"; return; }
  # A program that links the library by its import library, beside it.
  cp "$folder/bin/libclbake.dll" "$work/windows"
  x86_64-w64-mingw32-g++-posix -std=c++17 -DCL_TARGET_OPENCL_VERSION=120 -static "-I$folder/include" \
    "-I${CLBAKE_WINDOWS_PREFIX:-$root/build/windows-prefix}/include" tools/packaging/conan/test_package/main.cpp \
    -o "$work/windows/uses.exe" "$folder/lib/libclbake.dll.a"
  "$wine" "$work/windows/uses.exe"
  command_works "$wine" "$folder/bin/clbake.exe"
  tested windows
}

checksums
signature
PYTHON=$(packaging_python) "$here/sbom.sh" "$release/clbake-$version.cdx.json" || [ $? -eq 77 ]
deb amd64 x86_64-linux-gnu
deb arm64 aarch64-linux-gnu
wheel x86_64
wheel aarch64
wheel amd64
windows
