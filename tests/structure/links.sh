#!/bin/sh
# links.sh ROOT: every link of the pages to a file of the project leads to one, every link to a section to a heading; and
# the README stays short.
set -u
cd "$1" || exit 1
bad=0
complain() { echo "$*"; bad=1; }

# The anchors of a page's headings, as GitHub makes them.
anchors() { sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'; }

links=0
for page in *.md .github/*.md */*.md */*/*.md; do
  for link in $(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^https*:'); do
    links=$((links + 1))
    file=$(dirname "$page")/${link%%#*}
    [ "${link%%#*}" ] || file=$page
    if [ ! -e "$file" ]; then
      complain "$page: '$link' leads nowhere"
    elif [ "$link" != "${link#*#}" ]; then
      anchors "$file" | grep -qx -- "${link#*#}" || complain "$page: '$link': $file has no such heading"
    fi
  done
done
[ $links -ge 40 ] || complain "only $links links were found: is the pattern wrong?"
words=$(wc -w < README.md)
[ "$words" -le 1400 ] || complain "README.md has $words words; 1400 are the most"
exit $bad
