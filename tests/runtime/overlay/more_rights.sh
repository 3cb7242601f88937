#!/bin/sh
# more_rights.sh PROGRAM WORK: a program with the rights of another group takes no directory from its user.
set -u
rm -rf "$2"
mkdir -p "$2"
export XDG_CACHE_HOME=/caches
said=$("$1")
[ "$said" = "as its user: /caches/my-app/clbake" ] || { echo "as it is: $said"; exit 1; }
cp "$1" "$2/setgid"
chgrp 1 "$2/setgid" && chmod 2755 "$2/setgid" || { echo "only root can give a program to another group"; exit 77; }
said=$("$2/setgid")
case $said in
  "more rights: not found") exit 0 ;;
  "as its user: "*) echo "a file system without such rights"; exit 77 ;;
esac
echo "setgid: $said"
exit 1
