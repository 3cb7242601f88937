#!/bin/sh
# exports.sh DOOR [CLBLAST]: the door exports CLBlast's functions for GEMM and its cache, each of them, and nothing else but
# its own function. Without CLBlast's library as many: as a DLL.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names() {
  case $1 in
    *.dll) objdump -p "$1" | awk 't && /^\t\[/ { print $NF } /Ordinal\/Name/ { t = 1 }' ;;
    *) nm -D --defined-only "$1" | cut -d' ' -f3 ;;
  esac | sort
}
names "$1" | grep -v '^clbake_clblast_use_bundle$' > "$work/door"
# The functions for C++ are templates whose return type is in the name, and two others.
names "${2:-$1}" | grep -E '^CLBlast([SDCZH]gemm|[SDCZH]Gemm|ClearCache|FillCache)|^_ZN7clblast[0-9]+Gemm[A-Za-z]*I(t|f|d|St7complexI[fd]E)EENS_10StatusCodeE|^_ZN7clblast(10ClearCacheEv|9FillCacheE)' \
  > "$work/clblast"
[ "$(wc -l < "$work/clblast")" -eq 49 ] || { echo "found in ${2:-$1}:"; cat "$work/clblast"; exit 1; }
diff "$work/clblast" "$work/door" || { echo "CLBlast's functions are not those of the door"; exit 1; }
