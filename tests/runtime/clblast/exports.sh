#!/bin/sh
# exports.sh DOOR CLBLAST: the door exports CLBlast's routines, each of them, and nothing else but its own function.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names() { nm -D --defined-only "$1" | cut -d' ' -f3 | sort; }
names "$1" | grep -v '^clbake_clblast_use_bundle$' > "$work/door"
[ -s "$work/door" ] || exit 1
# The functions for C++ that return a status: templates whose return type is in the name, and four others.
names "$2" | grep -E '^CLBlast|^_ZN7clblast[0-9]+[A-Z][A-Za-z0-9]*I(t|f|d|St7complexI[fd]E)+EENS_10StatusCodeE|^_ZN7clblast(10ClearCacheEv|9FillCacheE|18RetrieveParametersE|18OverrideParametersE)' \
  | grep -vE '^_ZN7clblast8TunerAPII' > "$work/clblast"
[ "$(wc -l < "$work/clblast")" -ge 500 ] || { echo "only $(wc -l < "$work/clblast") routines found in $2"; exit 1; }
missing=$(comm -13 "$work/door" "$work/clblast")
[ -z "$missing" ] || { echo "not exported: $missing"; exit 1; }
other=$(comm -23 "$work/door" "$work/clblast")
[ -z "$other" ] || { echo "exported, but not CLBlast's: $other"; exit 1; }
# Those that it asks CLBlast for are CLBlast's, too: a wrong letter would be found at the first call only.
wrong=$(strings -a "$1" | grep -xE '_ZN7clblast[A-Za-z0-9_]+' | sort -u | comm -23 - "$work/clblast")
[ -z "$wrong" ] || { echo "named, but not CLBlast's: $wrong"; exit 1; }
