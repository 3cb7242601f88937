#!/bin/sh
# library.sh LIBCLBAKE.SO ROOT [NEEDED]: it exports what the public headers declare and nothing else, each symbol with a
# version, and needs nothing but OpenCL, zstd, the runtimes of C and C++, and what the expression NEEDED names. It starts
# no process and changes no memory's rights, which Android forbids.
set -u
root=$2
exports=$(nm -DC --defined-only "$1" | grep -v '^[0-9a-f]* A CLBAKE_' | cut -d' ' -f3- | sed 's/@@CLBAKE_.*//')
[ -n "$exports" ] || exit 1
echo "$exports" | {
  bad=0
  while read -r symbol; do
    name=${symbol%%(*} name=${name%%\[abi:*}
    case $name in
      clbake::* | clbake_*)
        grep -rqwF -- "${name##*::}" "$root/runtime/include" "$root/cache/include/clbake/cache/reader.hpp" \
          "$root/cache/include/clbake/cache/model.hpp" && continue ;;
    esac
    echo "exported, but not public: $symbol"
    bad=1
  done
  exit $bad
} || exit 1
without=$(nm -D --defined-only "$1" | grep -v ' A CLBAKE_' | grep -v '@@CLBAKE_')
[ -z "$without" ] || { echo "without a version: $without"; exit 1; }
forbidden=$(nm -D --undefined-only "$1" | grep -wE '(fork|vfork|clone|exec[lv]\w*|posix_spawnp?|system|popen|mprotect)')
[ -z "$forbidden" ] || { echo "calls: $forbidden"; exit 1; }
allowed='^(libOpenCL|libzstd|libstdc\+\+|libm|libgcc_s|libc|libpthread|libdl|ld-linux|libasan|libubsan|libtsan)'
needed=$(objdump -p "$1" | awk '/NEEDED/{print $2}' | grep -vE "$allowed" | grep -vE "^(${3:-none})\\.so")
[ -z "$needed" ] || { echo "needs: $needed"; exit 1; }
