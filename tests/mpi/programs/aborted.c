// All ranks make some collectives together and some alone; then one rank, or every rank, ends the
// job by MPI_Abort, or one rank ends itself alone, by MPI_Abort of its communicator ("part") or by
// _exit ("exit"). The others then call MPI_Finalize, where the host may wait for it, and end after
// some seconds (the third argument, or 3). With "late" one rank comes to MPI_Finalize late.
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
  if (strcmp(argv[1], "late") == 0) {
    if (world_rank == atoi(argv[2])) sleep(4);
    return MPI_Finalize();
  }
  if (strcmp(argv[1], "part") == 0 || strcmp(argv[1], "exit") == 0) {
    if (world_rank == atoi(argv[2])) {
      usleep(world_rank == 0 ? 0 : 300000);
      if (strcmp(argv[1], "part") == 0) MPI_Abort(alone, 7);
      _exit(0);
    }
    if (world_rank == 1) usleep(600000);
    alarm(argc > 3 ? (unsigned)atoi(argv[3]) : 3);
    return MPI_Finalize();
  }
  if (all || world_rank == world_size - 1) MPI_Abort(MPI_COMM_WORLD, 7);
  for (;;) pause();
}
