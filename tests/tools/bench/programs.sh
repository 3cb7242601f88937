#!/bin/bash
# programs.sh SOURCES: tools/bench-programs times a program in the ways that it is asked for, compares what
# the program prints and writes, and says what is wrong.
set -euo pipefail
sources=$1
bench() { "$sources/tools/bench-programs" --rounds 2 "$@"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() { echo "programs.sh: $*"; exit 1; }
# refused TEXT ARGUMENTS...: the command fails and says TEXT.
refused() {
  local text=$1 said
  shift
  if said=$(bench "$@" 2>&1); then fail "not refused: $*"; fi
  case "$said" in *"$text"*) ;; *) fail "'$said' does not contain '$text'" ;; esac
}

cat > program << 'END'
#!/bin/bash
echo "took $RANDOM ms"
if [ -e "$POCL_CACHE_DIR/kept" ]; then echo "number 7"; else echo "number 5"; fi >> written
touch "$POCL_CACHE_DIR/kept" "$HOME/own-cache"
echo hello
END
chmod +x program

bench --ways empty,warm --ignore took --csv rows.csv -- ./program > table
[ "$(cut -d, -f2,8,9 rows.csv | tr '\n' ' ')" = "way,rounds,same_output empty,2,yes warm,2,yes " ] || fail "$(cat rows.csv)"
grep -q "^program .* warm .* same$" table || fail "$(cat table)"

refused DIFFERS --ways empty -- ./program
refused DIFFERS --ways empty,warm --ignore took --output written -- ./program
printf '#!/bin/bash\nexec 3>&1\necho "number 5"\necho "home $(ls "$HOME" | wc -l)"\ntouch "$HOME/x"\n' > program
bench --ways empty --number 'number ([0-9]+)' -- ./program | grep -q ' 5  same$' || fail "a number is not shown"
bench --ways warm -- ./program > /dev/null || fail "a program's own cache is kept"
refused "did not end in 1 s" --timeout 1 --ways empty -- sleep 60
refused "there are empty, warm" --ways cold -- ./program
refused "No such file" --ways empty -- ./absent
refused "left no recording" --ways served --clbake /bin/true -- ./program
