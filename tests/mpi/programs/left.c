// A program that leaves what Tutti's code could leave: it stands for a fault in that code, which
// the ledger must find.
// Usage: left descriptor|high|mapping|thread|nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void* rest(void* none) {
  pause();
  return none;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char* const what = rank == 0 && argc > 1 ? argv[1] : "nothing";
  const int file = memfd_create("tutti", MFD_CLOEXEC);
  if (ftruncate(file, 4096) != 0) return 1;
  if (strcmp(what, "mapping") == 0) mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (strcmp(what, "descriptor") != 0) close(file);
  if (strcmp(what, "high") == 0 && fcntl(0, F_DUPFD_CLOEXEC, 200) < 0) return 1;
  pthread_t thread;
  if (strcmp(what, "thread") == 0) {
    pthread_create(&thread, NULL, rest, NULL);
    pthread_setname_np(thread, "tutti-server");
  }
  MPI_Finalize();
  if (rank == 0) printf("ok\n");
  return 0;
}
