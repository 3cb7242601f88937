# Completion of the clbake command for bash. It asks the command itself, so it knows what the installed version knows.

# The verbs of `clbake --help`, or the benchmarks of `clbake bench --help`.
_clbake_verbs() { "$@" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p'; }
# The long options in the help of the words given.
_clbake_options() { "$@" --help 2>/dev/null | sed -n 's/^  \(-. \[ \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'; }

_clbake() {
  local command=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_clbake_verbs "$command") --help --version" -- "$word")
  elif [ "$COMP_CWORD" -eq 2 ] && [ "$first" = bench ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_clbake_verbs "$command" bench) --help" -- "$word")
  elif [[ $word == -* ]]; then
    local verb=("$first")
    [ "$first" != bench ] || verb+=("${COMP_WORDS[2]}")
    mapfile -t COMPREPLY < <(compgen -W "$(_clbake_options "$command" "${verb[@]}")" -- "$word")
  fi  # else files, as bash does by default
}
complete -o default -F _clbake clbake
