// For counting instructions: making and freeing a communicator that is not used, and one whose only
// call is a non-blocking allreduce. The last rank is late to each, so that it waits as little as
// possible. Each part is dumped by itself, under its name, so that the test can take the least of
// many.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

static MPI_Comm brief;
static int sum;

__attribute__((noinline)) void counted_dup(void) { MPI_Comm_dup(MPI_COMM_WORLD, &brief); }
__attribute__((noinline)) void counted_free(void) { MPI_Comm_free(&brief); }
__attribute__((noinline)) void counted_first(void) {
  MPI_Request request;
  MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, brief, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void be_late(void) {
  if (world_rank == world_size - 1) usleep(2000);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  for (int i = 0; i < 2 * rounds; ++i) {
    const int used = i % 2;
    MPI_Barrier(MPI_COMM_WORLD);
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_dup();
    CALLGRIND_DUMP_STATS_AT(used ? "dup" : "dup_unused");
    if (used) {
      be_late();
      CALLGRIND_ZERO_STATS;
      counted_first();
      CALLGRIND_DUMP_STATS_AT("first");
      CHECK(sum == world_size * (world_size - 1) / 2, "sum %d", sum);
    }
    CALLGRIND_ZERO_STATS;
    counted_free();
    CALLGRIND_DUMP_STATS_AT(used ? "free" : "free_unused");
  }
  return finish();
}
