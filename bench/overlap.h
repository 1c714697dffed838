/* Overlap: how long a call and a computation take together.
 *
 * For each kind and loop (work.h) the job measures the computation alone, the blocking call and
 * then the computation, and the start, the computation and the wait of the other forms. The
 * computation takes as long as the options say, or as long as the blocking call. The results are
 * whole times, because a percentage of overlap looks the better the slower the call is. */
#ifndef TUTTI_BENCH_OVERLAP_H
#define TUTTI_BENCH_OVERLAP_H

#include "bench.h"

/* Operations of one kind in several forms. */
typedef struct {
  void* of;
  int forms, blocking; /* their number, and which of them is blocking; below 0: none */
  /* Measures a form, or the computation alone. Returns the median in microseconds at the first
   * rank.
   */
  double (*measure)(void* of, int form, const Computation* beside);
} OverlapSubject;

/* All ranks call these. The first measures how fast the loops are, and stops the job if the options
 * have durations of computations, but neither one nor one for each of `kinds` kinds. The second
 * measures kind number `place`, and the last one the options' calls. (An overlap has one
 * condition.)
 */
void overlap_prepare(Bench* bench, int kinds);
void overlap_of(Bench* bench, int place, const OverlapSubject* subject);
void overlap_measure(Bench* bench, BenchCondition condition);

#endif
