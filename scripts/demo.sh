#!/usr/bin/env bash
# The demonstration: a conjugate-gradient solver with and without Tutti on each host MPI, then a short benchmark.
# Expects a finished build. Writes demo-results/: what each run said, the benchmark's numbers and its plot.
source "$(dirname "$0")/common.sh"
export PATH=$root/.venv/bin:$PATH
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
results=demo-results
mkdir -p "$results"
disagreements=0

# solve MPI RANKS WAY COMMAND...: runs the solver and keeps what it said.
solve() {
  local mpi=$1 ranks=$2 way=$3 output=$results/cg-$1-$2-$3.txt launcher
  shift 3
  launcher=(".mpi/$mpi/bin/mpiexec" -n "$ranks")
  # Open MPI refuses more ranks than cores unless told, and would bind several ranks to one core.
  [[ $mpi == openmpi ]] && launcher+=(--oversubscribe --bind-to none)
  timeout 300 "${launcher[@]}" "$@" "build/examples/cg-$mpi" >"$output" 2>&1 </dev/null || {
    cat "$output" >&2
    fail "the solver failed with $mpi, $ranks ranks, $way; its output is in $output"
  }
}

# value FILE NAME: what the solver said of NAME ("NAME: value", one a line).
value() { sed -n "s/^$2: *//p" "$1" | head -n 1; }

compare() {
  local mpi=$1 ranks=$2 host=$results/cg-$1-$2-host.txt tutti=$results/cg-$1-$2-tutti.txt verdict
  # Sums of a reduction may be taken in another order, so the last digits may differ, and nothing more.
  verdict=$(awk -v a="$(value "$host" norm)" -v b="$(value "$tutti" norm)" 'BEGIN {
    d = a - b; if (d < 0) d = -d; if (a < 0) a = -a
    print (a > 0 && d <= 1e-9 * a) ? "agree" : "DIFFER" }')
  [[ $verdict == agree ]] || disagreements=1
  awk -v mpi="$mpi" -v ranks="$ranks" -v h="$(value "$host" seconds)" -v t="$(value "$tutti" seconds)" \
    -v i="$(value "$tutti" iterations)" -v verdict="$verdict" 'BEGIN {
    printf "%-8s %5d %10d %12.3f %12.3f %8.2fx   %s\n", mpi, ranks, i, h, t, h / t, verdict }'
}

say "conjugate gradients on a sparse matrix; its dot products are MPI_Allreduce"
printf '%-8s %5s %10s %12s %12s %9s   %s\n' MPI ranks iterations "alone, s" "Tutti, s" speed-up answers
for mpi in mpich openmpi; do
  for ranks in 2 4; do
    solve "$mpi" "$ranks" host
    solve "$mpi" "$ranks" tutti tutti-run
    compare "$mpi" "$ranks"
  done
done
[[ $disagreements -eq 0 ]] || fail "answers differ between runs with and without Tutti; see $results/cg-*.txt"

say "tutti bench, in short"
tutti bench --quick --json "$results/bench.json" --plot "$results/bench"
say "done; see $results/"
