#define _GNU_SOURCE
#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void bench_stop(const Bench* bench, const char* line) {
  fprintf(stderr, "tutti-bench: rank %d: %s\n", bench->rank, line);
  fflush(stderr);
  usleep(200000); /* launchers forward what a rank says, but drop what is on its way when a job is
                     aborted */
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}
