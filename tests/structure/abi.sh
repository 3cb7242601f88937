#!/bin/sh
# abi.sh LIBRARY.SO STORED.XML ROOT: what the shared library offers to programs that are linked already, its functions
# with their symbol versions and the public types that they reach, is what STORED describes (libabigail's abidiff).
# STORED is made on x86-64, and holds for AArch64: types have the same sizes there. A DLL has to export the same names.
# Exit status 77, with the reason, where that cannot be told.
# abi.sh --update LIBRARY.SO STORED.XML ROOT: describes it anew. Only additions may be stored within 1.x: RUNTIME.md,
# "What stays the same".
# abi.sh --compare OLD.XML NEW.XML: what differs between two descriptions; exit status 1 if anything does.
set -u
skip() { echo "skipped: $1"; exit 77; }

compare() {
  status=0
  errors=$(abidiff --no-architecture "$1" "$2" 2>&1 >&3) 3>&1 || status=$?
  # It may end well after an error, too.
  [ $((status & 3)) -eq 0 ] && [ -z "$errors" ] || { echo "abidiff failed, $status: $errors"; exit 1; }
  [ $((status & 8)) -eq 0 ] || echo "^ breaks programs that are linked already: not within 1.x"
  [ "$status" -eq 0 ] || {
    echo "The ABI is not the one that is stored. If it may change: abi.sh --update (see there), and RUNTIME.md."
    exit 1
  }
}

# Without the standard library's inner types: other versions of it have others.
describe() {
  abidw --suppressions "$here/abi/suppressions" --exported-interfaces-only --drop-private-types \
    --headers-dir "$2/runtime/include" --headers-dir "$2/cache/include" --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-write-default-sizes --no-parameter-names --type-id-style hash "$1"
}

# Windows' 64 bits are an `unsigned long long`.
names() { c++filt | sed 's/unsigned long long/unsigned long/g; s/ull>/ul>/g' | sort -u; }
same_names() {
  objdump -p "$1" | awk 't && /^\t\[/ { print $NF } /Ordinal\/Name/ { t = 1 }' | names > "$now"
  sed -n "s/.*<elf-symbol name='\([^']*\)'.*/\1/p" "$2" | names | diff "$now" - && exit
  echo "< exported by $1 alone, > missing there"
  exit 1
}

here=$(dirname "$0")
for tool in abidiff abidw; do
  command -v $tool > /dev/null || skip "no $tool (Debian: abigail-tools)"
done
case $1 in --compare) compare "$2" "$3"; exit ;; esac
update=0
case $1 in --update) update=1; shift ;; esac
library=$1 stored=$2 root=$3
now=$(mktemp)
trap 'rm -f "$now"' EXIT
case $library in *.dll) same_names "$library" "$stored" ;; esac
# Types need debug information of level 2: tests/structure/CMakeLists.txt asks for it.
objdump -h "$library" | grep -q '\.debug_info' || skip "$library has no debug information"
describe "$library" "$root" > "$now" || { echo "abidw failed"; exit 1; }
[ $update -eq 0 ] || { cp "$now" "$stored"; exit; }
compare "$stored" "$now"
