#define _GNU_SOURCE
#include "measuring.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "call_series.h"
#include "forms.h"
#include "halo.h"
#include "order.h"
#include "overlap.h"
#include "series.h"

void bench_stop(const Bench* bench, const char* line) {
  fprintf(stderr, "tutti-bench: rank %d: %s\n", bench->rank, line);
  fflush(stderr);
  usleep(200000); /* launchers forward what a rank says, but drop what is on its way when a job is
                     aborted */
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static bool exchange_flags(void* of, int place, int sample, uint64_t* began) {
  (void)place, (void)sample, (void)began;
  const Bench* const bench = of;
  neutral_enter(&bench->neutral, bench->number);
  while (!neutral_all_entered(&bench->neutral, bench->number)) continue;
  return true;
}

/* The exchange is what the machine needs for two ranks to see each other's word. It is measured on
 * the cores of this job, because the cores of the next one may be nearer to each other or farther
 * apart. */
static void measure_flags(Bench* bench, Results* results) {
  if (bench->ranks != 2 || bench->neutral.yields || bench->neutral.sleeps) return;
  const Series series = {.count = 1, .subject = bench, .operate = exchange_flags};
  const int samples = series_run(bench, &series);
  if (bench->rank != 0) return;
  const SeriesTimes times = series_times(bench, &series, samples, 0);
  if (times.wholes > 0) results->flag_exchange = results_median(times.whole, times.wholes);
}

static void measure_mixed(Bench* bench, const BenchKinds* kinds, BenchCondition condition,
                          Results* results) {
  const int rounds = series_warm + BENCH_MOST_ITERATIONS / kinds->count;
  int* const order = malloc((size_t)rounds * (size_t)kinds->count * sizeof *order);
  if (order == NULL) bench_stop(bench, "no memory for the order of the kinds");
  bench_order(order, kinds->count, rounds, bench->options.seed);
  const CallSeries calls = {
      .kinds = kinds->kinds, .count = kinds->count, .order = order, .condition = condition};
  call_series_measure(bench, &calls, results);
  free(order);
}

static void measure_kinds(Bench* bench, BenchCondition condition, Results* results) {
  const BenchKinds* const kinds = &bench->options.kinds;
  if (bench->options.halo) return halo_measure(bench, results);
  if (bench->options.overlap) return overlap_measure(bench, results);
  if (condition.mixed) return measure_mixed(bench, kinds, condition, results);
  for (int i = 0; i < kinds->count; ++i) {
    const CallSeries calls = {.kinds = &kinds->kinds[i], .count = 1, .condition = condition};
    call_series_measure(bench, &calls, results);
  }
}

/* Measures the kinds of the trial's collectives. */
static void measure_trial(Bench* bench, int place, BenchCondition condition, Results* results) {
  const Trial* const trial = &bench->options.trials.trials[place];
  const char* const failed = trial_begin(trial);
  if (failed != NULL) bench_stop(bench, failed);
  const BenchKinds all = bench->options.kinds;
  BenchKinds here = {.count = 0};
  for (int i = 0; i < all.count; ++i) {
    if (trial->collectives[all.kinds[i].collective] && !kinds_append(&here, all.kinds[i]))
      bench_stop(bench, "no memory for the kinds of a trial");
  }
  const int before = results->count;
  bench->options.kinds = here;
  if (here.count > 0) measure_kinds(bench, condition, results);
  bench->options.kinds = all;
  for (int i = before; i < results->count; ++i) results->cells[i].trial = place + 1;
  free(here.kinds);
}

static void measure_trials(Bench* bench, BenchCondition condition, Results* results) {
  const int count = bench->options.trials.count;
  if (count == 0) return measure_kinds(bench, condition, results);
  int* const order = malloc((size_t)count * sizeof *order);
  if (order == NULL) bench_stop(bench, "no memory for the order of the trials");
  bench_order(order, count, 1, bench->options.seed);
  for (int i = 0; i < count; ++i) measure_trial(bench, order[i], condition, results);
  free(order);
}

static void measure_condition(Bench* bench, BenchCondition condition, Results* results) {
  ResultsHandOvers hand_overs = {.condition = condition};
  const bool known = neutral_hand_over(&bench->neutral, &hand_overs.before);
  measure_trials(bench, condition, results);
  if (known) neutral_hand_over(&bench->neutral, &hand_overs.after);
  if (known && bench->rank == 0) results->hand_overs[results->hand_over_count++] = hand_overs;
}

/* Removes kinds whose buffers would be larger than the bound, and those in a form that this MPI
 * does not have. */
static void leave_out(Bench* bench, Results* results) {
  BenchKinds* const kinds = &bench->options.kinds;
  int kept = 0;
  for (int i = 0; i < kinds->count; ++i) {
    const BenchKind* const kind = &kinds->kinds[i];
    if (!form_exists(kind->collective, kind->form))
      results->lacks_persistent = true;
    else if (kind->bytes <= cell_most_bytes(kind->collective, bench->ranks))
      kinds->kinds[kept++] = *kind;
    else if (!results_leave_out(results, *kind))
      bench_stop(bench, "no memory for the results");
  }
  kinds->count = kept;
}

/* The same for the forms of an overlap, whose kinds all have each form. */
static void leave_forms_out(Bench* bench, Results* results) {
  BenchOptions* const options = &bench->options;
  int kept = 0;
  for (int f = 0; f < options->form_count; ++f) {
    if (form_exists(BENCH_ALLREDUCE, options->forms[f]))
      options->forms[kept++] = options->forms[f];
    else
      results->lacks_persistent = true;
  }
  options->form_count = kept;
}

/* Measures in an order given by the seed, because the machine's state may change during a job. */
void bench_measure(Bench* bench, Results* results) {
  BenchCondition conditions[BENCH_MOST_CONDITIONS];
  int order[BENCH_MOST_CONDITIONS];
  const int count = bench_conditions(&bench->options, conditions);
  leave_out(bench, results);
  if (bench->options.overlap) leave_forms_out(bench, results);
  measure_flags(bench, results);
  if (bench->options.kinds.count == 0 && !bench->options.halo) return;
  bench_order(order, count, 1, bench->options.seed);
  for (int i = 0; i < count; ++i) measure_condition(bench, conditions[order[i]], results);
}
