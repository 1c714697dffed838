/* A series (series.h) of calls of MPI, on the buffers of the job's cell. */
#ifndef TUTTI_BENCH_CALL_SERIES_H
#define TUTTI_BENCH_CALL_SERIES_H

#include "series.h"
#include "work.h"

/* The calls, and the computation of each rank beside them. */
typedef struct {
  const BenchKind* kinds;
  int count;
  const int* order; /* as in Series */
  BenchCondition condition;
  WorkLoop loop; /* WORK_NONE: nothing is computed */
  uint64_t turns;
  double computing; /* microseconds that these turns take */
  bool alone;       /* only the computation, without any call */
} CallSeries;

/* Runs the series and adds a cell for each kind to the results. All ranks call it. At the first
 * rank the result is the median of the first kind in microseconds; elsewhere it is 0. */
double call_series_measure(Bench* bench, const CallSeries* calls, Results* results);

#endif
