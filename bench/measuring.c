#define _GNU_SOURCE
#include "measuring.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "order.h"

enum { warm_operations = 8, fewest_samples = 10, fewest_slow_samples = 3 };
static const double longest_cell_seconds = 20;

/* What is measured in one go: one kind again and again, several in the order of rounds, or the
 * exchange of flags. */
typedef struct {
  const BenchKind*
      kinds; /* NULL: no call, but what the machine needs for two ranks to see each other's word */
  int count;
  const int*
      order; /* of which kind each operation is, the warm ones first; NULL: all of the first */
  bool cold;
} Series;

static int warm(const Series* series) { return warm_operations * series->count; }

/* Whole rounds. */
static int most_samples(const Series* series) {
  return BENCH_MOST_ITERATIONS / series->count * series->count;
}

/* Warm operations have samples below 0. */
static int place_of(const Series* series, int sample) {
  return series->order == NULL ? 0 : series->order[sample + warm(series)];
}

void bench_stop(const Bench* bench, const char* line) {
  fprintf(stderr, "tutti-bench: rank %d: %s\n", bench->rank, line);
  fflush(stderr);
  usleep(200000); /* launchers forward what a rank says, but drop what is on its way when a job is
                     aborted */
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void exchange_flags(const Bench* bench) {
  neutral_enter(&bench->neutral, bench->number);
  while (!neutral_all_entered(&bench->neutral, bench->number)) continue;
}

/* A barrier has no result but that nobody leaves before the last one comes. To see that, one rank
 * comes late and notes that it came; so every sixteenth barrier is watched instead of timed, and
 * the warm ones too. */
static bool watched(const Series* series, int place, int sample) {
  if (series->kinds[place].collective != BENCH_BARRIER) return false;
  return sample < 0 || sample / series->count % 16 == 15;
}

static void watch_barrier(const Bench* bench, uint32_t number) {
  if ((int)(number % (uint32_t)bench->ranks) == bench->rank) {
    const uint64_t until = bench_nanoseconds() + 10000;
    while (bench_nanoseconds() < until) bench_pause();
  }
  neutral_enter(&bench->neutral, number);
  cell_perform(&bench->cell);
  if (!neutral_all_entered(&bench->neutral, number))
    bench_stop(bench, "a barrier let this rank out before all were in");
}

static void verify(const Bench* bench, uint32_t number) {
  char line[256];
  if (!cell_verify(&bench->cell, number, line)) bench_stop(bench, line);
}

/* `good` has for each kind how many of its operations all ranks were in time for. */
static bool enough(const Bench* bench, const Series* series, int samples, const int* good,
                   double seconds) {
  const BenchOptions* options = &bench->options;
  int each = good[0];
  for (int place = 1; place < series->count; ++place)
    each = good[place] < each ? good[place] : each;
  const double seconds_each = seconds / series->count;
  if (samples == most_samples(series) || seconds_each > longest_cell_seconds) return true;
  if (options->iterations > 0) return samples >= options->iterations * series->count;
  /* Ranks that stall for tens of milliseconds get fewer samples, not more time without end. */
  return (each >= fewest_samples && seconds_each > options->budget_seconds) ||
         (each >= fewest_slow_samples && seconds_each > 10 * options->budget_seconds);
}

/* One operation of the cell that is set, or the exchange of flags, from its common start to its
 * note. */
static void operate(Bench* bench, const Series* series, int place, int sample, uint64_t start,
                    bool in_time) {
  Neutral* neutral = &bench->neutral;
  if (series->kinds == NULL) {
    exchange_flags(bench);
  } else if (bench->options.verify && watched(series, place, sample)) {
    in_time = false;
    watch_barrier(bench, bench->number);
  } else {
    cell_perform(&bench->cell);
  }
  const uint64_t ended = bench_now(&neutral->clock);
  if (sample >= 0) neutral_note(neutral, sample, in_time ? ended - start : NEUTRAL_NO_SAMPLE);
}

/* The first rank, after a sample: says how many there will be, once there are enough. */
static void count_sample(Bench* bench, const Series* series, int sample, int* good,
                         double seconds) {
  /* The sample before is complete: all ranks noted it before they came to the last meeting. */
  if (sample > 0 && neutral_largest(&bench->neutral, sample - 1) != NEUTRAL_NO_SAMPLE)
    ++good[place_of(series, sample - 1)];
  if (enough(bench, series, sample + 1, good, seconds)) {
    neutral_set_end(&bench->neutral, (sample / series->count + 1) * series->count);
  }
}

/* Returns how many operations were sampled: whole rounds. The samples are on neutral ground until
 * the next series. */
static int run_series(Bench* bench, const Series* series) {
  Neutral* neutral = &bench->neutral;
  const uint64_t began = bench_nanoseconds();
  uint32_t number = bench->number;
  int sample = -warm(series);
  int* const good = calloc((size_t)series->count, sizeof *good);
  if (good == NULL) bench_stop(bench, "no memory for the counts of samples");
  if (bench->rank == 0) neutral_set_end(neutral, most_samples(series));
  for (;; ++sample) {
    const int end = most_samples(series), place = place_of(series, sample < end ? sample : 0);
    if (series->cold) stream_over(&bench->stream);
    if (series->kinds != NULL && (series->order != NULL || sample == -warm(series))) {
      cell_set(&bench->cell, &series->kinds[place]);
    }
    if (bench->options.dirty || sample == -warm(series)) {
      number = bench->number;
      if (series->kinds != NULL) cell_fill(&bench->cell, number);
    }
    ++bench->number;
    uint64_t start;
    const bool in_time = neutral_start(neutral, &start);
    if (sample >= neutral_end(neutral)) break;
    operate(bench, series, place, sample, start, in_time);
    /* Ranks that share a core: who has ended would keep it from who has not, for work that is no
     * part of the operation. */
    if (neutral->yields) neutral_meet(neutral);
    if (bench->options.verify && series->kinds != NULL) verify(bench, number);
    if (bench->rank == 0 && sample >= 0) {
      count_sample(bench, series, sample, good, (double)(bench_nanoseconds() - began) * 1e-9);
    }
  }
  free(good);
  neutral_meet(neutral); /* before the first rank sets another end */
  return sample;
}

/* At the first rank: the times of one kind of the series in microseconds; how many. */
static int keep_samples(const Neutral* neutral, const Series* series, int samples, int place,
                        double* microseconds) {
  int kept = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const uint64_t ticks =
        place_of(series, sample) == place ? neutral_largest(neutral, sample) : NEUTRAL_NO_SAMPLE;
    if (ticks != NEUTRAL_NO_SAMPLE)
      microseconds[kept++] = (double)ticks * 1e6 / neutral->clock.ticks_per_second;
  }
  return kept;
}

static double microseconds[BENCH_MOST_ITERATIONS];

/* Measured on the cores of this very job, because those of the next one may be nearer to each other
 * or farther apart. */
static void measure_flags(Bench* bench, Results* results) {
  if (bench->ranks != 2 || bench->neutral.yields || bench->neutral.sleeps) return;
  const Series series = {.count = 1};
  const int samples = run_series(bench, &series);
  if (bench->rank != 0) return;
  const int kept = keep_samples(&bench->neutral, &series, samples, 0, microseconds);
  if (kept > 0) results->flag_exchange = results_median(microseconds, kept);
}

static void measure_series(Bench* bench, const Series* series, BenchCondition condition,
                           Results* results) {
  const int samples = run_series(bench, series);
  if (bench->rank != 0) return;
  for (int place = 0; place < series->count; ++place) {
    const int kept = keep_samples(&bench->neutral, series, samples, place, microseconds);
    if (kept == 0)
      bench_stop(bench, "every start was missed; is something else running on these cores?");
    const ResultsCell cell = {.kind = series->kinds[place], .condition = condition};
    if (!results_add(results, cell, microseconds, kept, samples / series->count - kept)) {
      bench_stop(bench, "no memory for the results");
    }
  }
}

static void measure_mixed(Bench* bench, const BenchKinds* kinds, BenchCondition condition,
                          Results* results) {
  const int rounds = warm_operations + BENCH_MOST_ITERATIONS / kinds->count;
  int* const order = malloc((size_t)rounds * (size_t)kinds->count * sizeof *order);
  if (order == NULL) bench_stop(bench, "no memory for the order of the kinds");
  bench_order(order, kinds->count, rounds, bench->options.seed);
  const Series series = {
      .kinds = kinds->kinds, .count = kinds->count, .order = order, .cold = condition.cold};
  measure_series(bench, &series, condition, results);
  free(order);
}

static void measure_condition(Bench* bench, const BenchKinds* kinds, BenchCondition condition,
                              Results* results) {
  ResultsHandOvers hand_overs = {.condition = condition};
  const bool known = neutral_hand_over(&bench->neutral, &hand_overs.before);
  if (condition.mixed) {
    measure_mixed(bench, kinds, condition, results);
  } else {
    for (int i = 0; i < kinds->count; ++i) {
      const Series series = {.kinds = &kinds->kinds[i], .count = 1, .cold = condition.cold};
      measure_series(bench, &series, condition, results);
    }
  }
  if (known) neutral_hand_over(&bench->neutral, &hand_overs.after);
  if (known && bench->rank == 0) results->hand_overs[results->hand_over_count++] = hand_overs;
}

/* Takes out of the list what would need buffers beyond the bound. */
static void leave_out(Bench* bench, Results* results) {
  BenchKinds* const kinds = &bench->options.kinds;
  int kept = 0;
  for (int i = 0; i < kinds->count; ++i) {
    const BenchKind* const kind = &kinds->kinds[i];
    if (kind->bytes <= cell_most_bytes(kind->collective, bench->ranks))
      kinds->kinds[kept++] = *kind;
    else if (!results_leave_out(results, *kind))
      bench_stop(bench, "no memory for the results");
  }
  kinds->count = kept;
}

/* In an order that the seed gives: the machine may be another one at the end of a job than at its
 * beginning. */
void bench_measure(Bench* bench, Results* results) {
  BenchCondition conditions[BENCH_MOST_CONDITIONS];
  int order[BENCH_MOST_CONDITIONS];
  const int count = bench_conditions(&bench->options, conditions);
  leave_out(bench, results);
  measure_flags(bench, results);
  if (bench->options.kinds.count == 0) return;
  bench_order(order, count, 1, bench->options.seed);
  for (int i = 0; i < count; ++i)
    measure_condition(bench, &bench->options.kinds, conditions[order[i]], results);
}
