// One rank is killed, and the others wait for its part of a persistent collective.
#include <signal.h>

#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0;; ++round) {
    if (round == 3 && world_rank == world_size - 1) raise(SIGKILL);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
