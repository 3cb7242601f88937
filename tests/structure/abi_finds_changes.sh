#!/bin/sh
# abi_finds_changes.sh STORED.XML: abi.sh fails for each of these changes of a description, and for none without one.
set -u
here=$(dirname "$0")
stored=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/abi.sh" --compare "$stored" "$stored" > "$work/log" || { status=$?; cat "$work/log"; exit $status; }

bad=0
# finds WHAT SCRIPT-OF-SED: the changed description differs, and abi.sh says so.
finds() {
  sed "$2" "$stored" > "$work/changed.xml"
  cmp -s "$stored" "$work/changed.xml" && { echo "$1: nothing to change in $stored"; bad=1; return; }
  "$here/abi.sh" --compare "$stored" "$work/changed.xml" > "$work/log" 2>&1 && { echo "not found: $1"; bad=1; }
  ! grep -q 'abidiff failed' "$work/log" || { echo "$1:"; cat "$work/log"; bad=1; }
}
finds "a function of C that is gone" "/elf-symbol name='clbake_gemm_enqueue'/d"
finds "a function of C++ that is gone" "/elf-symbol name='_ZNK6clbake7Library7prepare/d"
finds "another symbol version" "/clbake_preload/s/version='CLBAKE_1.0'/version='CLBAKE_1.1'/"
finds "a larger struct of C" "/class-decl name='clbake_options'/s/size-in-bits='[0-9]*'/size-in-bits='9999'/"
finds "a larger struct of C++" "/class-decl name='Options'/s/size-in-bits='[0-9]*'/size-in-bits='9999'/"
finds "a field that moved" "/class-decl name='PrepareOptions'/,/<.class-decl>/s/layout-offset-in-bits='256'/layout-offset-in-bits='264'/"
finds "another number of an enumerator" "s/enumerator name='CLBAKE_NO_PROGRAM' value='34'/enumerator name='CLBAKE_NO_PROGRAM' value='35'/"
exit $bad
