// A persistent allreduce whose last rank starts 20 ms late; rank 0 sleeps for 10 ms between start
// and completion.
#include <unistd.h>

#include "check.h"

enum { rounds = 6, late = 20000, away = 10000 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Request request;
  double own = world_rank, sum = 0;
  MPI_Allreduce_init(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == world_size - 1) usleep(late);
    MPI_Start(&request);
    if (world_rank == 0) usleep(away);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2.0, "round %d: %g", round, sum);
  }
  MPI_Request_free(&request);
  return finish();
}
