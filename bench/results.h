/* What a job measured, and how it is written: a table for people, JSON for `tutti bench`. Held by
 * the first rank. */
#ifndef TUTTI_BENCH_RESULTS_H
#define TUTTI_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef struct {
  BenchKind kind;
  BenchCondition condition;
  int kept, missed; /* operations whose start every rank, or not every rank, was in time for */
  double median, mean, least, percentile_95; /* microseconds */
} ResultsCell;

/* How long a line took from core to core around the measurements under a condition, in nanoseconds.
 */
typedef struct {
  BenchCondition condition;
  double before, after;
} ResultsHandOvers;

typedef struct {
  ResultsCell* cells;
  int count, room;
  BenchKinds left_out; /* collectives and sizes whose buffers would be beyond the bound */
  ResultsHandOvers hand_overs[BENCH_MOST_CONDITIONS]; /* in the order measured; none where ranks may
                                                         share cores */
  int hand_over_count;
  double flag_exchange; /* microseconds; 0: not two ranks with a core each */
} Results;

typedef struct {
  int ranks, cores;
  bool yields, counter;
  const BenchOptions* options;
} ResultsJob;

/* Both sort the samples. The second takes the cell's kind and condition, and is false without
 * memory. */
double results_median(double* samples, int count);
bool results_add(Results* results, ResultsCell cell, double* samples, int kept, int missed);

/* A collective and a size, once whatever the roots. False without memory. */
bool results_leave_out(Results* results, BenchKind kind);
void results_free(Results* results);

/* And says in one line on stderr what was left out. False, after a line there, if the file cannot
 * be written. */
bool results_write(const Results* results, const ResultsJob* job);

#endif
