#!/usr/bin/env bash
# Fuzzes the readers of untrusted text: run.sh SECONDS [TARGET...]. It builds the targets in
# build/fuzz with clang and runs each for that many seconds, as many at once as there are cores
# (JOBS). `run.sh build` only builds them.
#
# The texts that a target has collected stay in build/fuzz/corpus, and a later run goes on from
# there. A text that breaks a promise is written to build/fuzz/found and printed with the command
# that repeats the failure; the exit code is then 1.
source "$(dirname "$0")/../../scripts/common.sh"
all=(plan_text tree_text map shape)
seconds=${1:?usage: run.sh SECONDS [TARGET...]; targets are ${all[*]}}
[[ $seconds =~ ^[1-9][0-9]*$ || $seconds == build ]] || fail "'$seconds' is no number of seconds; usage: run.sh SECONDS [TARGET...]"
shift
targets=("$@")
[[ $# -gt 0 ]] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || fail "there is no fuzz target '$target'; targets are ${all[*]}"
done
export PATH=$root/.venv/bin:$PATH
tree=$root/build/fuzz

# Debian packages the library separately from the compiler.
has_libfuzzer() {
  command -v clang++ >/dev/null && compgen -G "$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*" >/dev/null
}

# fuzz TARGET: runs a target with its output in a file; prints the texts that it found, if any, and
# how to repeat each failure.
fuzz() {
  local target=$1 program=$tree/tests/fuzz/fuzz_$1 log=$tree/$1.log found=$tree/found/$1- seeds=("tests/fuzz/seeds/$1") text
  [[ $target == shape ]] || seeds+=(plans)
  mkdir -p "$tree/corpus/$target" "$tree/found"
  rm -f "$found"*
  timeout --kill-after=10 $((seconds + 120)) "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len=4096 -reload=0 -print_final_stats=1 -dict="tests/fuzz/$target.dict" -artifact_prefix="$found" \
    "$tree/corpus/$target" "${seeds[@]}" >"$log" 2>&1 </dev/null && return
  grep -aE '^broken promise|ERROR|runtime error|terminate called|what\(\)|^ +#[0-9]+ .* tutti::' "$log" | head -n 30 || true
  for text in "$found"*; do
    [[ -e $text ]] || fail "fuzz_$target did not run; its output is in ${log#"$root"/}"
    printf '%s found by fuzz_%s:\n' "${text#"$root"/}" "$target"
    head -c 2048 "$text" | cat -v
    printf '\nrepeat it: %s %s\n' "${program#"$root"/}" "${text#"$root"/}"
  done
  return 1
}

if ! has_libfuzzer; then
  say "fuzzing: skipped, there is no clang with libFuzzer; get it by: apt-get install clang libclang-rt-dev"
  exit 0
fi
run_logged fuzz-configure env CC=clang CXX=clang++ CMAKE_GENERATOR=Ninja cmake -S . -B "$tree" -DTUTTI_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
compile fuzz-build "$tree"
[[ $seconds != build ]] || exit 0

# The reason of a target's failure in one line: the broken promise, or the sanitizers' message.
reason() { grep -saoE -m1 'broken promise: .*|ERROR: .*|runtime error: .*|terminate called .*' "$tree/$1.log" | cut -c -300 || true; }

failed=()
for ((first = 0; first < ${#targets[@]}; first += jobs)); do
  batch=("${targets[@]:first:jobs}") processes=()
  for target in "${batch[@]}"; do
    fuzz "$target" &
    processes+=($!)
  done
  for i in "${!batch[@]}"; do
    wait "${processes[i]}" || failed+=("${batch[i]}")
  done
done

inputs=0
for target in "${targets[@]}"; do
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tree/$target.log" | tail -n 1)
  [[ ${count:-0} -gt 0 || " ${failed[*]} " == *" $target "* ]] || failed+=("$target")
  inputs=$((inputs + ${count:-0}))
done
if [[ ${#failed[@]} -gt 0 ]]; then
  for i in "${!failed[@]}"; do failed[i]+=" ($(reason "${failed[i]}"))"; done
  say "fuzzing: FAILED in ${failed[*]}; ${#targets[@]} targets, $inputs texts"
  exit 1
fi
say "fuzzing: passed; ${#targets[@]} targets, $seconds s each, $inputs texts"
