/* The allreduce loop of PATHS, figure 4, and the same with late ranks (its section 5.3 leaves open
 * what it is worth to combine partial sums in the order in which they arrive).
 *
 *   mpiexec -n RANKS tutti-ranks paths loop ITERATIONS
 *     one MPI_INT is summed over all ranks, and the result checked every time; the mean time of an
 *     operation
 *
 *   mpiexec -n RANKS tutti-ranks paths late ITERATIONS MICROSECONDS COUNT
 *     before every operation one rank, drawn anew each time, works for a random time of up to
 *     MICROSECONDS; COUNT doubles are summed; the time from the last rank's arrival to the last
 *     rank's return, mean and median
 *
 *   mpiexec -n RANKS tutti-ranks paths vector ITERATIONS COUNT
 *     COUNT ints are summed, one operation after the other; the time that each took rank 0, mean
 *     and median. Ranks may be on several nodes
 *
 * examples/paths starts it. The row has the mean, and the median where there is one. All ranks are
 * on one node, whose clock they share, but for `vector`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "rows.h"
#include "statistics.h"

static const char usage[] =
    "paths: give loop ITERATIONS, late ITERATIONS MICROSECONDS COUNT, or vector ITERATIONS COUNT";

static double now(const Ranks* ranks) {
  return (double)bench_now(&ranks->clock) * 1e9 / ranks->clock.ticks_per_second;
}

static void must_be(double seen, double wanted) {
  if (seen != wanted) ranks_stop("paths: an allreduce gave a wrong sum");
}

/* Adds the row of the nanoseconds of all operations. */
static void add_times(const char* call, double* times, long iterations) {
  double sum = 0;
  for (long i = 0; i < iterations; ++i) sum += times[i];
  row_begin_call("paths", call, 0);
  row_number("ns", median_of(times, (size_t)iterations));
  row_number("mean_ns", sum / (double)iterations);
  row_end();
}

static void loop(const Ranks* ranks, long iterations) {
  int hit = 1, all = 0;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&hit, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const double begin = now(ranks);
  for (int i = 0; i < (int)iterations; ++i) {
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must_be(all, (double)i * ranks->ranks);
  }
  const double mean = (now(ranks) - begin) / (double)iterations;
  MPI_Allreduce(&hit, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  row_begin_call("paths", "loop", 0);
  row_number("mean_ns", mean);
  row_end();
}

/* The same at all ranks, so that they agree who is late without a message. */
static uint32_t draw(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static void late(const Ranks* ranks, long iterations, long microseconds, long count) {
  const size_t bytes = (size_t)iterations * sizeof(double);
  const double sum = 0.5 * ranks->ranks * (ranks->ranks - 1);
  double* const in = ranks_memory((size_t)count * sizeof *in, 0);
  double* const out = ranks_memory((size_t)count * sizeof *out, 0);
  double *const entered = ranks_memory(bytes, 0), *const last_entered = ranks_memory(bytes, 0);
  double *const left = ranks_memory(bytes, 0), *const last_left = ranks_memory(bytes, 0);
  for (long k = 0; k < count; ++k) in[k] = (double)ranks->rank;
  uint64_t state = 12345;
  for (long i = -20; i < iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int who = (int)(draw(&state) % (uint32_t)ranks->ranks);
    const double work = 1000.0 * (draw(&state) % (uint32_t)microseconds);
    if (who == ranks->rank)
      for (const double until = now(ranks) + work; now(ranks) < until;) continue;
    const double begin = now(ranks);
    MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double end = now(ranks);
    must_be(out[0], sum);
    must_be(out[count - 1], sum);
    if (i < 0) continue;
    entered[i] = begin;
    left[i] = end;
  }
  MPI_Reduce(entered, last_entered, (int)iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(left, last_left, (int)iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (long i = 0; i < iterations; ++i) last_left[i] -= last_entered[i];
  add_times("late", last_left, iterations);
  free(in), free(out), free(entered), free(left), free(last_entered), free(last_left);
}

static void vector(const Ranks* ranks, long iterations, long count) {
  int* const in = ranks_memory((size_t)count * sizeof *in, 0);
  int* const out = ranks_memory((size_t)count * sizeof *out, 0);
  double* const times = ranks_memory((size_t)iterations * sizeof *times, 0);
  const double of_ranks = 0.5 * ranks->ranks * (ranks->ranks - 1);
  for (long i = -3; i < iterations; ++i) {
    for (long k = 0; k < count; ++k) in[k] = (int)(k % 1000 + i + ranks->rank);
    const double begin = now(ranks);
    MPI_Allreduce(in, out, (int)count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) times[i] = now(ranks) - begin;
    for (long k = 0; k < count; ++k)
      must_be(out[k], (double)(k % 1000 + i) * ranks->ranks + of_ranks);
  }
  add_times("vector", times, iterations);
  free(in), free(out), free(times);
}

static void measure_paths(const Ranks* ranks, int argc, char** argv) {
  long number[3] = {0};
  static const long most[3] = {10000000, 1 << 24, 1 << 24};
  if (argc < 3 || argc > 5) ranks_stop(usage);
  for (int i = 2; i < argc; ++i) number[i - 2] = ranks_number(argv[i], 1, most[i - 2], usage);
  if (argc == 3 && strcmp(argv[1], "loop") == 0)
    loop(ranks, number[0]);
  else if (argc == 5 && strcmp(argv[1], "late") == 0)
    late(ranks, number[0], number[1], number[2]);
  else if (argc == 4 && strcmp(argv[1], "vector") == 0)
    vector(ranks, number[0], number[1]);
  else
    ranks_stop(usage);
}

static RanksKind kind = {"paths", measure_paths, NULL};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
