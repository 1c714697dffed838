/* The results of a job, and their output: a table for people, JSON for `tutti bench`. They belong
 * to the first rank. */
#ifndef TUTTI_BENCH_RESULTS_H
#define TUTTI_BENCH_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "work.h"

typedef struct {
  BenchKind kind;
  BenchCondition condition;
  WorkLoop loop; /* the computation beside the call, and its duration in microseconds */
  double computing;
  bool no_call;     /* the computation alone */
  const char* halo; /* NULL, or the way of an exchange of ghost cells, of kind.bytes a face */
  int trial;        /* from 1 on (trials.h); 0: there are none */
  bool in_order;    /* this MPI matches both faces of a neighbour in order (halo.c) */
  int kept, missed; /* operations whose start every rank, or not every rank, was in time for */
  double median, mean, least, percentile_95; /* microseconds */
  double start; /* the median time until the start returned; below 0: the operation has no start */
  /* Beside a computation, below 0 without one: the medians of the time in which others had a rank's
   * core while it computed, and of the time that the completion took after the computation. */
  double others, wait;
} ResultsCell;

/* The time in which a cache line went from core to core, before and after the measurements under a
 * condition, in nanoseconds. */
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
  double flag_exchange;  /* microseconds; 0: not two ranks with a core each */
  bool lacks_persistent; /* persistent collectives were to be measured, but this MPI has none */
} Results;

typedef struct {
  int ranks, cores;
  bool yields, counter;
  const BenchOptions* options;
} ResultsJob;

/* The times of one kind of a series, in microseconds. Reading the clock between a start and its
 * completion would lengthen the operation, so an operation is either timed as a whole, or until its
 * start returned. */
typedef struct {
  double *whole, *start, *others, *wait;
  int wholes, starts, computations, waits;
  int missed; /* operations of which not every rank was in time for the common start */
} SeriesTimes;

/* Both sort the samples. The second takes what says which cell it is; false without memory. */
double results_median(double* samples, int count);
bool results_add(Results* results, ResultsCell cell, SeriesTimes* times);

/* Notes that a collective and a size were left out, once for all roots. False without memory. */
bool results_leave_out(Results* results, BenchKind kind);
void results_free(Results* results);

/* Writes the results, and prints one line on stderr about what was left out. If the file cannot be
 * written it prints a line on stderr and returns false. */
bool results_write(const Results* results, const ResultsJob* job);

#endif
