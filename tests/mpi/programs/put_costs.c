// For counting instructions: rank 1 puts into, and gets from, memory that it has mapped, in
// functions of their own, whose counts are dumped by their names. The memory is its own, because it
// cannot map other ranks' heaps under valgrind.
#include <valgrind/callgrind.h>

#include "check.h"
#include "tutti/mpi.h"

enum { calls = 5 };

static tutti_group* group;
static long* there;
static long value = 5;

__attribute__((noinline)) void counted_put(void) {
  tutti_put(group, 1, there, &value, sizeof value, NULL);
}
__attribute__((noinline)) void counted_get(void) {
  tutti_get(group, 1, &value, there, sizeof value, NULL);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(tutti_group_of_comm(MPI_COMM_WORLD, &group) == TUTTI_OK, "%s", tutti_error_message());
  there = tutti_alloc(sizeof *there);
  *there = 0;
  for (int i = 0; i < calls && world_rank == 1; ++i) {
    counted_put();
    CALLGRIND_DUMP_STATS_AT("put");
    value = 0;
    counted_get();
    CALLGRIND_DUMP_STATS_AT("get");
    CHECK(value == 5, "%ld", value);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(world_rank != 1 || *there == 5, "%ld", *there);
  tutti_group_free(group);
  return finish();
}
