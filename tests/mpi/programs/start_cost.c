// For counting instructions: MPI_Init and MPI_Finalize, each in a function of its own.
#include <mpi.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

__attribute__((noinline)) void counted_start(void) { MPI_Init(0, 0); }
__attribute__((noinline)) void counted_end(void) { MPI_Finalize(); }

int main(void) {
  counted_start();
  CALLGRIND_DUMP_STATS_AT("start");
  CALLGRIND_ZERO_STATS;
  counted_end();
  CALLGRIND_DUMP_STATS_AT("end");
  puts("ok");
  return 0;
}
