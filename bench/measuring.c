#define _GNU_SOURCE
#include "measuring.h"

#include <stdio.h>
#include <stdlib.h>

#include "call_series.h"
#include "calls.h"
#include "halo.h"
#include "order.h"
#include "overlap.h"
#include "rows.h"
#include "series.h"

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
static void measure_flags(Bench* bench) {
  if (bench->ranks != 2 || bench->neutral.yields || bench->neutral.sleeps) return;
  const Series series = {.count = 1, .subject = bench, .operate = exchange_flags};
  const int samples = series_run(bench, &series);
  const double median = bench->rank == 0 ? series_median(bench, &series, samples, 0) : 0;
  if (median <= 0) return;
  row_begin("flag_exchange");
  row_number("ns", median);
  row_end();
}

static void measure_mixed(Bench* bench, const BenchKinds* kinds, BenchCondition condition) {
  const int rounds = series_warm + BENCH_MOST_ITERATIONS / kinds->count;
  int* const order = malloc((size_t)rounds * (size_t)kinds->count * sizeof *order);
  if (order == NULL) bench_stop(bench, "no memory for the order of the kinds");
  bench_order(order, kinds->count, rounds, bench->options.seed);
  const CallSeries calls = {
      .kinds = kinds->kinds, .count = kinds->count, .order = order, .condition = condition};
  call_series_measure(bench, &calls);
  free(order);
}

static void measure_calls(Bench* bench, BenchCondition condition) {
  const BenchKinds* const kinds = &bench->options.kinds;
  if (kinds->count == 0) return;
  if (condition.mixed) return measure_mixed(bench, kinds, condition);
  for (int i = 0; i < kinds->count; ++i) {
    const CallSeries calls = {.kinds = &kinds->kinds[i], .count = 1, .condition = condition};
    call_series_measure(bench, &calls);
  }
}

/* The kinds of measurements, as the options name them. */
static void (*const measurements[BENCH_MEASUREMENTS])(Bench* bench, BenchCondition condition) = {
    [BENCH_CALLS] = measure_calls,
    [BENCH_OVERLAP] = overlap_measure,
    [BENCH_HALO] = halo_measure,
};

static void measure(Bench* bench, BenchCondition condition) {
  measurements[bench->options.measurement](bench, condition);
}

/* Measures the kinds of the trial's collectives. */
static void measure_trial(Bench* bench, int place, BenchCondition condition) {
  const Trial* const trial = &bench->options.trials.trials[place];
  const char* const failed = trial_begin(trial);
  if (failed != NULL) bench_stop(bench, failed);
  const BenchKinds all = bench->options.kinds;
  BenchKinds here = {.count = 0};
  for (int i = 0; i < all.count; ++i) {
    if (trial->collectives[all.kinds[i].collective] && !kinds_append(&here, all.kinds[i]))
      bench_stop(bench, "no memory for the kinds of a trial");
  }
  bench->trial = place + 1;
  bench->options.kinds = here;
  measure(bench, condition);
  bench->options.kinds = all;
  free(here.kinds);
}

static void measure_trials(Bench* bench, BenchCondition condition) {
  const int count = bench->options.trials.count;
  if (count == 0) return measure(bench, condition);
  int* const order = malloc((size_t)count * sizeof *order);
  if (order == NULL) bench_stop(bench, "no memory for the order of the trials");
  bench_order(order, count, 1, bench->options.seed);
  for (int i = 0; i < count; ++i) measure_trial(bench, order[i], condition);
  free(order);
}

/* With the time in which a cache line goes from core to core, before and after; there is none where
 * ranks may share cores. */
static void measure_condition(Bench* bench, BenchCondition condition) {
  double before, after;
  const bool known = neutral_hand_over(&bench->neutral, &before);
  measure_trials(bench, condition);
  if (known) neutral_hand_over(&bench->neutral, &after);
  if (!known || bench->rank != 0) return;
  row_begin("hand_over");
  row_text("condition", bench_condition_name(condition));
  row_number("before_ns", before);
  row_number("after_ns", after);
  row_end();
}

/* Says which collectives and sizes are left out, once for all roots and forms. */
static void say_left_out(const BenchKinds* left_out) {
  if (left_out->count == 0) return;
  fprintf(stderr, "tutti-bench: left out, for more than %d MiB of buffers a rank:", CELL_BOUND_MIB);
  for (int i = 0; i < left_out->count; ++i) {
    const BenchKind* const kind = &left_out->kinds[i];
    const char* const name = bench_collective_names[kind->collective];
    const bool first = i == 0 || kind->collective != left_out->kinds[i - 1].collective;
    if (first) fprintf(stderr, "%s %s of", i ? ";" : "", name);
    fprintf(stderr, "%s %zu", first ? "" : ",", kind->bytes);
    row_begin_call("left_out", name, kind->bytes);
    row_end();
  }
  fputs(" bytes\n", stderr);
}

static void say_lack(void) {
  fputs(
      "tutti-bench: left out: persistent collectives, which this MPI does not have (they came with "
      "MPI 4.0)\n",
      stderr);
  row_begin("left_out");
  row_text("form", bench_form_names[BENCH_PERSISTENT]);
  row_end();
}

/* Removes kinds whose buffers would be larger than the bound, and those in a form that this MPI
 * does not have. */
static void leave_out(Bench* bench) {
  BenchKinds *const kinds = &bench->options.kinds, left_out = {.count = 0};
  int kept = 0;
  for (int i = 0; i < kinds->count; ++i) {
    const BenchKind kind = kinds->kinds[i],
                    size = {.collective = kind.collective, .bytes = kind.bytes};
    if (!call_exists(kind.collective, kind.form))
      bench->lacks_persistent = true;
    else if (kind.bytes <= cell_most_bytes(kind.collective, bench->ranks))
      kinds->kinds[kept++] = kind;
    else if (!kinds_add(&left_out, size))
      bench_stop(bench, "no memory for what is left out");
  }
  kinds->count = kept;
  if (bench->rank == 0) say_left_out(&left_out);
  free(left_out.kinds);
}

/* The same for the forms of an overlap, whose kinds all have each form. */
static void leave_forms_out(Bench* bench) {
  WordList* const forms = &bench->options.forms;
  int kept = 0;
  for (int f = 0; f < forms->count; ++f) {
    if (call_exists(BENCH_ALLREDUCE, (BenchForm)forms->chosen[f]))
      forms->chosen[kept++] = forms->chosen[f];
    else
      bench->lacks_persistent = true;
  }
  forms->count = kept;
}

/* Measures in an order given by the seed, because the machine's state may change during a job. */
void bench_measure(Bench* bench) {
  BenchCondition conditions[BENCH_MOST_CONDITIONS];
  int order[BENCH_MOST_CONDITIONS];
  const int count = bench_conditions(&bench->options, conditions);
  leave_out(bench);
  if (bench->options.measurement == BENCH_OVERLAP) leave_forms_out(bench);
  measure_flags(bench);
  bench_order(order, count, 1, bench->options.seed);
  if (bench->options.kinds.count > 0 || bench->options.measurement == BENCH_HALO)
    for (int i = 0; i < count; ++i) measure_condition(bench, conditions[order[i]]);
  if (bench->lacks_persistent && bench->rank == 0) say_lack();
}
