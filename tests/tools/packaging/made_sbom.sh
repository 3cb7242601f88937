#!/bin/sh
# made_sbom.sh SBOM WORK: the bill of materials of a folder of two files holds their checksums and is valid: sbom.sh.
set -eu
sbom=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
echo wheel > "$work/clbake-1.0.0-py3-none-manylinux2014_x86_64.whl"
echo source > "$work/clbake-1.0.0.tar.gz"
sums=$(cd "$work" && sha256sum -- *)
SOURCE_DATE_EPOCH=1700000000 "$sbom" 1.0.0 "$work"
echo "$sums" | while read -r sum file; do
  grep -q "\"$file\"" "$work/clbake-1.0.0.cdx.json" && grep -q "\"$sum\"" "$work/clbake-1.0.0.cdx.json" || exit 1
done || { echo "a file or its checksum is missing"; exit 1; }
grep -q '"libzstd-dev"' "$work/clbake-1.0.0.cdx.json"
exec "$(dirname "$0")/sbom.sh" "$work/clbake-1.0.0.cdx.json"
