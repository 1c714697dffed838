#!/usr/bin/env bash
# Installs what build.sh has made: install.sh PREFIX
#
# CMake installs the libraries, the headers and tutti-run. The command `tutti` is the wheel, which
# gets a Python environment of its own (PREFIX/lib/tutti), so that the packages that it needs
# disturb no other program's.
source "$(dirname "$0")/common.sh"

prefix=$(realpath -m "$1")
environment=$prefix/lib/tutti
wheels=(build/wheel/*.whl)

.venv/bin/cmake --install build --prefix "$prefix"
if [[ -n ${DESTDIR:-} ]]; then
  # An environment cannot be moved, so it is not made where it does not stay.
  say "DESTDIR is set, so the command tutti is left out; pip installs it from ${wheels[0]}"
  exit
fi
say "installing the command tutti into $prefix/bin"
"$PYTHON" -m venv --clear "$environment" || fail "cannot create $environment"
find "$environment" -type d -empty -delete # for headers of packages, which come later if at all
run_logged install-tutti "$environment/bin/python" -m pip install "${wheels[0]}"
ln -sfn ../lib/tutti/bin/tutti "$prefix/bin/tutti"
