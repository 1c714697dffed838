// What the test programs share: CHECK ends the job with the place and a message.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank, world_size;

#define CHECK(condition, ...)                                                       \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "rank %d, %s:%d: %s: ", world_rank, __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                                 \
      fprintf(stderr, "\n");                                                        \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                 \
    }                                                                               \
  } while (0)

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

// Past the calls that a communicator makes before it sets up.
static inline void set_up(MPI_Comm communicator) {
  for (int i = 0; i < 4; ++i) MPI_Barrier(communicator);
}

static inline int finish(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
