/* tutti-limits: times the machine's own operations of which collectives consist, without any MPI.
 *
 *   tutti-limits           operations on one core and between two
 *   tutti-limits --matrix  how long a cache line takes between each two processing units
 *
 * A collective's latency means little by itself. Compared with the time in which a cache line goes
 * from core to core it shows how much can be gained. Writes JSON to stdout; a value that cannot be
 * measured here is null. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "json.h"
#include "pair_bodies.h"

static const double budget_seconds = 0.03; /* for each value */

static unsigned load(PairLine* line) {
  return atomic_load_explicit(&line->value, memory_order_acquire);
}
static void store(PairLine* line, unsigned value) {
  atomic_store_explicit(&line->value, value, memory_order_release);
}

/* --- lines between two cores --- */

static void ping_pong(Pair* pair) {
  enum { batches = 51, rounds = 500 };
  double batch[batches];
  PairLine *mine = &pair->shared->line[pair->self], *other = &pair->shared->line[!pair->self];
  unsigned turn = 0;
  for (int b = 0; b < batches; ++b) {
    pair_meet(pair);
    const uint64_t began = bench_now(&pair->clock);
    for (int i = 0; i < rounds; ++i) {
      ++turn;
      if (pair->self == 0) store(mine, turn);
      while (load(other) != turn) bench_pause();
      if (pair->self == 1) store(mine, turn);
    }
    batch[b] = pair_seconds(pair, bench_now(&pair->clock) - began) / (2 * rounds);
  }
  pair->shared->result[pair->self] = pair_median(batch, batches);
}

/* Both processes start at one instant. The time of an exchange is the larger of their times, as
 * tutti-bench times a collective. */
static void flag_exchange(Pair* pair) {
  enum { rounds = 4001 };
  PairLine *mine = &pair->shared->line[pair->self], *other = &pair->shared->line[!pair->self];
  for (unsigned i = 0; i < rounds; ++i) {
    pair_meet(pair);
    store(mine, i + 1);
    while (load(other) < i + 1) continue;
    pair->shared->ticks[pair->self][i] = bench_now(&pair->clock) - pair->shared->start;
  }
  pair_meet(pair);
  static double larger[rounds];
  for (int i = 0; i < rounds; ++i) {
    const uint64_t a = pair->shared->ticks[0][i], b = pair->shared->ticks[1][i];
    larger[i] = pair_seconds(pair, a > b ? a : b);
  }
  pair->shared->result[pair->self] = pair_median(larger, rounds);
}

/* The same, with one exchange directly after another. */
static void flag_exchange_loop(Pair* pair) {
  enum { batches = 51, rounds = 500 };
  double batch[batches];
  PairLine *mine = &pair->shared->line[pair->self], *other = &pair->shared->line[!pair->self];
  unsigned turn = 0;
  for (int b = 0; b < batches; ++b) {
    pair_meet(pair);
    const uint64_t began = bench_now(&pair->clock);
    for (int i = 0; i < rounds; ++i) {
      store(mine, ++turn);
      while (load(other) < turn) continue;
    }
    batch[b] = pair_seconds(pair, bench_now(&pair->clock) - began) / rounds;
  }
  pair->shared->result[pair->self] = pair_median(batch, batches);
}

/* --- copies --- */

static double copy_rate(Pair* pair, char* destination, const char* source) {
  double batch[64];
  int batches = 0;
  const size_t repeats = pair->bytes >= 4194304 ? 1 : 4194304 / pair->bytes;
  const uint64_t began = bench_now(&pair->clock);
  while (batches < 64 &&
         (batches < 3 || pair_seconds(pair, bench_now(&pair->clock) - began) < budget_seconds)) {
    const uint64_t first = bench_now(&pair->clock);
    for (size_t i = 0; i < repeats; ++i) {
      memcpy(destination, source, pair->bytes);
      atomic_signal_fence(memory_order_seq_cst);
      __asm__ volatile("" ::"r"(destination)
                       : "memory"); /* or the copies could be merged into one */
    }
    batch[batches++] = pair_seconds(pair, bench_now(&pair->clock) - first) / (double)repeats;
  }
  return (double)pair->bytes / pair_median(batch, batches) * 1e-9;
}

static void copy_on_both(Pair* pair) {
  char *source = pair_touched(pair->bytes, 1), *destination = pair_touched(pair->bytes, 2);
  pair_meet(pair);
  pair->shared->result[pair->self] = copy_rate(pair, destination, source);
  pair_meet(pair); /* neither process stops copying while the other still measures */
}

static void copy_on_one(Pair* pair) {
  if (pair->self == 1) return;
  char *source = pair_touched(pair->bytes, 1), *destination = pair_touched(pair->bytes, 2);
  pair->shared->result[0] = copy_rate(pair, destination, source);
}

static char* shared_source; /* the data that process 1 rewrites */

static void fetch_shared(Pair* pair) { pair_fetch(pair, shared_source, copy_of_others); }
static void fetch_sum(Pair* pair) { pair_fetch(pair, shared_source, sum_with_others); }
static void fetch_cma(Pair* pair) { pair_fetch(pair, shared_source, cma_of_others); }
static void fetch_own(Pair* pair) { pair_fetch(pair, shared_source, copy_of_own); }

/* --- hand-overs to a sleeping process, on one core and on another --- */

static void futex_hand_over(Pair* pair) {
  enum { rounds = 3000 };
  PairLine* turn = &pair->shared->line[0];
  pair_meet(pair);
  const uint64_t began = bench_now(&pair->clock);
  for (unsigned i = 0; i < rounds; ++i) {
    for (unsigned now; (now = load(turn)) % 2 != (unsigned)pair->self;) {
      syscall(SYS_futex, &turn->value, FUTEX_WAIT, now, NULL, NULL, 0);
    }
    store(turn, load(turn) + 1);
    syscall(SYS_futex, &turn->value, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
  pair->shared->result[pair->self] =
      pair_seconds(pair, bench_now(&pair->clock) - began) / (2 * rounds);
}

/* --- the report --- */

typedef struct {
  PairShared* shared;
  BenchClock clock;
  int apart[2], together[2]; /* two cores; one core twice */
  int cores;
  BenchJson* json;
} Limits;

/* null where it is not known, or below 0. */
static void write_value(Limits* limits, const char* name, bool known, double value) {
  if (known && value >= 0)
    bench_json_number(limits->json, name, value, 4);
  else
    bench_json_null(limits->json, name);
}

static void write_time(Limits* limits, const char* name, const int core[2], PairBody body) {
  const bool known = core != NULL && pair_run(limits->shared, &limits->clock, core, 0, body);
  write_value(limits, name, known, limits->shared->result[0] * 1e9);
}

/* Writes values by size; `value` computes each from the results of the pair, in GB/s or
 * microseconds. */
static void write_by_size(Limits* limits, const char* name, const size_t* sizes, PairBody body,
                          bool known, double (*value)(const PairShared*, size_t)) {
  bench_json_begin_object(limits->json, name);
  for (int i = 0; sizes[i] != 0; ++i) {
    const bool good = known &&
                      pair_run(limits->shared, &limits->clock, limits->apart, sizes[i], body) &&
                      limits->shared->result[0] >= 0;
    char size[24];
    snprintf(size, sizeof size, "%zu", sizes[i]);
    write_value(limits, size, good, good ? value(limits->shared, sizes[i]) : -1);
  }
  bench_json_end(limits->json);
}

static double first_rate(const PairShared* shared, size_t bytes) {
  return (void)bytes, shared->result[0];
}
static double both_rates(const PairShared* shared, size_t bytes) {
  return (void)bytes, shared->result[0] + shared->result[1];
}
static double microseconds(const PairShared* shared, size_t bytes) {
  return (void)bytes, shared->result[0] * 1e6;
}

static void write_report(Limits* limits) {
  static const size_t copies[] = {32768, 1048576, 16777216, 0},
                      fetches[] = {4096, 32768, 131072, 524288, 1048576, 2097152, 4194304, 0},
                      cma[] = {8, 4096, 65536, 1048576, 16777216, 0};
  const bool two = limits->cores == 2;
  const int* apart = two ? limits->apart : NULL;
  limits->json = bench_json_open();
  bench_json_text(limits->json, "format", "tutti-limits 1");
  bench_json_begin_list(limits->json, "cores");
  bench_json_integer(limits->json, NULL, limits->apart[0]);
  bench_json_integer(limits->json, NULL, limits->apart[1]);
  bench_json_end(limits->json);
  bench_json_text(limits->json, "clock", limits->clock.counter ? "tsc" : "monotonic");
  write_time(limits, "line_half_round_trip_ns", apart, ping_pong);
  write_time(limits, "flag_exchange_ns", apart, flag_exchange);
  write_time(limits, "flag_exchange_loop_ns", apart, flag_exchange_loop);
  write_time(limits, "yield_hand_over_ns", limits->together, pair_yield_hand_over);
  write_time(limits, "futex_hand_over_ns", limits->together, futex_hand_over);
  write_time(limits, "futex_hand_over_two_cores_ns", apart, futex_hand_over);
  write_by_size(limits, "copy_one_core_gb_per_s", copies, copy_on_one, true, first_rate);
  write_by_size(limits, "copy_two_cores_gb_per_s", copies, copy_on_both, two, both_rates);
  write_by_size(limits, "copy_rewritten_us", fetches, fetch_shared, two, microseconds);
  write_by_size(limits, "add_rewritten_us", fetches, fetch_sum, two, microseconds);
  write_by_size(limits, "copy_own_rewritten_us", fetches, fetch_own, two, microseconds);
  write_by_size(limits, "cma_rewritten_us", cma, fetch_cma, two, microseconds);
  bench_json_write_indented(limits->json, stdout);
}

/* A row for each usable processing unit, with half the round trip of a line to each of them in
 * nanoseconds; null for a unit and itself. The matrix is symmetric: each pair is measured once. */
static void write_matrix(Limits* limits) {
  enum { most = CPU_SETSIZE };
  static int unit[most];
  cpu_set_t usable;
  CPU_ZERO(&usable);
  sched_getaffinity(0, sizeof usable, &usable);
  int count = 0;
  for (int i = 0; i < most; ++i)
    if (CPU_ISSET(i, &usable)) unit[count++] = i;
  double* times = calloc((size_t)count * (size_t)count, sizeof *times);
  for (int i = 0; times != NULL && i < count * count; ++i) {
    const int row = i / count, column = i % count, pair[2] = {unit[row], unit[column]};
    if (row > column)
      times[i] = times[column * count + row];
    else if (row == column || !pair_run(limits->shared, &limits->clock, pair, 0, ping_pong))
      times[i] = -1;
    else
      times[i] = limits->shared->result[0] * 1e9;
  }
  limits->json = bench_json_open();
  bench_json_text(limits->json, "format", "tutti-matrix 1");
  bench_json_begin_list(limits->json, "processing_units");
  for (int i = 0; i < count; ++i) bench_json_integer(limits->json, NULL, unit[i]);
  bench_json_end(limits->json);
  bench_json_begin_list(limits->json, "line_half_round_trip_ns");
  for (int row = 0; row < count; ++row) {
    bench_json_begin_list(limits->json, NULL);
    for (int column = 0; column < count; ++column)
      write_value(limits, NULL, times != NULL, times != NULL ? times[row * count + column] : -1);
    bench_json_end(limits->json);
  }
  bench_json_end(limits->json);
  bench_json_write_indented(limits->json, stdout);
  free(times);
}

int main(int argc, char** argv) {
  const bool matrix = argc == 2 && strcmp(argv[1], "--matrix") == 0;
  if (argc != 1 && !matrix) {
    fprintf(stderr,
            "tutti-limits: unknown argument '%.40s'; it takes --matrix or none, and writes JSON to "
            "stdout\n",
            argv[1]);
    return 2;
  }
  Limits limits = {.shared = pair_shared(), .clock = bench_clock_open()};
  limits.cores = pair_cores(limits.apart);
  limits.together[0] = limits.together[1] = limits.apart[0];
  enum { most_bytes = 1 << 22 };
  shared_source = mmap(NULL, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (limits.shared == NULL || shared_source == MAP_FAILED || limits.cores == 0) {
    fprintf(stderr, "tutti-limits: no shared memory or no core to run on: %s\n", strerror(errno));
    return 1;
  }
  matrix ? write_matrix(&limits) : write_report(&limits);
  return 0;
}
