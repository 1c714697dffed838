// Rank 0 calls another collective than the rest, which is an error that the user must be told.
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  int data = 1, sum;
  if (world_rank == 0)
    MPI_Bcast(&data, 1, MPI_INT, world_size - 1, MPI_COMM_WORLD);
  else
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}
