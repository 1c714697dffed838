// Messages in a ring of ranks: polled_ring ROUNDS [CORE]. With a core, all ranks move to it after
// MPI_Init.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = atoi(argv[1]);
  if (argc > 2) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[2]), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "core %s", argv[2]);
  }
  const int right = (world_rank + 1) % world_size;
  const int left = (world_rank + world_size - 1) % world_size;
  for (int round = 0; round < rounds; ++round) {
    int sent = round * world_size + world_rank, got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == round * world_size + left, "round %d: %d", round, got);
  }
  MPI_Finalize();
  if (world_rank == 0) puts("ok");
  return 0;
}
