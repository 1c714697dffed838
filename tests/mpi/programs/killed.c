// One rank is killed while the others wait for it.
#include <signal.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 50;
  for (int i = 0;; ++i) {
    int one = 1, sum = 0;
    if (i == calls && world_rank == world_size - 1) {
      usleep(100000);  // the others wait by now
      raise(SIGKILL);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}
