#!/usr/bin/env bash
# The demonstration: a conjugate-gradient solver with and without Tutti on each host MPI, then a short benchmark.
# Expects a finished build. Writes demo-results/: what each run said, the benchmark's numbers and its plot.
source "$(dirname "$0")/common.sh"
export PATH=$root/.venv/bin:$PATH
# Open MPI asks for these two before it starts anything as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
results=demo-results
repetitions=3
rm -rf "$results"
mkdir -p "$results"

# Ways to start the solver. Where ranks outnumber cores, MPICH as it comes polls without letting others run, and its
# "yielding" setting is the fair one to compare with.
declare -A label=(
  [alone]="alone" [tutti]="with Tutti" [yielding]="alone, yielding" [yielding-tutti]="with Tutti, yielding")
yielding=(MPIR_CVAR_POLLS_BEFORE_YIELD=1 MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=mpir
  MPIR_CVAR_BARRIER_POSIX_INTRA_ALGORITHM=mpir)

# solve MPI RANKS WAY FILE: runs the solver and keeps what it said.
solve() {
  local mpi=$1 ranks=$2 way=$3 output=$4 command=(env)
  [[ $way == yielding* ]] && command+=("${yielding[@]}")
  command+=(".mpi/$mpi/bin/mpiexec" -n "$ranks")
  # Open MPI refuses more ranks than cores unless told.
  [[ $mpi == openmpi ]] && command+=(--oversubscribe)
  [[ $way == *tutti ]] && command+=(tutti-run)
  timeout 300 "${command[@]}" "build/examples/cg-$mpi" >"$output" 2>&1 </dev/null || {
    cat "$output" >&2
    fail "the solver failed: ${command[*]} build/examples/cg-$mpi; its output is in $output"
  }
}

# value NAME FILE...: what the solver said of NAME ("NAME: value", one a line); of several runs the median.
value() { sed -n "s/^$1: *//p" "${@:2}" | sort -g | awk '{ v[NR] = $0 } END { print v[int((NR + 1) / 2)] }'; }

# agree FILE...: all runs give the same solution. A reduction may add up in another order with another MPI or rank
# count, so the last digits may differ, and the last iteration; nothing more.
agree() {
  awk '$1 == "norm:" || $1 == "checksum:" { tolerance = 1e-9 * ($2 < 0 ? -$2 : $2) }
       $1 == "iterations:" { tolerance = 1 }
       $1 ~ /^(norm|checksum|iterations):$/ {
         seen[$1]++
         if (!($1 in first)) first[$1] = $2
         d = $2 - first[$1]
         if (d > tolerance || d < -tolerance) differ = 1 }
       END { exit differ || seen["norm:"] != ARGC - 1 || seen["checksum:"] != ARGC - 1 || seen["iterations:"] != ARGC - 1 }' "$@"
}

# row MPI RANKS WAY BASE: one line of the table; BASE is the way to compare with.
row() {
  local files=("$results/cg-$1-$2-$3".*.txt) base=("$results/cg-$1-$2-$4".*.txt) speedup=""
  [[ $3 != "$4" ]] && speedup=$(awk -v h="$(value seconds "${base[@]}")" -v t="$(value seconds "${files[@]}")" \
    'BEGIN { printf "%.2fx", h / t }')
  awk -v mpi="$1" -v ranks="$2" -v way="${label[$3]}" -v i="$(value iterations "${files[@]}")" \
    -v norm="$(value norm "${files[@]}")" -v sum="$(value checksum "${files[@]}")" \
    -v s="$(value seconds "${files[@]}")" -v a="$(value allreduce_seconds "${files[@]}")" -v speedup="$speedup" 'BEGIN {
    printf "%-8s %5d  %-21s %10d  %.10f  %.8f %11.2f %13.2f  %s\n", mpi, ranks, way, i, norm, sum, 1000 * s, 1000 * a, speedup }'
}

# compare MPI RANKS: runs the ways in turn, several times, so that what else the machine does hits all alike.
compare() {
  local mpi=$1 ranks=$2 ways=(alone tutti) repetition way
  [[ $mpi == mpich && $ranks -gt $(nproc) ]] && ways+=(yielding yielding-tutti)
  for ((repetition = 1; repetition <= repetitions; ++repetition)); do
    for way in "${ways[@]}"; do
      solve "$mpi" "$ranks" "$way" "$results/cg-$mpi-$ranks-$way.$repetition.txt"
    done
  done
  for way in "${ways[@]}"; do
    case $way in
      yielding*) row "$mpi" "$ranks" "$way" yielding ;;
      *) row "$mpi" "$ranks" "$way" alone ;;
    esac
  done
}

say "1. conjugate gradients on a sparse matrix; each iteration waits for two MPI_Allreduce of 8 bytes ($(nproc) cores)"
printf '%-8s %5s  %-21s %10s  %-12s  %-13s %11s %13s  %s\n' \
  MPI ranks "" iterations "norm" checksum "solved, ms" "allreduce, ms" speed-up
for mpi in mpich openmpi; do
  for ranks in 2 4; do
    compare "$mpi" "$ranks"
  done
done
agree "$results"/cg-*.txt || fail "the answers differ; see $results/cg-*.txt"
runs=("$results"/cg-*.txt)
say "the answers of all ${#runs[@]} runs agree (iterations, norm, checksum); times are medians of $repetitions runs"

say "2. tutti bench, in short"
tutti bench --quick --json "$results/bench.json" --plot "$results/bench"
say "done: $results/ has what each run said, bench.json, and the plot as bench.png and bench.svg"
