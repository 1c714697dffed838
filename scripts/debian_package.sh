#!/usr/bin/env bash
# Makes the packages for Debian in dist/ of the tree in build/, which build.sh has made, and checks
# them with lintian. It needs debhelper and lintian (apt-get install debhelper lintian).
#
# A builder of Debian unpacks the source archive, moves packaging/debian to debian, and uses
# dpkg-buildpackage, which then compiles.
source "$(dirname "$0")/common.sh"

for tool in dh lintian; do
  command -v "$tool" >/dev/null ||
    fail "$tool is missing; run: apt-get install -y --no-install-recommends debhelper lintian"
done
version=$(<VERSION)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/tutti"
cp -r packaging/debian "$stage/tutti/debian"
cp THIRD_PARTY.md "$stage/tutti/"
debian=$stage/tutti/debian
date=$(git log -1 --format=%aD 2>/dev/null || date --rfc-email)
sed "s/@VERSION@/$version/; s/@DATE@/$date/" "$debian/changelog.in" >"$debian/changelog"
# A paragraph of a licence continues with lines that begin with a blank; an empty one has a point.
sed -n '/^Redistribution/,$p' LICENSE | sed 's/^$/./; s/^/ /' >"$stage/licence"
sed -i -e "/@LICENSE@/{r $stage/licence" -e 'd}' "$debian/copyright"
rm "$debian/changelog.in"

export TUTTI_TREE=$root/build CMAKE=$root/.venv/bin/cmake
(cd "$stage/tutti" && run_logged debian dpkg-buildpackage --build=binary --no-sign --no-check-builddeps)
mkdir -p dist
rm -f dist/*.deb
say "checking the packages with lintian"
lintian --fail-on error,warning --tag-display-limit 0 "$stage"/*.deb ||
  fail "lintian complains of the packages; see above"
cp "$stage"/*.deb dist/
say "made $(echo dist/*.deb)"
