// For counting instructions: MPI_Comm_dup and the first five collectives on the new communicator,
// including its set-up, each in a function of its own. The last rank is late to each, so that it
// waits as little as possible. Each round is dumped by itself, under its function's name, so that
// the test can take the least of many.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

__attribute__((noinline)) void counted_dup(MPI_Comm* brief) { MPI_Comm_dup(MPI_COMM_WORLD, brief); }
__attribute__((noinline)) void counted_first(MPI_Comm brief) {
  for (int call = 0; call < 5; ++call) MPI_Barrier(brief);
}

static void be_late(void) {
  if (world_rank == world_size - 1) usleep(2000);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm brief;
    MPI_Barrier(MPI_COMM_WORLD);
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_dup(&brief);
    CALLGRIND_DUMP_STATS_AT("dup");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_first(brief);
    CALLGRIND_DUMP_STATS_AT("first");
    MPI_Comm_free(&brief);
  }
  return finish();
}
