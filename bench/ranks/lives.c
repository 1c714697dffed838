/* The cost of short-lived communicators: one is split off, makes CALLS allreduces of 8 bytes, and
 * is freed.
 *
 *   mpiexec -n RANKS tutti-ranks lives CALLS ROUNDS
 *
 * The row has the median and the mean over the rounds of the slowest rank's time.
 *
 * Each rank times each round; the ranks' times are compared after all rounds. Before a round the
 * ranks meet in shared memory of their own: a barrier of the host would leave the host's code and
 * data in the caches, and a barrier of Tutti would leave Tutti's. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"
#include "rows.h"
#include "statistics.h"

static atomic_int* arrived; /* arrivals in all rounds so far; in shared memory */

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
      fprintf(stderr, "tutti-ranks: rank %d: call %d gave %g\n", rank, call, out);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }
  MPI_Comm_free(&brief);
  return MPI_Wtime() - begin;
}

static void measure_lives(const Ranks* ranks, int argc, char** argv) {
  static const char usage[] = "lives: give CALLS (0 or more) and ROUNDS (1 or more)";
  enum { warming = 20, most = 1000000 };
  if (argc != 3) ranks_stop(usage);
  const int calls = (int)ranks_number(argv[1], 0, most, usage),
            rounds = (int)ranks_number(argv[2], 1, most, usage), rank = ranks->rank;
  MPI_Win window;
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &arrived, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &arrived);
  if (rank == 0) atomic_init(arrived, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  double* const times = ranks_memory(sizeof *times * (size_t)rounds, 0);
  double* const slowest = ranks_memory(sizeof *times * (size_t)rounds, 0);
  for (int round = -warming; round < rounds; ++round) {
    meet(ranks->ranks);
    const double time = live(calls, rank, ranks->ranks);
    if (round >= 0) times[round] = time * 1e9;
  }
  MPI_Reduce(times, slowest, rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  double sum = 0;
  for (int round = 0; round < rounds; ++round) sum += slowest[round];
  row_begin_call("lives", "split", 0);
  row_integer("calls", calls);
  row_number("ns", median_of(slowest, (size_t)rounds));
  row_number("mean_ns", sum / rounds);
  row_end();
  MPI_Win_free(&window);
  free(times);
  free(slowest);
}

static RanksKind kind = {"lives", measure_lives, NULL};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
