# Sourced by the other scripts: sets strict mode and the repository's root as working directory, and
# defines the functions that print messages and run commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
export PYTHON=${PYTHON:-python3}
export PIP_DISABLE_PIP_VERSION_CHECK=1
jobs=${JOBS:-$(nproc)}
logs=$root/build/logs

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'make: %s\n' "$*" >&2
  exit 2
}

# compile NAME TREE [TARGET...]: runs cmake --build and shows one progress bar; the log has all
# output.
compile() {
  local log=$logs/$1.log tree=$2
  shift 2
  mkdir -p "$logs"
  cmake --build "$tree" --parallel "$jobs" ${1:+--target "$@"} 2>&1 </dev/null |
    "$PYTHON" scripts/progress.py "$log"
}

# run_logged NAME COMMAND...: prints nothing if the command succeeds, else the end of its output.
# The message has the beginning of a long command; the log's first line has all of it.
run_logged() {
  local log=$logs/$1.log shown="${*:2}"
  [[ ${#shown} -gt 60 ]] && shown="${shown:0:57}..."
  shift
  mkdir -p "$logs"
  printf '%s\n' "$*" >"$log"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n +2 "$log" | tail -n 40 >&2
    fail "'$shown' failed; its full output is in ${log#"$root"/}"
  fi
}
