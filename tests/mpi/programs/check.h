// Shared by the test programs: CHECK ends the job with the place and a message, exercise uses a
// communicator.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int world_rank, world_size;

__attribute__((format(printf, 5, 6))) static inline void give_up(MPI_Comm communicator,
                                                                 const char* file, int line,
                                                                 const char* condition,
                                                                 const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "rank %d, %s:%d: %s: ", world_rank, file, line, condition);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  usleep(200000);  // launchers may drop what was written just before
  MPI_Abort(communicator, 3);
}

#define CHECK(condition, ...)                                                               \
  do {                                                                                      \
    if (!(condition)) give_up(MPI_COMM_WORLD, __FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)
// Ends the job through this communicator, for programs that have no MPI_COMM_WORLD (yet).
#define CHECK_IN(communicator, condition, ...)                                            \
  do {                                                                                    \
    if (!(condition)) give_up(communicator, __FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

// Makes enough calls that the communicator is set up afterwards (TUTTI_SETUP_AFTER).
static inline void set_up(MPI_Comm communicator) {
  for (int i = 0; i < 4; ++i) MPI_Barrier(communicator);
}

enum { most_ints = 1024 };

// Makes rounds of allreduce, bcast, reduce and barrier and checks their results. Each bcast has
// `ints` ints, at most most_ints.
static inline void exercise(MPI_Comm communicator, int rounds, int ints) {
  int rank, size, data[most_ints];
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  for (int i = 0; i < rounds; ++i) {
    int value = rank + i, sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, communicator);
    CHECK_IN(communicator, sum == size * (size - 1) / 2 + i * size, "allreduce %d of %d ranks: %d",
             i, size, sum);
    for (int k = 0; k < ints; ++k) data[k] = rank == i % size ? i + k : -1;
    MPI_Bcast(data, ints, MPI_INT, i % size, communicator);
    const int last = data[ints - 1];
    CHECK_IN(communicator, data[0] == i && last == i + ints - 1, "bcast %d: %d %d", i, data[0],
             last);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_MAX, i % size, communicator);
    if (rank == i % size) CHECK_IN(communicator, sum == size - 1 + i, "reduce %d: %d", i, sum);
    MPI_Barrier(communicator);
  }
}

typedef struct {
  const char* name;
  void (*run)(void);
} Case;

// Runs the cases that the arguments name. Rank 0 prints a line after each that all ranks have ended
// (expect_case in support.py reads it).
static inline void run_cases(int argc, char** argv, const Case* all, int count) {
  CHECK(argc > 1, "no case is named");
  for (int word = 1; word < argc; ++word) {
    int which = 0;
    while (which < count && strcmp(all[which].name, argv[word]) != 0) ++which;
    CHECK(which < count, "no case %s", argv[word]);
    all[which].run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) printf("case %s has ended\n", argv[word]), fflush(stdout);
  }
}

static inline int finish(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
