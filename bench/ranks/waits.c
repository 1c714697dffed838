/* Calls that wait in the host MPI, as programs make them: what each costs where ranks may have to
 * share cores.
 *
 *   mpiexec -n RANKS tutti-ranks waits WORK ROUNDS
 *
 * WORK: microseconds of a core that each rank uses before each call; 0: none. A row for each kind
 * of call has the slowest rank's mean time for one, with its work. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "ranks.h"
#include "rows.h"

enum { face = 1024, tasks = 7, result, stop };

typedef struct {
  int rank, size, right, left;
  double work; /* seconds */
} Place;

static double core_seconds(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static void work(const Place* at) {
  if (at->work == 0) return;
  const double end = core_seconds() + at->work;
  while (core_seconds() < end) continue;
}

static void check(int right) {
  if (!right) ranks_stop("waits: a rank got a wrong number");
}

static void ring(const Place* at, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int sent = round + at->rank, got = -1;
    work(at);
    MPI_Sendrecv(&sent, 1, MPI_INT, at->right, 0, &got, 1, MPI_INT, at->left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got == round + at->left);
  }
}

static void halo(const Place* at, int rounds) {
  static char sent[2][face], got[2][face];
  for (int round = 0; round < rounds; ++round) {
    MPI_Request all[4];
    work(at);
    MPI_Irecv(got[0], face, MPI_CHAR, at->left, 1, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(got[1], face, MPI_CHAR, at->right, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(sent[0], face, MPI_CHAR, at->right, 1, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(sent[1], face, MPI_CHAR, at->left, 2, MPI_COMM_WORLD, &all[3]);
    MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  }
}

static void pipeline(const Place* at, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int item = round;
    if (at->rank > 0) MPI_Recv(&item, 1, MPI_INT, at->left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(item == round);
    work(at);
    if (at->rank + 1 < at->size) MPI_Send(&item, 1, MPI_INT, at->right, 3, MPI_COMM_WORLD);
  }
}

/* Rank 0 hands out tasks, one at a time; the others work. */
static void farm(const Place* at, int rounds) {
  int task = 0, waiting = at->size - 1;
  if (at->rank > 0) {
    MPI_Status status;
    for (;;) {
      MPI_Sendrecv(&task, 1, MPI_INT, 0, result, &task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                   &status);
      if (status.MPI_TAG == stop) return;
      work(at);
    }
  }
  for (int given = 0; waiting > 0; ++given) {
    MPI_Status from;
    MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, result, MPI_COMM_WORLD, &from);
    if (given >= rounds) --waiting;
    MPI_Send(&given, 1, MPI_INT, from.MPI_SOURCE, given < rounds ? tasks : stop, MPI_COMM_WORLD);
  }
}

static void split(const Place* at, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm half;
    work(at);
    MPI_Comm_split(MPI_COMM_WORLD, at->rank % 2, 0, &half);
    MPI_Comm_free(&half);
  }
}

static void barrier(const Place* at, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    work(at);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* All ranks count on rank 0's counter. */
static void counter(const Place* at, int rounds) {
  MPI_Win window;
  long *memory, before, one = 1;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int round = 0; round < rounds; ++round) {
    work(at);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  check(at->rank > 0 || *memory == (long)rounds * at->size);
  MPI_Win_free(&window);
}

static const struct {
  const char* name;
  void (*run)(const Place* at, int rounds);
  int parts; /* a call that takes longer is made so many times less often */
} kinds[] = {
    {"Sendrecv ring", ring, 1},   {"halo, Waitall", halo, 1}, {"pipeline", pipeline, 1},
    {"task farm", farm, 1},       {"Barrier", barrier, 1},    {"Comm_split", split, 10},
    {"Fetch_and_op", counter, 1},
};

static void measure_waits(const Ranks* ranks, int argc, char** argv) {
  static const char usage[] = "waits: give WORK (0 us or more) and ROUNDS (1 or more)";
  enum { most = 1000000 };
  if (argc != 3) ranks_stop(usage);
  const long us = ranks_number(argv[1], 0, most, usage);
  const int rounds = (int)ranks_number(argv[2], 1, most, usage);
  const int rank = ranks->rank, size = ranks->ranks;
  if (size < 2) ranks_stop("waits: start 2 or more ranks");
  const Place at = {rank, size, (rank + 1) % size, (rank + size - 1) % size, (double)us * 1e-6};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const int count = rounds < kinds[i].parts ? 1 : rounds / kinds[i].parts;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    kinds[i].run(&at, count);
    double slowest, time = (MPI_Wtime() - begin) / count;
    MPI_Reduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    row_begin_call("waits", kinds[i].name, 0);
    row_number("work_us", (double)us);
    row_number("ns", slowest * 1e9);
    row_end();
  }
}

static RanksKind kind = {"waits", measure_waits, NULL};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
