#include "overlap.h"

#include <mpi.h>

#include "call_series.h"

/* The forms of one kind without and with a computation. */
static void measure_kind(Bench* bench, int place, Results* results) {
  const BenchOptions* const options = &bench->options;
  BenchKind kind = options->kinds.kinds[place];
  double microseconds = 0;
  for (int f = 0; f < options->form_count; ++f) {
    kind.form = options->forms[f];
    const CallSeries calls = {.kinds = &kind, .count = 1};
    const double median = call_series_measure(bench, &calls, results);
    if (kind.form == BENCH_BLOCKING) microseconds = median;
  }
  if (options->computing_count > 0)
    microseconds = options->computing[options->computing_count > 1 ? place : 0];
  MPI_Bcast(&microseconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (WorkLoop loop = WORK_ARITHMETIC; loop < WORK_LOOPS; ++loop) {
    CallSeries calls = {.kinds = &kind, .count = 1, .loop = loop, .computing = microseconds};
    calls.turns = work_turns(&bench->work, loop, microseconds, &bench->neutral.clock);
    kind.form = BENCH_BLOCKING;
    calls.alone = true;
    call_series_measure(bench, &calls, results);
    calls.alone = false;
    for (int f = 0; f < options->form_count; ++f) {
      kind.form = options->forms[f];
      call_series_measure(bench, &calls, results);
    }
  }
}

void overlap_prepare(Bench* bench, int kinds) {
  const int durations = bench->options.computing_count;
  if (durations > 1 && durations != kinds)
    bench_stop(bench, "--overlap has neither one number nor one for each kind or size of a face");
  for (WorkLoop loop = WORK_ARITHMETIC; loop < WORK_LOOPS; ++loop) {
    neutral_meet(&bench->neutral);
    work_measure(&bench->work, loop, &bench->neutral.clock);
  }
}

void overlap_measure(Bench* bench, Results* results) {
  overlap_prepare(bench, bench->options.kinds.count);
  for (int place = 0; place < bench->options.kinds.count; ++place)
    measure_kind(bench, place, results);
}
