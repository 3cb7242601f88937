#!/bin/sh
# in_container.sh PROGRAM: as containers run programs: no variables, a user without a name or home who can write nowhere.
set -u
[ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null || { echo "not root, or no setpriv"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$1" "$work/app" && chmod 755 "$work" "$work/app"
bad=0

# says EXPECTED VARIABLES... -- ARGUMENTS...: what the user 4242 gets.
says() {
  expected=$1 variables=
  shift
  while [ "$1" != -- ]; do variables="$variables $1"; shift; done
  shift
  # shellcheck disable=SC2086
  said=$(cd / && env -i $variables setpriv --reuid 4242 --regid 4242 --clear-groups "$work/app" "$@" 2>&1)
  [ "$said" = "$expected" ] || { echo "$variables, $*: $said; not: $expected"; bad=1; }
}

# An administrator makes the bundle, and an overlay for all of what was compiled.
said=$(XDG_CACHE_HOME=$work/cache "$work/app" "$work/app.clbake")
[ "$said" = "$work/cache/app/clbake: opened
native source" ] || { echo "$said"; exit 1; }
chmod 644 "$work/app.clbake"
install -d -m 755 "$work/shared"
install -m 644 "$work/cache/app/clbake/"*.clbake "$work/shared"

says 'no cache directory: invalid argument
native source' -- "$work/app.clbake"
says 'no cache directory: opened
native overlay' -- "$work/app.clbake" "$work/shared"
says '//.cache/app/clbake: not found
native source' HOME=/ -- "$work/app.clbake"
says '//.cache/app/clbake: not found
native overlay' HOME=/ -- "$work/app.clbake" "$work/shared"
says '/nonexistent/.cache/app/clbake: not found
native source' HOME=/nonexistent -- "$work/app.clbake"
says 'no cache directory: invalid argument
native source' HOME=relative -- "$work/app.clbake"
# A volume that the user may write to.
install -d -o 4242 -m 700 "$work/volume"
for origin in source overlay; do
  says "$work/volume/app/clbake: opened
native $origin" XDG_CACHE_HOME="$work/volume" -- "$work/app.clbake"
done
# One that all may write to is no overlay, nor is another user's.
install -d -o 4242 -m 777 "$work/open/app/clbake"
chmod 777 "$work/open/app/clbake" && chown 4242 "$work/open/app/clbake"
says "$work/open/app/clbake: input/output
native source" XDG_CACHE_HOME="$work/open" -- "$work/app.clbake"
says "$work/cache/app/clbake: input/output
native source" XDG_CACHE_HOME="$work/cache" -- "$work/app.clbake"
exit $bad
