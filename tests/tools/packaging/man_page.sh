#!/bin/sh
# man_page.sh CLBAKE PAGE: the man page has every verb and every option that the command's help has, the sections that
# readers look for, and nothing that the formatter warns of (where there is one).
set -eu
clbake=$1 page=$2
bad=0
complain() { echo "$page: $*"; bad=1; }
text=$(sed 's/\\f.//g; s/\\-/-/g; s/\\&//g' "$page")
has() { printf '%s\n' "$text" | grep -qxF -- "$1" || complain "lacks '$1'"; }
has_option() { printf '%s\n' "$text" | grep -qE -- "(^|, )$2( |$)" || complain "lacks $2 of $1"; }

for section in NAME SYNOPSIS VERBS "EXIT STATUS"; do has ".SH $section"; done
verbs=$("$clbake" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
[ "$(printf '%s\n' "$verbs" | wc -l)" -ge 11 ] || complain "the help lists too few verbs: $verbs"
options=0
check_verb() {
  printf '%s\n' "$text" | grep -qE "^\.SS clbake $*( |$)" || complain "lacks the section of '$*'"
  for option in $("$clbake" "$@" --help | sed -n 's/^  .*\(--[a-z-]*\).*/\1/p'); do
    has_option "$*" "$option"
    options=$((options + 1))
  done
}
for verb in $verbs; do
  has ".B $verb"
  [ "$verb" = bench ] || check_verb "$verb"
done
for kind in bundle choice cold gemm; do check_verb bench "$kind"; done
[ "$options" -ge 80 ] || complain "only $options options were compared"
if command -v groff > /dev/null; then
  warnings=$(groff -man -ww -z "$page" 2>&1)
  [ -z "$warnings" ] || complain "$warnings"
fi
exit $bad
