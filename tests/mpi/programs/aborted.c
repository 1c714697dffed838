// All ranks make some collectives together and some alone; then one rank, or every rank, ends the
// job by MPI_Abort.
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &alone);
  double one = 1, sum = 0;
  for (int i = 0; i < 25; ++i) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) MPI_Bcast(&one, 1, MPI_DOUBLE, 0, alone);
  const int all = strcmp(argv[1], "all") == 0;
  if (strcmp(argv[1], "none") == 0) return finish();
  if (all || world_rank == world_size - 1) MPI_Abort(MPI_COMM_WORLD, 7);
  for (;;) pause();
}
