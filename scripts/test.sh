#!/usr/bin/env bash
# Runs tests: test.sh quick|full. It needs a finished build (scripts/build.sh test).
#
# quick: the C++ tests labelled quick, the Python package's types, and the Python tests not marked
# slow. full: all tests; also the C++ tests labelled quick or protocol under ThreadSanitizer, and
# under AddressSanitizer with UndefinedBehaviorSanitizer; and a short run of the fuzz targets.
#
# Python tests that are marked alone run one after another. The others then run in parallel, one more
# than there are cores, because they wait for processes that start and end. Every part runs even if
# an earlier one failed. At the end the last line of each part is printed again, then the failures
# that the run may have masked, with their reasons and numbers: tests that were skipped, that were
# expected to fail, and jobs that were tried again (tests/retries.py). The exit code is 1 if any part failed.
source "$(dirname "$0")/common.sh"
mode=${1:?usage: test.sh quick|full}
export PATH=$root/.venv/bin:$PATH CMAKE_GENERATOR=Ninja
# Open MPI starts jobs of root only with these two variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The first process that runs tests compiles their modules for all others.
unset PYTHONDONTWRITEBYTECODE
summary=()
failed=0
mkdir -p "$logs"
skips=$logs/test-skips.log # a line "[  SKIPPED ] N tests" for each program of unit tests
export TEST_TUTTI_RETRIES=$logs/test-retries.log
rm -f "$skips" "$TEST_TUTTI_RETRIES"
touch "$skips" "$TEST_TUTTI_RETRIES"

# part NAME PATTERN COMMAND...: runs one part; PATTERN matches the last line of its output.
part() {
  local name=$1 pattern=$2 log=$logs/test-${1// /-}.log began=$SECONDS closing
  shift 2
  say "$name"
  "$@" </dev/null 2>&1 | tee "$log" || failed=1
  closing=$(grep -aE "$pattern" "$log" | tail -n 1) || closing="no closing line: see ${log#"$root"/}"
  summary+=("$name ($((SECONDS - began)) s):" "$closing")
}

# run_ctest TREE OPTION...: tests with several threads need all cores and run alone (tutti_test in
# cmake/Tutti.cmake).
run_ctest() {
  local code=0
  ctest --test-dir "$1" --output-on-failure --no-tests=error --timeout 300 --parallel "$jobs" \
    "${@:2}" || code=$?
  grep -hE '^\[  SKIPPED \] [0-9]+ test' "$1/Testing/Temporary/LastTest.log" >>"$skips" || true
  return "$code"
}

# closed_with WORD: the sum of the numbers before a word in the parts' last lines, as "3 skipped".
closed_with() {
  printf '%s\n' "${summary[@]}" | { grep -oE "[0-9]+ $1\\b" || true; } | awk '{ n += $1 } END { print n + 0 }'
}

masked_failures() {
  local skipped
  grep -ahE '^(SKIPPED|XFAIL|XPASS)' "$logs"/test-python-tests*.log || true
  sed 's/^/tried again: /' "$TEST_TUTTI_RETRIES"
  skipped=$(($(closed_with skipped) + $(awk '{ n += $4 } END { print n + 0 }' "$skips")))
  echo "masked failures: $skipped skipped, $(closed_with xfailed) expected to fail," \
    "$(closed_with xpassed) expected to fail that passed, $(wc -l <"$TEST_TUTTI_RETRIES") tried again"
}

# ungroup_sessions: has the kernel schedule each thread by itself, and not each session as a group,
# until the tests end, where this user may. The groups of Linux 6.18 can starve ranks for a minute
# (docs/decisions/waiting-with-more-ranks-than-cores.md).
ungroup_sessions() {
  local setting=/proc/sys/kernel/sched_autogroup_enabled
  [[ -w $setting && $(<"$setting") == 1 ]] || return 0
  say "sessions are not scheduled as groups until the tests end (kernel.sched_autogroup_enabled=0)"
  echo 0 >"$setting"
  # shellcheck disable=SC2064 # the name is known now
  trap "echo 1 >$setting" EXIT
}

# begin_tree NAME COMMAND...: begins to build a tree that a later part needs, at the lowest priority,
# because tests of threads leave cores idle.
begin_tree() {
  local log=$logs/tree-$1.log
  rm -f "$log.built"
  (
    renice -n 19 "$BASHPID" >/dev/null
    "${@:2}" </dev/null >"$log" 2>&1 && touch "$log.built"
  ) &
}

finish_tree() {
  say "building build/$1"
  wait
}

# with_tree NAME COMMAND...: runs a command that needs a tree, whose building has ended.
with_tree() {
  local log=$logs/tree-$1.log
  if [[ ! -f $log.built ]]; then
    tail -n 40 "$log"
    return 1
  fi
  "${@:2}"
}

# sanitizer_tree DIRECTORY SANITIZERS: builds a separate tree with its quick and protocol tests.
sanitizer_tree() {
  cmake -S . -B "$1" -DTUTTI_TESTS=ON -DTUTTI_SANITIZE="$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo &&
    cmake --build "$1" --parallel "$jobs" --target unit_tests
}
sanitizer_tests() { run_ctest "build/$1" -L '^(quick|protocol)$'; }

# python_tests AND_MARKS OPTION...: runs the Python tests, in two parts.
python_tests() { python -m pytest --numprocesses $((jobs + 1)) -m "not alone$1" "${@:2}"; }
python_tests_alone() { python -m pytest -m "alone$1" "${@:2}"; }

ctest_line='^[0-9]+% tests passed|^No tests were found' # newer versions omit ", 0 tests failed"
mypy_line='^Success:|^Found [0-9]+ error'
fuzz_line='^== fuzzing: '
pytest_line='^=+ .* in [0-9.]+s'
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
export ASAN_OPTIONS=${ASAN_OPTIONS:-strict_string_checks=1:detect_stack_use_after_return=1}

ungroup_sessions
case $mode in
  quick)
    part "unit tests" "$ctest_line" run_ctest build -L quick
    part "types" "$mypy_line" mypy --cache-dir build/mypy
    part "python tests that run alone" "$pytest_line" python_tests_alone " and not slow"
    part "python tests" "$pytest_line" python_tests " and not slow"
    ;;
  full)
    begin_tree tsan sanitizer_tree build/tsan thread
    part "unit tests" "$ctest_line" run_ctest build
    finish_tree tsan
    begin_tree asan sanitizer_tree build/asan address,undefined
    part "thread sanitizer" "$ctest_line" with_tree tsan sanitizer_tests tsan
    finish_tree asan
    begin_tree fuzz tests/fuzz/run.sh build
    part "address sanitizer" "$ctest_line" with_tree asan sanitizer_tests asan
    finish_tree fuzz
    part "fuzzing" "$fuzz_line" with_tree fuzz tests/fuzz/run.sh 8
    part "types" "$mypy_line" mypy --cache-dir build/mypy
    part "python tests that run alone" "$pytest_line" python_tests_alone "" --durations=15
    part "python tests" "$pytest_line" python_tests "" --durations=25
    ;;
  *) fail "unknown mode '$mode'; test.sh knows quick and full" ;;
esac

say "$mode tests: $([[ $failed -eq 0 ]] && echo passed || echo FAILED)"
printf '%s\n' "${summary[@]}"
masked_failures
exit "$failed"
