#!/usr/bin/env bash
# rooms.sh ROOT: includes between the folders of a src point one way, nothing includes the src of another part (tests see
# that of the part they test), and no folder holds more than 22 source files side by side.
set -u
cd "$1" || exit 1
bad=0
complain() {
  echo "$1"
  bad=1
}

# one_way FOLDER ROOMS...: a room may include those named before it, and the files beside the rooms ("." in the list).
one_way() {
  local folder=$1 room include
  shift
  local -A rank=()
  local n=0
  for room in "$@"; do rank[$room]=$((n++)); done
  while IFS=: read -r file include; do
    room=${file#"$folder"/}
    case $room in */*) room=${room%%/*} ;; *) room=. ;; esac
    local target=$include
    case $target in
      clbake/builder/*) target=$(find "$folder" -name "$(basename "$target" .hpp).cpp" | head -1) && target=${target#"$folder"/} ;;
    esac
    case $target in */*) target=${target%%/*} ;; *) target=. ;; esac
    [ -n "${rank[$room]+x}" ] || { complain "$file: the room $room is not in the list of tests/structure/rooms.sh"; continue; }
    [ -n "${rank[$target]+x}" ] || { complain "$file includes \"$include\": no such room"; continue; }
    [ "${rank[$target]}" -le "${rank[$room]}" ] || complain "$file includes \"$include\": $room/ must not know $target/"
  done < <(grep -rnoE '#include ("[^"]+"|<clbake/builder/[^>]+>)' "$folder" --include='*.hpp' --include='*.cpp' |
           sed -E 's/^([^:]+):[0-9]+:#include ["<]([^">]+)[">]/\1:\2/' | grep -vE ':clbake/builder/sixteen_bits.hpp$')
}
one_way builder/src process shape device run program compile profile release prove build learn tune fleet
one_way runtime/src opencl select delivery program finalize launch overlay load . c trust weights

# Quoted includes name files of the same folder: tests those of their own part, or of the internals they test.
while IFS=: read -r file include; do
  case $include in ../*) complain "$file includes \"$include\": no way up" ;; esac
  case $file in
    tests/fuzz/*) roots="tests tests/fuzz cache/src runtime/src builder/src tools" ;;
    tests/*/*)
      part=${file#tests/} && part=${part%%/*}
      roots="tests tests/$part $(dirname "$file") $part/src runtime/layer tools cache/os tests/cache tests/builder" ;;
    tests/*) roots=tests ;;
    cache/os/*) roots=cache/os ;;
    runtime/layer/*) roots="runtime/layer runtime/src cache/os" ;;
    tools/*) roots="tools $(dirname "$file")" ;;
    *) roots="${file%%/src/*}/src" ;;
  esac
  found=
  for root in $roots; do [ ! -e "$root/$include" ] || found=yes; done
  [ -n "$found" ] || complain "$file includes \"$include\": not in $roots"
done < <(git ls-files '*.cpp' '*.hpp' | grep -v '^tests/consumers' | xargs grep -noE '#include "[^"]+"' |
         sed -E 's/^([^:]+):[0-9]+:#include "([^"]+)"/\1:\2/' | grep -vE ':(readme_example.hpp|gemm_clbake.h|.*_clbake.h)$')

while read -r count folder; do
  [ "$count" -le 22 ] || complain "$folder holds $count files side by side"
done < <(git ls-files '*.cpp' '*.hpp' '*.h' '*.c' '*.cl' | xargs -n1 dirname | sort | uniq -c)
exit $bad
