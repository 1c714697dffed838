/* tutti-transfers-MPI: what one-sided transfers between two processes take, beside what the machine
 * takes for the same.
 *
 *   mpiexec -n 2 tutti-run tutti-transfers-MPI REPETITIONS
 *
 * One program for each MPI ABI; `tutti bench --one-sided` starts it, with each rank bound to a core
 * and no other core for the job. Rank 0 transfers, and rank 1 owns the memory. Rank 0 writes one
 * line of JSON to stdout, for each repetition in nanoseconds:
 *
 *   line           half of a round trip of a line between the two processes
 *   store, put     8 bytes into a line that its owner has just rewritten, until they are there: by
 *                  a store to shared memory of MPI, and by tutti_put to memory from tutti_alloc
 *   load, get      8 bytes from such a line: by a load, and by tutti_get
 *   served_put     tutti_put of 8 bytes through a server that polls, with its completion; the
 *                  server is a thread of rank 1, on its core, and rank 1 sleeps
 *   served_get     the same of tutti_get
 *   asleep_put, asleep_get  the same through a server that sleeps
 *   asleep_wait    a put that is handed to a server that sleeps, and tutti_wait
 *   wake           rank 0 wakes rank 1, which sleeps on a semaphore, until rank 1 has answered */
#define _GNU_SOURCE /* sched_getcpu */
#include <mpi.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "../json.h"
#include "functions.h"

enum { samples = 2000, wakes = 200, pause_ns = 100000, trips = 20000, most_repetitions = 1000 };

typedef struct {
  _Alignas(128) _Atomic uint64_t value;
} Line;

/* Shared by the two processes; rank 1 has allocated it. */
typedef struct {
  Line turn, there, back, line;
  sem_t begin, end; /* the begin and the end of rank 0's work while rank 1 sleeps */
} Board;

typedef struct {
  int rank;
  BenchClock clock;
  Board* board;
  Tutti tutti;
  tutti_group* group;
  uint64_t* there; /* rank 1's line, as rank 1 addresses it */
  uint64_t turns;  /* taken so far; the value of board->turn between measurements */
} Bench;

static void stop(const char* what) {
  fprintf(stderr, "tutti-transfers: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

static void require_ok(const Bench* bench, tutti_status status) {
  if (status != TUTTI_OK) stop(bench->tutti.error_message());
}

static uint64_t now(const Bench* bench) { return bench_now(&bench->clock); }
static double nanoseconds(const Bench* bench, uint64_t ticks) {
  return (double)ticks / bench->clock.ticks_per_second * 1e9;
}

/* Waits for a value without a pause, as the executor does at first. */
static void await(Line* line, uint64_t value) {
  while (atomic_load_explicit(&line->value, memory_order_acquire) != value) continue;
}
static void tell(Line* line, uint64_t value) {
  atomic_store_explicit(&line->value, value, memory_order_release);
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The mean of the middle half, which the clock's resolution does not limit. */
static double middle_mean(double* values, int count) {
  double sum = 0;
  const int outside = count / 4;
  qsort(values, (size_t)count, sizeof *values, ascending);
  for (int i = outside; i < count - outside; ++i) sum += values[i];
  return sum / (count - 2 * outside);
}

static double line_time(Bench* bench) {
  Board* const board = bench->board;
  MPI_Barrier(MPI_COMM_WORLD);
  const uint64_t begin = now(bench);
  for (uint64_t i = 1; i <= trips; ++i) {
    if (bench->rank == 0) tell(&board->there, i);
    await(bench->rank == 0 ? &board->back : &board->there, i);
    if (bench->rank == 1) tell(&board->back, i);
  }
  const double all = nanoseconds(bench, now(bench) - begin);
  MPI_Barrier(MPI_COMM_WORLD);
  tell(&board->there, 0);
  tell(&board->back, 0);
  return all / (2.0 * trips);
}

/* Rank 1: rewrites its line before each of rank 0's operations. */
static void rewrite(Bench* bench, _Atomic uint64_t* line) {
  Line* const turn = &bench->board->turn;
  for (uint64_t i = 0; i < samples; ++i) {
    await(turn, bench->turns);
    atomic_store_explicit(line, i, memory_order_release);
    tell(turn, bench->turns + 1);
    bench->turns += 2;
  }
  await(turn, bench->turns);
}

/* Rank 0: the middle mean of OPERATION, each after rank 1 has rewritten the line, less that of an
 * empty one, and at least 1. A macro, because a call through a pointer is not a part of a store. */
#define ACCESSED(result, bench, OPERATION)                                \
  do {                                                                    \
    static double taken[samples], empty[samples];                         \
    Line* const turn = &(bench)->board->turn;                             \
    for (int i = 0; i < samples; ++i) {                                   \
      await(turn, (bench)->turns + 1);                                    \
      const uint64_t idle = now(bench);                                   \
      atomic_thread_fence(memory_order_seq_cst);                          \
      const uint64_t begin = now(bench);                                  \
      OPERATION;                                                          \
      atomic_thread_fence(memory_order_seq_cst);                          \
      taken[i] = nanoseconds(bench, now(bench) - begin);                  \
      empty[i] = nanoseconds(bench, begin - idle);                        \
      (bench)->turns += 2;                                                \
      tell(turn, (bench)->turns);                                         \
    }                                                                     \
    (result) = middle_mean(taken, samples) - middle_mean(empty, samples); \
    if ((result) < 1) (result) = 1; /* the clock tells no less */         \
  } while (0)

static void by_caller(Bench* bench, BenchJson* json) {
  _Atomic uint64_t* const line = &bench->board->line.value;
  if (bench->rank == 1) {
    for (int i = 0; i < 2; ++i) {
      rewrite(bench, line);
      rewrite(bench, (_Atomic uint64_t*)bench->there);
    }
    return;
  }
  tutti_status (*const put)(tutti_group*, int, void*, const void*, size_t, tutti_handle*) =
      bench->tutti.put;
  tutti_status (*const get)(tutti_group*, int, void*, const void*, size_t, tutti_handle*) =
      bench->tutti.get;
  tutti_group* const group = bench->group;
  uint64_t* const there = bench->there;
  double store, by_put, load, by_get;
  uint64_t mine = 0;
  ACCESSED(store, bench, atomic_store_explicit(line, ++mine, memory_order_relaxed));
  ACCESSED(by_put, bench, {
    ++mine;
    put(group, 1, there, &mine, sizeof mine, NULL);
  });
  ACCESSED(load, bench, mine += atomic_load_explicit(line, memory_order_relaxed));
  ACCESSED(by_get, bench, get(group, 1, &mine, there, sizeof mine, NULL));
  if (mine != samples - 1) stop("a get has read what its owner had not written");
  bench_json_number(json, "store", store, 2);
  bench_json_number(json, "put", by_put, 2);
  bench_json_number(json, "load", load, 2);
  bench_json_number(json, "get", by_get, 2);
}

/* Rank 0: a transfer from its start until the server has completed it. */
static double served(Bench* bench, int puts, int count, int pause, int waits) {
  static double taken[samples];
  static uint64_t mine;
  const Tutti* const tutti = &bench->tutti;
  for (int i = 0; i < count; ++i) {
    tutti_handle handle;
    int complete = 0;
    uint64_t begin = now(bench);
    while (pause > 0 && nanoseconds(bench, now(bench) - begin) < pause) bench_pause();
    begin = now(bench);
    if (puts)
      require_ok(bench, tutti->put(bench->group, 1, bench->there, &mine, sizeof mine, &handle));
    else
      require_ok(bench, tutti->get(bench->group, 1, &mine, bench->there, sizeof mine, &handle));
    if (waits) require_ok(bench, tutti->wait(bench->group, &handle));
    while (!waits && complete == 0)
      require_ok(bench, tutti->test(bench->group, &handle, &complete));
    taken[i] = nanoseconds(bench, now(bench) - begin);
  }
  return middle_mean(taken, count);
}

/* Rank 0 wakes rank 1 on its core, and rank 1 answers. */
static double wake_time(Bench* bench) {
  static double taken[wakes];
  Board* const board = bench->board;
  for (uint64_t i = 1; i <= wakes; ++i) {
    if (bench->rank == 1) {
      while (sem_wait(&board->begin) != 0) continue;
      tell(&board->back, i);
      continue;
    }
    uint64_t begin = now(bench);
    while (nanoseconds(bench, now(bench) - begin) < pause_ns) bench_pause();
    begin = now(bench);
    sem_post(&board->begin);
    await(&board->back, i);
    taken[i - 1] = nanoseconds(bench, now(bench) - begin);
  }
  if (bench->rank == 1) return 0;
  tell(&board->back, 0);
  return middle_mean(taken, wakes);
}

static void by_server(Bench* bench, BenchJson* json) {
  const Tutti* const tutti = &bench->tutti;
  tutti_team* const team = tutti->node_team();
  if (bench->rank == 1) {
    require_ok(bench, tutti->servers_start(team, 1, TUTTI_SERVE_ALL));
    sem_post(&bench->board->begin);
    while (sem_wait(&bench->board->end) != 0) continue;
    require_ok(bench, tutti->servers_stop(team));
    return;
  }
  while (sem_wait(&bench->board->begin) != 0) continue;
  require_ok(bench, tutti->servers_wake(team));
  bench_json_number(json, "served_put", served(bench, 1, samples, 0, 0), 2);
  bench_json_number(json, "served_get", served(bench, 0, samples, 0, 0), 2);
  require_ok(bench, tutti->servers_sleep(team));
  bench_json_number(json, "asleep_put", served(bench, 1, wakes, pause_ns, 0), 2);
  bench_json_number(json, "asleep_get", served(bench, 0, wakes, pause_ns, 0), 2);
  bench_json_number(json, "asleep_wait", served(bench, 1, wakes, pause_ns, 1), 2);
  sem_post(&bench->board->end);
}

static Board* make_board(int rank, MPI_Win* window) {
  Board *own, *board;
  MPI_Aint size;
  int unit;
  MPI_Win_allocate_shared(rank == 1 ? (MPI_Aint)sizeof *own + 128 : 0, 1, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &own, window);
  MPI_Win_shared_query(*window, 1, &size, &unit, &board);
  board = (Board*)(((uintptr_t)board + 127) & ~(uintptr_t)127); /* windows start on pages */
  if (rank == 1) {
    memset(board, 0, sizeof *board);
    sem_init(&board->begin, 1, 0);
    sem_init(&board->end, 1, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return board;
}

static void write_cores(const Bench* bench, BenchJson* json) {
  int own = sched_getcpu(), cores[2];
  MPI_Gather(&own, 1, MPI_INT, cores, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (bench->rank != 0) return;
  bench_json_begin_list(json, "cores");
  for (int i = 0; i < 2; ++i) bench_json_integer(json, NULL, cores[i]);
  bench_json_end(json);
}

int main(int argc, char** argv) {
  MPI_Win window;
  int ranks;
  Bench bench = {.clock = bench_clock_open()};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int repetitions = argc == 2 ? atoi(argv[1]) : 0;
  if (ranks != 2 || repetitions < 1 || repetitions > most_repetitions)
    stop("start two ranks, and give the number of repetitions, 1 to 1000");
  bench.tutti = tutti_functions(stop);
  require_ok(&bench,
             bench.tutti.group_of_communicator((uint64_t)(uintptr_t)MPI_COMM_WORLD, &bench.group));
  bench.board = make_board(bench.rank, &window);
  uint64_t* const own = bench.tutti.alloc(4096);
  if (own == NULL) stop("no memory from tutti_alloc");
  memset(own, 0, 4096);
  bench.there = own;
  MPI_Bcast(&bench.there, sizeof bench.there, MPI_BYTE, 1, MPI_COMM_WORLD);

  BenchJson* const json = bench_json_open();
  write_cores(&bench, json);
  bench_json_begin_list(json, "repetitions");
  for (int i = 0; i < repetitions; ++i) {
    bench_json_begin_object(json, NULL);
    bench_json_number(json, "line", line_time(&bench), 2);
    by_caller(&bench, json);
    MPI_Barrier(MPI_COMM_WORLD);
    by_server(&bench, json);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_json_number(json, "wake", wake_time(&bench), 2);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_json_end(json);
  }
  bench_json_end(json);
  if (bench.rank == 0) bench_json_write_line(json, stdout);
  bench.tutti.free(own);
  bench.tutti.group_free(bench.group);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
