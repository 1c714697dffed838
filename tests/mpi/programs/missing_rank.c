// All ranks but the last one wait for a non-blocking allreduce that the last one has not started.
//
//   missing_rank killed|late|never|stopped wait|waitall|waitany|waitsome|test [FILE]
//
// The last rank is killed, or comes when FILE exists, or not at all, or is stopped by a signal.
#include <signal.h>
#include <unistd.h>

#include "check.h"

static int complete(const char* way, MPI_Request* request) {
  int index = -1, completed = 0, code = MPI_SUCCESS;
  if (strcmp(way, "wait") == 0) return MPI_Wait(request, MPI_STATUS_IGNORE);
  if (strcmp(way, "waitall") == 0) return MPI_Waitall(1, request, MPI_STATUSES_IGNORE);
  if (strcmp(way, "waitany") == 0) return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
  if (strcmp(way, "waitsome") == 0)
    return MPI_Waitsome(1, request, &completed, &index, MPI_STATUSES_IGNORE);
  while (code == MPI_SUCCESS && completed == 0) {
    code = MPI_Test(request, &completed, MPI_STATUS_IGNORE);
    usleep(100);
  }
  return code;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(argc >= 3, "two arguments, and a file for late");
  set_up(MPI_COMM_WORLD);
  for (int round = 0; round < 4; ++round) {
    if (round == 3 && world_rank == world_size - 1) {
      if (strcmp(argv[1], "killed") == 0) raise(SIGKILL);
      if (strcmp(argv[1], "stopped") == 0) raise(SIGSTOP);
      while (strcmp(argv[1], "never") == 0) sleep(1);
      while (access(argv[3], F_OK) != 0) usleep(10000);
    }
    int sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete(argv[2], &request);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d: sum %d", round, sum);
  }
  return finish();
}
