#!/usr/bin/env bash
# vcpkg.sh WORK: the port for vcpkg builds the library by vcpkg's own scripts, and a program finds what it installed.
# CLBAKE_VCPKG names a checkout of vcpkg; its tool, which would build the ports that this one needs, is not used: these
# are the system's. Exit status 77: it is not set.
set -euo pipefail
work=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../../..")
[ -n "${CLBAKE_VCPKG:-}" ] || { echo "skipped: CLBAKE_VCPKG names no checkout of vcpkg"; exit 77; }
vcpkg=$(realpath "$CLBAKE_VCPKG")
port=$root/tools/packaging/vcpkg/clbake
version=$(sed -n 's/^project(clbake VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
grep -F "\"version\": \"$version\"" "$port/vcpkg.json" || { echo "vcpkg.json: not version $version"; exit 1; }

rm -rf "$work"
share=$work/installed/x64-linux/share
mkdir -p "$share" "$work/downloads"
configs=
for helper in vcpkg-cmake vcpkg-cmake-config; do
  cp -r "$vcpkg/ports/$helper" "$share"
  configs="$configs;$share/$helper/vcpkg-port-config.cmake"
done
# As vcpkg's tool calls it.
cmake -DCMD=BUILD -DPORT=clbake "-DVERSION=$version" "-DCURRENT_PORT_DIR=$port" "-DFEATURES=core;trust" "-DALL_FEATURES=core;trust" \
  -DTARGET_TRIPLET=x64-linux -D_HOST_TRIPLET=x64-linux "-DTARGET_TRIPLET_FILE=$vcpkg/triplets/x64-linux.cmake" \
  "-DVCPKG_ROOT_DIR=$vcpkg" "-DDOWNLOADS=$work/downloads" "-DPACKAGES_DIR=$work/packages" "-DBUILDTREES_DIR=$work/buildtrees" \
  "-D_VCPKG_INSTALLED_DIR=$work/installed" "-DVCPKG_PORT_CONFIGS=${configs#;}" -DVCPKG_BASE_VERSION=2999-12-31 \
  "-DNINJA=$(command -v ninja)" "-DPKGCONFIG=$(command -v pkg-config)" "-DVCPKG_CONCURRENCY=$(nproc)" -DVCPKG_PLATFORM_TOOLSET=external -D_VCPKG_NO_DOWNLOADS=1 -DVCPKG_FIXUP_ELF_RPATH=OFF -D_VCPKG_PROHIBIT_BACKCOMPAT_FEATURES=1 \
  "-DZ_VCPKG_CHAINLOAD_TOOLCHAIN_FILE=$vcpkg/scripts/toolchains/linux.cmake" -P "$vcpkg/scripts/ports.cmake" > "$work/log" 2>&1 ||
  { tail -40 "$work/log"; exit 1; }
package=$work/packages/clbake_x64-linux
for file in include/clbake/clbake.hpp lib/libclbake.a debug/lib/libclbake.a share/clbake/clbakeConfig.cmake share/clbake/copyright \
            lib/pkgconfig/clbake.pc; do
  [ -e "$package/$file" ] || { echo "no $file"; exit 1; }
done
[ ! -e "$package/debug/include" ] && [ ! -e "$package/debug/share" ]
"$root/tests/consumers/cmake.sh" "$root/tests/consumers/find_package" "$work/consumer" "$root/tests/runtime/golden/direct.clbake" \
  "-Dclbake_DIR=$package/share/clbake" -DCMAKE_BUILD_TYPE=Release || [ $? -eq 77 ]
echo "tested: the port for vcpkg"
