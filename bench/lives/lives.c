// The cost of short-lived communicators: one is split off, makes CALLS allreduces of 8 bytes, and
// is freed.
//
//   lives CALLS ROUNDS
//
// prints one line of JSON: the median and the mean over the rounds of the slowest rank's time, in
// us.
//
// Each rank times each round; the ranks' times are compared after all rounds. Before a round the
// ranks meet in shared memory of their own: a barrier of the host would leave the host's code and
// data in the caches, and a barrier of Tutti would leave Tutti's.
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../json.h"

static int compare(const void* a, const void* b) {
  const double one = *(const double*)a, other = *(const double*)b;
  return (one > other) - (one < other);
}

static atomic_int* arrived;  // arrivals in all rounds so far; in shared memory

static void meet(int size) {
  static int round = 0;
  atomic_fetch_add(arrived, 1);
  ++round;
  for (int tries = 0; atomic_load(arrived) < round * size; ++tries)
    if (tries > 1000) sched_yield();
}

static double live(int calls, int rank, int size) {
  double in = rank, out = 0;
  MPI_Comm brief;
  const double begin = MPI_Wtime();
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &brief);
  for (int call = 0; call < calls; ++call) {
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, brief);
    if (out != size * (size - 1) / 2.0) {
      fprintf(stderr, "lives: rank %d: call %d gave %g\n", rank, call, out);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
  MPI_Comm_free(&brief);
  return MPI_Wtime() - begin;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = argc > 1 ? atoi(argv[1]) : -1, rounds = argc > 2 ? atoi(argv[2]) : 0,
            warming = 20;
  if (calls < 0 || rounds < 1) {
    if (rank == 0) fprintf(stderr, "usage: lives CALLS ROUNDS\n");
    MPI_Finalize();
    return 2;
  }
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &arrived, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &arrived);
  if (rank == 0) atomic_init(arrived, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  double* const times = malloc(sizeof *times * (size_t)rounds);
  double* const slowest = malloc(sizeof *times * (size_t)rounds);
  for (int round = -warming; round < rounds; ++round) {
    meet(size);
    const double time = live(calls, rank, size);
    if (round >= 0) times[round] = time;
  }
  MPI_Reduce(times, slowest, rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double sum = 0;
    for (int round = 0; round < rounds; ++round) sum += slowest[round];
    qsort(slowest, (size_t)rounds, sizeof *slowest, compare);
    BenchJson* const json = bench_json_open();
    bench_json_number(json, "median", slowest[rounds / 2] * 1e6, 4);
    bench_json_number(json, "mean", sum / rounds * 1e6, 4);
    bench_json_write_line(json, stdout);
  }
  MPI_Win_free(&window);
  free(times);
  free(slowest);
  MPI_Finalize();
  return 0;
}
