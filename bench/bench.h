/* One rank's job of tutti-bench: its options, and all that its measurements share.
 *
 * Each rank has one Bench, used by one thread. It lives as long as the job. */
#ifndef TUTTI_BENCH_BENCH_H
#define TUTTI_BENCH_BENCH_H

#include <stdint.h>

#include "collectives.h"
#include "neutral.h"
#include "options.h"
#include "work.h"

typedef struct {
  int rank, ranks, cores;
  BenchOptions options;
  Neutral neutral;
  Cell cell;
  Stream stream;
  Work work;             /* only for an overlap */
  uint32_t number;       /* operations so far */
  int trial;             /* from 1 on (trials.h); 0: there are none */
  bool lacks_persistent; /* persistent operations were to be measured, but this MPI has none */
} Bench;

/* Prints the line and ends the job. */
void bench_stop(const Bench* bench, const char* line);

#endif
