/* Two processes on chosen cores that run one measurement of tutti-limits together.
 *
 * They are processes and not threads, because ranks are processes: one reads the other's memory as
 * an MPI would. The two are forked for each measurement, share one anonymous mapping, and have
 * ended when pair_run returns. One caller at a time. */
#ifndef TUTTI_BENCH_PAIR_H
#define TUTTI_BENCH_PAIR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock.h"

typedef struct {
  _Alignas(128) atomic_uint value;
} PairLine;

typedef struct {
  PairLine line[2]; /* line[i] is written by process i, or by both */
  PairLine arrived;
  PairLine released;
  uint64_t start; /* ticks; belongs to the last release */
  pid_t process[2];
  void* address[2]; /* private memory that a process offers */
  double result[2]; /* indexed by process; a negative one says that the measurement failed */
  uint64_t ticks[2][4096];
  int error;
} PairShared;

typedef struct {
  PairShared* shared;
  int self; /* 0 or 1 */
  unsigned meetings;
  BenchClock clock;
  size_t bytes; /* the argument of the measurement */
} Pair;

typedef void (*PairBody)(Pair* pair);

/* Finds two cores that the caller may run on, different ones if there are two. Returns the number
 * of cores found: 0, 1 or 2. */
int pair_cores(int core[2]);

/* Runs `body` in both processes. False if they could not be started or one died. The caller reads
 * `shared`. */
bool pair_run(PairShared* shared, const BenchClock* clock, const int core[2], size_t bytes,
              PairBody body);
PairShared* pair_shared(void);

/* For bodies: waits until both have arrived. Processes with cores of their own continue at one
 * instant. */
void pair_meet(Pair* pair);

#endif
