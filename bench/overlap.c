#include "overlap.h"

#include <mpi.h>

#include "call_series.h"

void overlap_of(Bench* bench, int place, const OverlapSubject* subject) {
  const BenchOptions* const options = &bench->options;
  const Computation none = {.loop = WORK_NONE};
  double microseconds = 0;
  for (int form = 0; form < subject->forms; ++form) {
    const double median = subject->measure(subject->of, form, &none);
    if (form == subject->blocking) microseconds = median;
  }
  if (options->computing_count > 0)
    microseconds = options->computing[options->computing_count > 1 ? place : 0];
  MPI_Bcast(&microseconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (WorkLoop loop = WORK_ARITHMETIC; loop < WORK_LOOPS; ++loop) {
    const uint64_t turns = work_turns(&bench->work, loop, microseconds, &bench->neutral.clock);
    Computation beside = {loop, turns, microseconds, .alone = true};
    subject->measure(subject->of, 0, &beside);
    beside.alone = false;
    for (int form = 0; form < subject->forms; ++form) subject->measure(subject->of, form, &beside);
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

/* A kind of calls, whose forms are those of the options. */
typedef struct {
  Bench* bench;
  BenchKind kind;
} Calls;

static double measure_form(void* of, int form, const Computation* beside) {
  Calls* const calls = of;
  calls->kind.form = (BenchForm)calls->bench->options.forms.chosen[form];
  if (beside->alone) calls->kind.form = BENCH_BLOCKING;
  const CallSeries series = {.kinds = &calls->kind, .count = 1, .beside = *beside};
  return call_series_measure(calls->bench, &series);
}

void overlap_measure(Bench* bench, BenchCondition condition) {
  (void)condition;
  const BenchKinds* const kinds = &bench->options.kinds;
  const WordList* const forms = &bench->options.forms;
  overlap_prepare(bench, kinds->count);
  for (int place = 0; place < kinds->count; ++place) {
    Calls calls = {bench, kinds->kinds[place]};
    OverlapSubject subject = {&calls, forms->count, -1, measure_form};
    for (int form = 0; form < forms->count; ++form)
      if (forms->chosen[form] == BENCH_BLOCKING) subject.blocking = form;
    overlap_of(bench, place, &subject);
  }
}
