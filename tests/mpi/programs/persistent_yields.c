// Counts how often rank 0 yields and sleeps while it waits for a rank that starts its part of a
// persistent collective late.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static int counting, yields, sleeps;

// The libraries call these functions too, because the program's definitions come first.
int sched_yield(void) {
  yields += counting;
  return (int)syscall(SYS_sched_yield);
}

int usleep(useconds_t microseconds) {
  sleeps += counting;
  const struct timespec time = {0, 1000L * (long)microseconds};
  return nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (world_rank == 1) usleep(500000);
  MPI_Start(&request);
  counting = world_rank == 0;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  counting = 0;
  MPI_Request_free(&request);
  if (world_rank == 0) printf("yields %d sleeps %d\n", yields, sleeps);
  return finish();
}
