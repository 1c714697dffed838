# Sourced by the scripts of this directory: sets strict mode, and knows where the state of a set of
# nodes is and how to enter its namespaces.
#
# A set of nodes is one tree of processes. Its root is the hub, the first process of a PID
# namespace that contains all others. When the hub ends, the kernel ends these too, and then
# removes the namespaces, devices and mounts. So the only state to keep is the hub's process, and
# killing it removes everything. shellcheck shell=bash
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
state=${HOSTS_STATE:-/run/tutti-hosts} # another directory is another set of nodes
export HOSTS_STATE=$state

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# skip REASON: this machine cannot do it; test runners take the exit code as a skipped test.
skip() {
  printf '%s: skipped: %s\n' "${0##*/}" "$*" >&2
  exit 77
}

# help_or_go_on "$@": prints the comment at the head of the calling script if it was asked for.
help_or_go_on() {
  [[ ${1:-} == --help || ${1:-} == -h ]] || return 0
  sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"
  exit 0
}

# same_process FILE: prints the id of the process that FILE names, if it still runs. FILE has the
# id and the time when the process started, because ids are reused.
same_process() {
  local pid started
  { read -r pid started <"$1"; } 2>/dev/null || return 1
  [[ -n ${started:-} && $(started_at "$pid") == "$started" ]] && echo "$pid"
}

# started_at PID: prints field 22 of its stat; nothing for a process that has ended. Fields are
# counted after the name, which may contain spaces.
started_at() {
  local stat fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
  read -ra fields <<<"${stat##*) }"
  [[ ${fields[0]} == Z ]] || echo "${fields[19]}"
}

hub() { same_process "$state/hub"; }

require_nodes() {
  hub >/dev/null && [[ -e $state/ready ]] || fail "there are no nodes; tests/hosts/up N makes them"
  read -r nodes <"$state/nodes"
}

# node_number TEXT: fails unless it is the number of a node.
node_number() {
  [[ $1 =~ ^[1-9][0-9]{0,3}$ && $1 -le $nodes ]] || fail "there is no node '$1'; there are nodes 1 to $nodes"
}

# locked: takes the lock, so that only one script at a time changes a set of nodes. The lock ends
# with this process.
locked() {
  exec 9<"$here"
  flock 9
}

# remove_nodes: ends the hub, which is the only child of the process that made its namespaces, and
# with it everything.
remove_nodes() {
  local hub first='' tries
  if hub=$(hub); then
    { read -r first _ <"/proc/$hub/task/$hub/children"; } 2>/dev/null || true
    [[ -z $first ]] || kill -KILL "$first" 2>/dev/null || true
    kill -KILL "$hub" 2>/dev/null || true
    # The first process of a PID namespace ends after all others in it.
    for ((tries = 0; tries < 500; ++tries)); do
      [[ -z $(started_at "${first:-$hub}")$(started_at "$hub") ]] && break
      sleep 0.02
    done
    [[ $tries -lt 500 ]] || fail "process $hub does not end"
  fi
  rm -rf "$state"
}

# go_in PID OPTION... -- COMMAND...: replaces this process by nsenter. The command gets SIGTERM
# when the process that waits for it ends. nsenter loses the working directory, so it is entered
# again by name.
go_in() {
  local pid=$1 options=()
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  # shellcheck disable=SC2016 # expanded by the inner shell
  exec setpriv --pdeathsig TERM nsenter --target "$pid" --net "${options[@]}" -- \
    setpriv --pdeathsig TERM sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"
}

# go_to_hub COMMAND...: replaces this process by a command in the hub, which has the nodes' devices
# and sees all their processes.
go_to_hub() {
  local hub
  hub=$(hub)
  go_in "$hub" --mount --ipc --pid="/proc/$hub/ns/pid_for_children" -- "$@"
}

# go_to_place PLACE COMMAND...: replaces this process, in the hub, by a command in `front` or
# `nodeK`.
go_to_place() {
  local place=$1 pid
  shift
  { read -r pid <"$state/pid.$place"; } 2>/dev/null || fail "there is no '$place'"
  if [[ $place == front ]]; then
    go_in "$pid" --uts -- "$@"
  else
    [[ ! -e $state/cores.$place ]] || set -- taskset --cpu-list "$(<"$state/cores.$place")" "$@"
    go_in "$pid" --uts --ipc --mount --pid="/proc/$pid/ns/pid_for_children" -- "$@"
  fi
}
