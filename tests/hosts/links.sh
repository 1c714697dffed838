# Sourced by link and clusters: parses delays and rates, and shows the current ones.
#
# tests/hosts/apply reads these files in $state: `link` (nanoseconds and bits per second of every
# node's link), `groups` (the number of clusters), `between` (lines: cluster, cluster, nanoseconds,
# bits per second). shellcheck shell=bash disable=SC2154 # state: common.sh

# number TEXT UNITS...: TEXT is a number and one of the units, given as NAME=FACTOR, or 0; prints
# the product.
number() {
  local text=$1 unit
  shift
  [[ $text != 0 ]] || { echo 0; return; }
  for unit in "$@"; do
    [[ $text =~ ^([0-9]+(\.[0-9]+)?)"${unit%=*}"$ ]] || continue
    awk -v number="${BASH_REMATCH[1]}" -v factor="${unit#*=}" 'BEGIN { printf "%.0f\n", number * factor }'
    return
  done
  return 1
}

nanoseconds() { number "$1" ns=1 us=1e3 ms=1e6 s=1e9 || fail "'$1' is not a delay; write 0, 50us, 1ms or 0.5s"; }
bits() { number "$1" kbit=1e3 mbit=1e6 gbit=1e9 || fail "'$1' is not a rate; write 0 (no limit), 100mbit or 2.5gbit"; }

show() {
  awk -v d="$1" -v r="$2" 'BEGIN { printf "%g ms, %s", d / 1e6, r == 0 ? "no limit" : r / 1e6 " mbit" }'
}

show_links() {
  local a b delay rate groups
  read -r delay rate <"$state/link"
  echo "every node's link: $(show "$delay" "$rate")"
  read -r groups <"$state/groups"
  [[ $groups -gt 1 ]] || return 0
  for ((a = 1; a <= nodes; ++a)); do echo "node$a: cluster $(cluster_of "$a" "$groups")"; done
  while read -r a b delay rate; do
    echo "from cluster $a to $b: $(show "$delay" "$rate")"
  done <"$state/between"
}

# cluster_of NODE GROUPS: prints a node's cluster; clusters are consecutive nodes, as equal as
# possible.
cluster_of() { echo $((($1 - 1) * $2 / nodes + 1)); }
