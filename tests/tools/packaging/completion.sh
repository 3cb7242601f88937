#!/usr/bin/env bash
# completion.sh CLBAKE SCRIPT: what the completion for bash offers after the words of a command line.
set -eu
clbake=$1
source "$2"
bad=0
# expect "OFFERS" WORD...: the words behind `clbake`, the last one unfinished.
expect() {
  local wanted=$1
  shift
  COMP_WORDS=("$clbake" "$@")
  COMP_CWORD=$#
  _clbake
  [ "${COMPREPLY[*]}" = "$wanted" ] || {
    echo "clbake $*: offers '${COMPREPLY[*]}', not '$wanted'"
    bad=1
  }
}
expect "build bench" b
expect "--help --version" --
expect "cold choice" bench c
expect "--precision --profile --programs" build --pr
expect "--peer" bench cold --pe
expect "--help" inspect --h
expect "" run gemm.clb  # bash itself completes names of files
expect "" frobnicate --x
[ "$(complete -p clbake)" = "complete -o default -F _clbake clbake" ] || bad=1
exit $bad
