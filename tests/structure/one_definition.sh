#!/usr/bin/env bash
# one_definition.sh ROOT: no type or inline function of the product has two definitions in one namespace. Each compiles
# in its own files, and the linker keeps one of the two for all: the program then reads one struct as the other. Of the
# operating system's two folders a program has one.
set -u
cd "$1" || exit 1
pairs=$(git ls-files 'cache/*.[ch]pp' 'kernels/*.[ch]pp' 'runtime/*.[ch]pp' 'builder/*.[ch]pp' 'tools/*.[ch]pp' ':!cache/os/windows' |
  xargs awk '
  FNR == 1 { depth = hidden = 0; space = "" }
  # clang-format writes definitions of a namespace at the first column, and names the namespace where it ends.
  /^namespace .*\{$/ {
    opened[++depth] = space
    if ($2 == "{") hidden = depth; else space = space $2 "::"
    next
  }
  /^\} *\/\/ namespace/ {
    if (hidden == depth) hidden = 0
    space = opened[depth--]
    next
  }
  hidden { next }
  /^template/ { next }
  /^(struct|class|union|enum) / && (/\{/ || !/;$/) {
    name = $0
    sub(/^(enum class|struct|class|union|enum) /, "", name)
    sub(/ (final )?(: .*)?\{.*$/, "", name)
    print "type " space name "\t" FILENAME ":" FNR
  }
  /^inline [^=]*\(/ {
    name = $0
    sub(/ (const )?\{.*$/, "", name)
    print space " " name "\t" FILENAME ":" FNR
  }' | sort | awk -F'\t' '
  $1 == last { print $1 ": " place " and " $2 }
  { last = $1; place = $2 }')
[ -z "$pairs" ] && exit 0
echo "two definitions of one name in one program:"
echo "$pairs"
exit 1
