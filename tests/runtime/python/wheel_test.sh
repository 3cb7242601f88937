#!/bin/sh
# wheel_test.sh ROOT WORK PYTHON LIBRARY: makes a wheel, installs it into a fresh environment and runs some of the
# module's tests on that. LIBRARY: a built libclbake.so to pack; empty: CMake builds it. Needs no network. Exit status
# 77: a package of Python's is missing.
set -eu
root=$1 work=$2 python=$3
for module in ensurepip pip pyopencl setuptools wheel; do
  "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))" || {
    echo "skipped: $python has no $module"
    exit 77
  }
done
rm -rf "$work"
mkdir -p "$work"
# Keeps the leftovers of setuptools out of the sources.
printf '[build]\nbuild_base = %s/build\n[egg_info]\negg_base = %s\n' "$work" "$work" > "$work/setup.cfg"
export DIST_EXTRA_CONFIG="$work/setup.cfg" CLBAKE_LIBRARY="$4" PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1
"$python" -m pip wheel -q --no-build-isolation --no-deps -w "$work" "$root/runtime/python"
[ "$(ls "$work"/clbake-*-py3-none-*.whl | wc -l)" -eq 1 ]
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install -q "$work"/clbake-*.whl
# Away from the sources, and nothing says where the library is.
cd "$work"
unset PYTHONPATH CLBAKE_TEST_LIBRARY
exec "$work/venv/bin/python" "$root/tests/runtime/python/module_test.py" Page Bundles Products
