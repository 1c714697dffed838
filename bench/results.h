/* What a job measured, and how it is written: a table for people, JSON for `tutti bench`. Held by the first rank. */
#ifndef TUTTI_BENCH_RESULTS_H
#define TUTTI_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

typedef struct {
  const char* collective;
  size_t bytes;
  int root;         /* -1: the collective has none */
  int kept, missed; /* operations whose start every rank, or not every rank, was in time for */
  double median, mean, least, percentile_95; /* microseconds */
} ResultsCell;

typedef struct {
  const char* collective;
  size_t bytes;
} ResultsLeftOut;

typedef struct {
  ResultsCell* cells;
  ResultsLeftOut left_out[BENCH_COLLECTIVES * BENCH_MOST_SIZES]; /* whose buffers would be beyond the bound */
  int count, room, left_out_count;
  double flag_exchange; /* microseconds; 0: not two ranks with a core each */
} Results;

typedef struct {
  int ranks, cores;
  bool yields, counter;
  const BenchOptions* options;
} ResultsJob;

/* Both sort the samples. The second takes the cell's name, size and root, and is false without memory. */
double results_median(double* samples, int count);
bool results_add(Results* results, ResultsCell cell, double* samples, int kept, int missed);

void results_leave_out(Results* results, const char* collective, size_t bytes);

/* And says in one line on stderr what was left out. False, after a line there, if the file cannot be written. */
bool results_write(const Results* results, const ResultsJob* job);

#endif
