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

# use_zig TARGET PREFIX [LIBRARIES...]: zig of PyPI is in PATH, and compiles for TARGET in builds with
# tools/cmake/toolchains/zig.cmake, which link the libraries of static-libraries; PREFIX gets them.
use_zig() {
  local python folder target=$1 sources=build/packaging/sources
  export CLBAKE_ZIG_TARGET=$1 CLBAKE_ZIG_PREFIX=$2
  shift 2
  python=$(packaging_python) && folder=$("$python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))') || return
  export PATH=$folder:$PATH ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$PWD/build/packaging/zig}
  export ZIG_LOCAL_CACHE_DIR=$ZIG_GLOBAL_CACHE_DIR
  [ ! -e "$CLBAKE_ZIG_PREFIX/done" ] || return 0
  if [ ! -e "$sources/done" ]; then
    tools/cmake/toolchains/debian-sources "$sources" && touch "$sources/done" || return
  fi
  CC="zig cc -target $target" CXX="zig c++ -target $target" AR="zig ar" \
    tools/cmake/toolchains/static-libraries "$sources" "$CLBAKE_ZIG_PREFIX" "$@" && touch "$CLBAKE_ZIG_PREFIX/done"
}

# need_windows PART: ends the part where Windows' toolchain or libraries are missing and cannot be made.
need_windows() {
  command -v x86_64-w64-mingw32-g++-posix > /dev/null || left_out "$1: no g++-mingw-w64-x86-64-posix"
  export CLBAKE_WINDOWS_PREFIX=${CLBAKE_WINDOWS_PREFIX:-$PWD/build/windows-prefix}
  tools/cmake/toolchains/windows-prefix "$CLBAKE_WINDOWS_PREFIX" || left_out "$1: no libraries for Windows"
}
