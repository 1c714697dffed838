/* The common part of the kinds of measurements among ranks of an MPI.
 *
 * A kind is a function in a file of its own in this directory, which adds it:
 *
 *   static RanksKind kind = {"lives", measure_lives, NULL};
 *   __attribute__((constructor)) static void add_kind(void) { ranks_add(&kind); }
 *
 * All ranks call the function alike, between MPI_Init and MPI_Finalize, with its words (argv[0] is
 * its name). Ranks add rows (rows.h), of which those of the first rank are written. */
#ifndef TUTTI_BENCH_RANKS_H
#define TUTTI_BENCH_RANKS_H

#include <mpi.h>

#include "clock.h"
#include "require.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int rank, ranks;
  BenchClock clock;
} Ranks;

typedef struct RanksKind {
  const char* name;
  void (*measure)(const Ranks* ranks, int argc, char** argv);
  struct RanksKind* next;
} RanksKind;

/* Adds a kind, before main. */
void ranks_add(RanksKind* kind);

/* Ends the job with one line. */
__attribute__((noreturn)) void ranks_stop(const char* what);

/* A whole number, or the end of the job with `usage`. */
long ranks_number(const char* text, long least, long most, const char* usage);

/* Memory on pages of its own, filled with `value`. The job ends if there is none. */
void* ranks_memory(size_t bytes, int value);

/* The group of all ranks, and memory that other ranks reach. The job ends if Tutti is not loaded:
 * tutti-run has preloaded its functions, to which the program is not linked. The caller frees both
 * by tutti_group_free and tutti_free. */
tutti_group* ranks_group(void);
void* ranks_reached_memory(size_t bytes);

/* The number of ranks on this rank's node, and the first of them. */
int ranks_of_node(int* first);

#ifdef __cplusplus
}
#endif

#endif
