/* A series (series.h) of calls of MPI, on the buffers of the job's cell. */
#ifndef TUTTI_BENCH_CALL_SERIES_H
#define TUTTI_BENCH_CALL_SERIES_H

#include "series.h"

/* The calls, and the computation of each rank beside them. */
typedef struct {
  const BenchKind* kinds;
  int count;
  const int* order; /* as in Series */
  BenchCondition condition;
  Computation beside;
} CallSeries;

/* Runs the series. All ranks call it. The first one adds a row for each kind and gets the median of
 * the first kind in microseconds; the others get 0. */
double call_series_measure(Bench* bench, const CallSeries* calls);

#endif
