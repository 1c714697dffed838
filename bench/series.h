/* A series: operations that are measured together, one after the other, each from a common start.
 *
 * All ranks run a series together, each with its own Series, on one thread. The ranks meet in the
 * neutral ground (neutral.h) before each operation. An operation's time is the largest over the
 * ranks. The samples stay in the neutral ground until the next series. */
#ifndef TUTTI_BENCH_SERIES_H
#define TUTTI_BENCH_SERIES_H

#include <stdint.h>

#include "bench.h"

/* The operations of a series: of one kind, repeated, or of several kinds in the order of rounds.
 * `place` is the number of the kind, `number` that of the operation whose data the buffers hold. */
typedef struct {
  int count;        /* kinds */
  const int* order; /* each operation's kind, the warm ones first; NULL: all are of the first */
  bool cold;        /* each rank streams over memory before each operation */
  Computation beside;
  void* subject; /* the object that the functions below work on */
  /* This rank rewrites its data. NULL: there are none. */
  void (*fill)(void* subject, int place, uint32_t number);
  /* Runs one operation, and between its start and its completion work_beside. If `began` is not
   * NULL and the operation has a start of its own, the function writes there when the start
   * returned, in ticks. False if the operation is no sample.
   */
  bool (*operate)(void* subject, int place, int sample, uint64_t* began);
  /* False, and a line that says what is wrong. NULL: nothing to verify. */
  bool (*verify)(void* subject, int place, uint32_t number, char line[256]);
} Series;

/* Operations of each kind that are not measured, at the beginning. */
enum { series_warm = 8 };

/* The notes in the neutral ground: four for each operation. */
enum { SERIES_NOTES = 4 * BENCH_MOST_ITERATIONS };

/* Runs a series and returns the number of operations, which are whole rounds. */
int series_run(Bench* bench, const Series* series);

/* Both are of one kind of the series that ran last, at the first rank. The first returns the median
 * in nanoseconds, below 0 if every start was missed. The second adds to the open row how long the
 * operations took, and returns the median in microseconds; it ends the job if every start was
 * missed. */
double series_median(const Bench* bench, const Series* series, int samples, int place);
double series_row(const Bench* bench, const Series* series, int samples, int place);

#endif
