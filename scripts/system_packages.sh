#!/usr/bin/env bash
# Installs missing system packages: system_packages.sh build|test
#
# As root on a system with apt it installs them; otherwise it prints the command to run.
source "$(dirname "$0")/common.sh"
use=${1:?usage: system_packages.sh build|test}

missing_packages() {
  local package needed_by probe
  while read -r package needed_by probe; do
    [[ -z $package || $package == \#* ]] && continue
    [[ $needed_by == test && $use == build ]] && continue
    bash -c "$probe" >/dev/null 2>&1 </dev/null || echo "$package"
  done <scripts/requirements/apt.txt
}

mapfile -t missing < <(missing_packages)
[[ ${#missing[@]} -eq 0 ]] && exit 0

remedy="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null; then
  fail "missing ${missing[*]} (Debian's names); install them with this system's package manager," \
    "then run make again"
fi
if [[ $(id -u) -ne 0 ]]; then
  fail "missing ${missing[*]}; run: sudo sh -c '$remedy'"
fi

say "installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# An index or a mirror that fails once is asked again.
run_logged apt-update apt-get -o Acquire::Retries=3 update
run_logged apt-install apt-get -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"

mapfile -t missing < <(missing_packages)
if [[ ${#missing[@]} -gt 0 ]]; then
  fail "still missing after apt-get install: ${missing[*]}; scripts/requirements/apt.txt has the" \
    "test for each (PYTHON is $PYTHON)"
fi
