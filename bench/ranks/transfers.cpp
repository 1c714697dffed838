// The times of one-sided transfers between two processes of a node, beside the machine's own for
// the same.
//
//   mpiexec -n 2 tutti-run tutti-ranks transfers REPETITIONS
//
// `tutti bench --one-sided` starts it, with each rank bound to a core and no other core for the
// job. Rank 0 transfers, and rank 1 owns the memory. For each repetition there is a row of each
// call:
//
//   line           half of a round trip of a line between the two processes
//   store, put     8 bytes into a line that its owner has just rewritten, until they are there: by
//                  a store to shared memory of MPI, and by tutti_put to memory from tutti_alloc
//   load, get      8 bytes from such a line: by a load, and by tutti_get
//   served_put     tutti_put of 8 bytes through a server that polls, with its completion; the
//                  server is a thread of rank 1, on its core, and rank 1 sleeps
//   served_get     the same of tutti_get
//   asleep_put, asleep_get  the same through a server that sleeps
//   asleep_wait    a put that is handed to a server that sleeps, and tutti_wait
//   wake           rank 0 wakes rank 1, which sleeps on a semaphore, until rank 1 has answered
#include <sched.h>
#include <semaphore.h>

#include <cstring>
#include <new>

#include "ranks.h"
#include "transfer_times.h"

namespace tutti::bench {
namespace {

constexpr int wakes = 200;
constexpr double pause_ns = 100'000;

// Shared by the two processes; rank 1 has allocated it.
struct Board {
  Lines lines;
  sem_t begin, end;  // the begin and the end of rank 0's work while rank 1 sleeps
};

struct Bench {
  int rank;
  Board* board;
  tutti_group* group;
  Word* there;  // rank 1's line, as rank 1 addresses it
};

void sleep_on(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) continue;
}

// Rank 0 transfers; the server is rank 1's, which sleeps.
void measure_served(const Bench& bench, Side& side) {
  tutti_team* const team = tutti_node_team();
  if (bench.rank == 1) {
    require_ok(tutti_servers_start(team, 1, TUTTI_SERVE_ALL));
    sem_post(&bench.board->begin);
    sleep_on(&bench.board->end);
    require_ok(tutti_servers_stop(team));
    return;
  }
  sleep_on(&bench.board->begin);
  require_ok(tutti_servers_wake(team));
  side.add_served("served_put", "served_get", transfer_samples, 0, bench.group, 1, *bench.there);
  require_ok(tutti_servers_sleep(team));
  side.add_served("asleep_put", "asleep_get", wakes, pause_ns, bench.group, 1, *bench.there);
  uint64_t mine = 0;
  tutti_handle handle;
  side.add_transfers("asleep_wait", wakes, pause_ns, [&] {
    require_ok(tutti_put(bench.group, 1, bench.there, &mine, sizeof mine, &handle));
    require_ok(tutti_wait(bench.group, &handle));
  });
  sem_post(&bench.board->end);
}

// Rank 0 wakes rank 1 on its core, and rank 1 answers.
void measure_wakes(const Bench& bench, Side& side) {
  Board* const board = bench.board;
  const uint64_t before = board->lines.back.value.load(std::memory_order_relaxed);
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t number = before;
  if (bench.rank == 0) {
    side.add_transfers("wake", wakes, pause_ns, [&] {
      sem_post(&board->begin);
      board->lines.back.await(++number);
    });
    return;
  }
  for (int i = 0; i < wakes; ++i) {
    sleep_on(&board->begin);
    board->lines.back.tell(++number);
  }
}

Board* make_board(int rank, MPI_Win* window) {
  void *own, *memory;
  MPI_Aint size;
  int unit;
  MPI_Win_allocate_shared(rank == 1 ? static_cast<MPI_Aint>(sizeof(Board) + 128) : 0, 1,
                          MPI_INFO_NULL, MPI_COMM_WORLD, &own, window);
  MPI_Win_shared_query(*window, 1, &size, &unit, &memory);
  const auto first = (reinterpret_cast<uintptr_t>(memory) + 127) & ~uintptr_t{127};
  auto* const board = reinterpret_cast<Board*>(first);
  if (rank == 1) {
    new (board) Board();
    sem_init(&board->begin, 1, 0);
    sem_init(&board->end, 1, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return board;
}

void add_cores() {
  int own = sched_getcpu(), cores[2];
  MPI_Gather(&own, 1, MPI_INT, cores, 1, MPI_INT, 0, MPI_COMM_WORLD);
  row_begin("job");
  row_integers("cores", cores, 2);
  row_end();
}

}  // namespace
}  // namespace tutti::bench

static void measure_transfers(const Ranks* ranks, int argc, char** argv) {
  using namespace tutti::bench;
  static constexpr char usage[] =
      "transfers: start two ranks, and give the number of repetitions, 1 to 1000";
  if (ranks->ranks != 2 || argc != 2) ranks_stop(usage);
  const auto repetitions = static_cast<int>(ranks_number(argv[1], 1, 1000, usage));
  MPI_Win window;
  Bench bench = {ranks->rank, make_board(ranks->rank, &window), ranks_group(), nullptr};
  void* const own = ranks_reached_memory(4096);
  bench.there = new (own) Word(0);
  MPI_Bcast(&bench.there, sizeof bench.there, MPI_BYTE, 1, MPI_COMM_WORLD);
  add_cores();
  for (int i = 0; i < repetitions; ++i) {
    if (bench.rank == 1) new (&bench.board->lines) Lines();
    MPI_Barrier(MPI_COMM_WORLD);
    Side side(bench.board->lines, bench.rank, ranks->clock, i);
    side.add_line();
    if (!side.add_accesses(bench.group, 1, *bench.there))
      ranks_stop("a get has read what its owner had not written");
    MPI_Barrier(MPI_COMM_WORLD);
    measure_served(bench, side);
    MPI_Barrier(MPI_COMM_WORLD);
    measure_wakes(bench, side);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  tutti_free(own);
  tutti_group_free(bench.group);
  MPI_Win_free(&window);
}

static RanksKind kind = {"transfers", measure_transfers, nullptr};
__attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
