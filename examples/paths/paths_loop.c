/* The allreduce loop of PATHS, figure 4, and the same with late ranks (its section 5.3 leaves open
 * what it is worth to combine partial sums in the order in which they arrive).
 *
 *   paths_loop loop ITERATIONS
 *     one MPI_INT is summed over all ranks, and the result checked every time; the mean time of an
 *     operation
 *
 *   paths_loop late ITERATIONS MICROSECONDS COUNT
 *     before every operation one rank, drawn anew each time, works for a random time of up to
 *     MICROSECONDS; COUNT doubles are summed; the time from the last rank's arrival to the last
 *     rank's return, mean and median
 *
 *   paths_loop vector ITERATIONS COUNT
 *     COUNT ints are summed, one operation after the other; the time that each took rank 0, mean
 *     and median. Ranks may be on several nodes
 *
 * Rank 0 prints lines `name: value`: microseconds, the mean, and median. All ranks are on one node,
 * whose clock they share, but for `vector`. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void usage(void) {
  fprintf(stderr,
          "usage: paths_loop loop ITERATIONS | paths_loop late ITERATIONS MICROSECONDS COUNT | "
          "paths_loop vector ITERATIONS COUNT\n");
  exit(2);
}

static long positive(const char* text, long most) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > most) usage();
  return value;
}

static void must_be(double seen, double wanted, long iteration) {
  if (seen == wanted) return;
  fprintf(stderr, "paths_loop: iteration %ld gave %g instead of %g\n", iteration, seen, wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void loop(long iterations, int rank, int ranks) {
  int hit = 1, all = 0;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&hit, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const double begin = now();
  for (int i = 0; i < (int)iterations; ++i) {
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must_be(all, (double)i * ranks, i);
  }
  const double end = now();
  MPI_Allreduce(&hit, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("microseconds: %.4f\n", (end - begin) / (double)iterations);
}

/* The same at all ranks, so that they agree who is late without a message. */
static uint32_t draw(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

static int ascending(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static void print_times(double* costs, long iterations) {
  double sum = 0;
  for (long i = 0; i < iterations; ++i) sum += costs[i];
  qsort(costs, (size_t)iterations, sizeof *costs, ascending);
  printf("microseconds: %.4f\nmedian: %.4f\n", sum / (double)iterations, costs[iterations / 2]);
}

static void late(long iterations, long microseconds, long count, int rank, int ranks) {
  double* const in = malloc((size_t)count * sizeof *in);
  double* const out = malloc((size_t)count * sizeof *out);
  double* const entered = malloc((size_t)iterations * sizeof *entered);
  double* const left = malloc((size_t)iterations * sizeof *left);
  double* const last_entered = malloc((size_t)iterations * sizeof *last_entered);
  double* const last_left = malloc((size_t)iterations * sizeof *last_left);
  if (!in || !out || !entered || !left || !last_entered || !last_left) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long k = 0; k < count; ++k) in[k] = (double)rank;
  uint64_t state = 12345;
  for (long i = -20; i < iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const int who = (int)(draw(&state) % (uint32_t)ranks);
    const double work = (double)(draw(&state) % (uint32_t)microseconds);
    if (who == rank)
      for (const double until = now() + work; now() < until;) continue;
    const double begin = now();
    MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double end = now();
    must_be(out[0], 0.5 * ranks * (ranks - 1), i);
    must_be(out[count - 1], 0.5 * ranks * (ranks - 1), i);
    if (i < 0) continue;
    entered[i] = begin;
    left[i] = end;
  }
  MPI_Reduce(entered, last_entered, (int)iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(left, last_left, (int)iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (long i = 0; i < iterations; ++i) last_left[i] -= last_entered[i];
  if (rank == 0) print_times(last_left, iterations);
  free(in), free(out), free(entered), free(left), free(last_entered), free(last_left);
}

static void vector(long iterations, long count, int rank, int ranks) {
  int* const in = malloc((size_t)count * sizeof *in);
  int* const out = malloc((size_t)count * sizeof *out);
  double* const times = malloc((size_t)iterations * sizeof *times);
  if (!in || !out || !times) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long i = -3; i < iterations; ++i) {
    for (long k = 0; k < count; ++k) in[k] = (int)(k % 1000 + i + rank);
    const double begin = now();
    MPI_Allreduce(in, out, (int)count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (i >= 0) times[i] = now() - begin;
    const double of_ranks = 0.5 * ranks * (ranks - 1);
    for (long k = 0; k < count; ++k) must_be(out[k], (double)(k % 1000 + i) * ranks + of_ranks, i);
  }
  if (rank == 0) print_times(times, iterations);
  free(in), free(out), free(times);
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 3 && strcmp(argv[1], "loop") == 0) {
    loop(positive(argv[2], 10000000), rank, ranks);
  } else if (argc == 5 && strcmp(argv[1], "late") == 0) {
    late(positive(argv[2], 1000000), positive(argv[3], 1000000), positive(argv[4], 1 << 24), rank,
         ranks);
  } else if (argc == 4 && strcmp(argv[1], "vector") == 0) {
    vector(positive(argv[2], 1000000), positive(argv[3], 1 << 24), rank, ranks);
  } else {
    usage();
  }
  MPI_Finalize();
  return 0;
}
