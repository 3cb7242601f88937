# For the scripts beside it and tools/test-zig, which source it at the root of the project.
version=$(sed -n 's/^project(clbake VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)

# Ends a part that cannot be made here.
left_out() {
  echo "left out: $*"
  exit 77
}

# packaging_python: a Python with the packages of requirements.txt; CLBAKE_PACKAGING_PYTHON names another one.
packaging_python() {
  if [ -n "${CLBAKE_PACKAGING_PYTHON:-}" ]; then
    echo "$CLBAKE_PACKAGING_PYTHON"
    return
  fi
  local python=build/packaging/python
  [ -e "$python/done" ] || {
    python3 -m venv "$python" && "$python/bin/pip" install -q -r tools/packaging/requirements.txt && touch "$python/done"
  } >&2 || return
  echo "$PWD/$python/bin/python"
}

# use_zig TARGET: zig of PyPI is in PATH, and compiles for TARGET in builds with tools/cmake/toolchains/zig.cmake.
use_zig() {
  local python folder
  python=$(packaging_python) && folder=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))') || return
  export PATH=$folder:$PATH CLBAKE_ZIG_TARGET=$1 ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$PWD/build/packaging/zig}
  export ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
}

# need_windows PART: ends the part where Windows' toolchain is missing.
need_windows() {
  command -v x86_64-w64-mingw32-g++-posix > /dev/null || left_out "$1: no g++-mingw-w64-x86-64-posix"
  [ -e "${CLBAKE_WINDOWS_PREFIX:-build/windows-prefix}/lib/libOpenCL.dll.a" ] ||
    left_out "$1: CLBAKE_WINDOWS_PREFIX names no prefix of libraries for Windows"
}
