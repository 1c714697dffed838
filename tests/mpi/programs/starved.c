// Rank 0 waits for a message that rank 1 never sends, and polls for it on a core that other
// processes need all the time from some moment on. It has the lowest priority, so that it runs for
// a few milliseconds in several seconds.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "check.h"

enum { others = 4, before_they_begin = 1500000 };  // microseconds

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  int message = 0;
  while (world_rank == 1) sleep(1);
  const struct sched_param lowest = {0};
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(sched_getcpu(), &core);
  sched_setaffinity(0, sizeof core, &core);
  for (int i = 0; i < others; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    usleep(before_they_begin);
    for (volatile int turns = 0;; ++turns) continue;
  }
  sched_setscheduler(0, SCHED_IDLE, &lowest);
  MPI_Recv(&message, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // mark starved
  return 1;
}
