#!/bin/sh
# small.sh ROOT: the project stays small: lines of the product and of the tests, words of the pages. And no comment opens
# with "What", "Of", "Where" or "Whether", which hide its subject. Prints the figures; fails where one is too large.
set -u
cd "$1" || exit 1
bad=0
# at_most LIMIT FIGURE WHAT
at_most() {
  echo "$3: $2, at most $1"
  [ "$2" -le "$1" ] || bad=1
}
sources() { git ls-files -- "$@" | grep -E '\.(cpp|hpp|h|cl|c|py|js|css|html|inc)$'; }
lines() { sources "$@" | xargs cat | wc -l; }
words() { git ls-files -- "$@" | xargs cat | wc -w; }

for room in builder cache kernels runtime tools; do
  echo "$room: $(lines $room) lines"
done
at_most 69514 "$(lines builder cache kernels runtime tools)" "lines of the product"
at_most 47234 "$(lines tests)" "lines of the tests"
at_most 36239 "$(words '*.md')" "words of the pages"
at_most 1400 "$(words README.md)" "words of README.md"
at_most 2345 "$(words tools/BENCHMARKS.md)" "words of tools/BENCHMARKS.md"
at_most 2500 "$(words kernels/MEASUREMENTS.md)" "words of kernels/MEASUREMENTS.md"

# A comment's first line: no comment on the line before, or code before it. Scripts have comments, too.
scripts() { git grep -lIE '^#!.*(sh|python3?)$' -- "$@"; }
openings=$({ sources builder cache kernels runtime tools tests; scripts .ci tools tests; } | sort -u | xargs awk '
  { own = /^[ \t]*(\/\/|\/\*|\*|#[^a-z!]|""")/; before = FNR > 1 && comment; comment = own }
  (!before || !own) && /(^|[ \t;{(,])(\/\/|\/\*|# |""") *(What|Of|Where|Whether)[ ,]/ { print FILENAME ":" FNR ": " $0 }')
at_most 0 "$(printf '%s' "$openings" | grep -c .)" "comments that open with What, Of, Where or Whether"
[ -z "$openings" ] || printf '%s\n' "$openings"
exit $bad
