#define _GNU_SOURCE
#include "measuring.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "order.h"

enum { warm_operations = 8, fewest_samples = 10, fewest_slow_samples = 3 };
static const double longest_cell_seconds = 20;

/* A series of operations that is measured together: one kind repeated, several kinds in the order
 * of rounds, or the exchange of flags. */
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

/* Warm-up operations have sample numbers below 0. */
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

/* The only result of a barrier is that no rank leaves before the last one has entered. To check
 * this, one rank enters late and notes its entry. So every sixteenth barrier and all warm-up
 * barriers are checked instead of timed. */
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
    bench_stop(bench, "a barrier let this rank out before all ranks had entered");
}

static void verify(const Bench* bench, uint32_t number) {
  char line[256];
  if (!cell_verify(&bench->cell, number, line)) bench_stop(bench, line);
}

/* `good`: for each kind, the number of operations that all ranks started in time. */
static bool enough(const Bench* bench, const Series* series, int samples, const int* good,
                   double seconds) {
  const BenchOptions* options = &bench->options;
  int each = good[0];
  for (int place = 1; place < series->count; ++place)
    each = good[place] < each ? good[place] : each;
  const double seconds_each = seconds / series->count;
  if (samples == most_samples(series) || seconds_each > longest_cell_seconds) return true;
  if (options->iterations > 0) return samples >= options->iterations * series->count;
  /* If ranks stall for tens of milliseconds there are fewer samples, so that the time is limited.
   */
  return (each >= fewest_samples && seconds_each > options->budget_seconds) ||
         (each >= fewest_slow_samples && seconds_each > 10 * options->budget_seconds);
}

/* Runs one operation of the current cell, or one exchange of flags, from the common start until
 * this rank notes its time. */
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

/* The first rank calls this after a sample. Once there are enough samples it tells all ranks the
 * number of samples. */
static void count_sample(Bench* bench, const Series* series, int sample, int* good,
                         double seconds) {
  /* The previous sample is complete: all ranks noted it before they came to the last meeting. */
  if (sample > 0 && neutral_largest(&bench->neutral, sample - 1) != NEUTRAL_NO_SAMPLE)
    ++good[place_of(series, sample - 1)];
  if (enough(bench, series, sample + 1, good, seconds)) {
    neutral_set_end(&bench->neutral, (sample / series->count + 1) * series->count);
  }
}

/* Runs a series and returns the number of sampled operations, which are whole rounds. The samples
 * stay in the neutral ground until the next series. */
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
    /* If ranks share a core, a rank that has finished would use the core for work that is not part
     * of the operation, while another has not finished. */
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

/* At the first rank: gets the times of one kind of the series in microseconds; returns their
 * number. */
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

/* The exchange is measured on the cores of this job, because the cores of the next one may be
 * nearer to each other or farther apart. */
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

/* Removes kinds whose buffers would be larger than the bound. */
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

/* Measures in an order given by the seed, because the machine's state may change during a job. */
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
