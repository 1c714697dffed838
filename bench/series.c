#define _GNU_SOURCE
#include "series.h"

#include <stdlib.h>

#include "rows.h"
#include "statistics.h"

static const double longest_cell_seconds = 20;
enum { fewest_samples = 10, fewest_slow_samples = 3 };

static int warm(const Series* series) { return series_warm * series->count; }

/* Whole rounds. */
static int most_samples(const Series* series) {
  return BENCH_MOST_ITERATIONS / series->count * series->count;
}

/* Warm-up operations have sample numbers below 0. */
static int place_of(const Series* series, int sample) {
  return series->order == NULL ? 0 : series->order[sample + warm(series)];
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

/* In every fourth round the starts are timed, where operations have a start of their own. */
static bool times_start(const Series* series, int sample) {
  return sample >= 0 && sample / series->count % 4 == 1;
}

/* Returns the index of the note of a sampled operation's return from its start. */
static int start_note(int sample) { return sample + BENCH_MOST_ITERATIONS; }
/* Beside a computation: where it notes for how long others had its core meanwhile, and how long the
 * completion took after it. */
static int others_note(int sample) { return sample + 2 * BENCH_MOST_ITERATIONS; }
static int wait_note(int sample) { return sample + 3 * BENCH_MOST_ITERATIONS; }

/* Runs one operation, from the common start until this rank notes its time. */
static void operate(Bench* bench, const Series* series, int place, int sample, uint64_t start,
                    bool in_time) {
  Neutral* neutral = &bench->neutral;
  uint64_t began = 0;
  bench->work.met = (WorkMet){0};
  bool timed = true;
  if (series->beside.alone)
    work_beside(&bench->work, &series->beside, &neutral->clock);
  else
    timed = series->operate(series->subject, place, sample,
                            times_start(series, sample) ? &began : NULL);
  const uint64_t ended = bench_now(&neutral->clock);
  if (sample < 0) return;
  const bool sampled = in_time && timed;
  neutral_note(neutral, sample, sampled && began == 0 ? ended - start : NEUTRAL_NO_SAMPLE);
  neutral_note(neutral, start_note(sample),
               sampled && began != 0 ? began - start : NEUTRAL_NO_SAMPLE);
  const WorkMet* const met = &bench->work.met;
  const bool computed = sampled && began == 0 && met->ended != 0; /* parts of whole times */
  const double others = (double)met->others * 1e-9 * neutral->clock.ticks_per_second;
  neutral_note(neutral, others_note(sample), computed ? (uint64_t)others : NEUTRAL_NO_SAMPLE);
  neutral_note(neutral, wait_note(sample), computed ? ended - met->ended : NEUTRAL_NO_SAMPLE);
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

int series_run(Bench* bench, const Series* series) {
  Neutral* neutral = &bench->neutral;
  const uint64_t first = bench_nanoseconds();
  uint32_t number = bench->number;
  int sample = -warm(series);
  char line[256];
  int* const good = calloc((size_t)series->count, sizeof *good);
  if (good == NULL) bench_stop(bench, "no memory for the counts of samples");
  if (bench->rank == 0) neutral_set_end(neutral, most_samples(series));
  for (;; ++sample) {
    const int end = most_samples(series), place = place_of(series, sample < end ? sample : 0);
    if (series->cold) stream_over(&bench->stream);
    if (bench->options.dirty || sample == -warm(series)) {
      number = bench->number;
      if (series->fill != NULL) series->fill(series->subject, place, number);
    }
    ++bench->number;
    uint64_t start;
    const bool in_time = neutral_start(neutral, &start);
    if (sample >= neutral_end(neutral)) break;
    operate(bench, series, place, sample, start, in_time);
    /* If ranks share a core, a rank that has finished would use the core for work that is not part
     * of the operation, while another has not finished. */
    if (neutral->yields) neutral_meet(neutral);
    if (bench->options.verify && series->verify != NULL && !series->beside.alone &&
        !series->verify(series->subject, place, number, line)) {
      bench_stop(bench, line);
    }
    if (bench->rank == 0 && sample >= 0) {
      count_sample(bench, series, sample, good, (double)(bench_nanoseconds() - first) * 1e-9);
    }
  }
  free(good);
  neutral_meet(neutral); /* before the first rank sets another end */
  return sample;
}

/* The times of one kind, in nanoseconds. Reading the clock between a start and its completion would
 * lengthen the operation, so an operation is either timed as a whole, or until its start returned.
 */
typedef struct {
  int count;
  double samples[BENCH_MOST_ITERATIONS];
} Times;
static Times whole, started, others, waited;

/* Appends a time that all ranks noted; false if a rank did not. */
static bool keep(const Bench* bench, int note, Times* times) {
  const uint64_t ticks = neutral_largest(&bench->neutral, note);
  if (ticks == NEUTRAL_NO_SAMPLE) return false;
  times->samples[times->count++] = (double)ticks * 1e9 / bench->neutral.clock.ticks_per_second;
  return true;
}

/* Collects the times and returns the number of operations of which not every rank was in time for
 * the common start. */
static int collect(const Bench* bench, const Series* series, int samples, int place) {
  int missed = 0;
  whole.count = started.count = others.count = waited.count = 0;
  for (int sample = 0; sample < samples; ++sample) {
    if (place_of(series, sample) != place) continue;
    if (!keep(bench, sample, &whole) && !keep(bench, start_note(sample), &started)) ++missed;
    keep(bench, others_note(sample), &others);
    keep(bench, wait_note(sample), &waited);
  }
  return missed;
}

double series_median(const Bench* bench, const Series* series, int samples, int place) {
  collect(bench, series, samples, place);
  return whole.count > 0 ? median_of(whole.samples, (size_t)whole.count) : -1;
}

static void add_median(const char* name, Times* times) {
  if (times->count > 0) row_number(name, median_of(times->samples, (size_t)times->count));
}

double series_row(const Bench* bench, const Series* series, int samples, int place) {
  const int missed = collect(bench, series, samples, place), count = whole.count;
  if (count == 0)
    bench_stop(bench, "every start was missed; is something else running on these cores?");
  const double median = median_of(whole.samples, (size_t)count);
  double mean = 0;
  for (int i = 0; i < count; ++i) mean += whole.samples[i] / count;
  if (series->beside.loop != WORK_NONE) {
    row_text("work", work_loop_names[series->beside.loop]);
    row_number("work_ns", series->beside.microseconds * 1000);
  }
  row_integer("operations", count);
  row_integer("missed", missed);
  row_number("ns", median);
  row_number("mean_ns", mean);
  row_number("min_ns", whole.samples[0]);
  row_number("p95_ns", whole.samples[(int)(0.95 * (count - 1) + 0.5)]);
  add_median("start_ns", &started);
  add_median("others_ns", &others);
  add_median("wait_ns", &waited);
  return median / 1000;
}
