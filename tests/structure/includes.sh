#!/bin/sh
# includes.sh ROOT: no folder includes what it must not know.
set -u
cd "$1" || exit 1
bad=0
# forbid FOLDER REGEX: prints the includes of FOLDER that match.
forbid() {
  if grep -rnE "#include <($2)" "$1" --include='*.hpp' --include='*.cpp'; then
    echo "^ $1/ must not include these"
    bad=1
  fi
}
forbid cache 'CL/|clbake/(kernels|builder|clbake)|nlohmann|boost'
forbid kernels 'CL/|clbake/(cache|builder|clbake|status)|nlohmann|boost'
forbid runtime 'clbake/(kernels|builder)|nlohmann|boost|xxhash'
for folder in cache kernels runtime/include $(ls -d runtime/src/*/ | grep -v /trust/); do forbid "$folder" 'sodium'; done
forbid builder 'boost'
exit $bad
