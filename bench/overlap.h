/* Overlap: how long a call and a computation take together.
 *
 * For each kind and loop (work.h) the job measures the computation alone, the blocking call and
 * then the computation, and the start, the computation and the wait of the other forms. The
 * computation takes as long as the options say, or as long as the blocking call. The results are
 * whole times, because a percentage of overlap looks the better the slower the call is. */
#ifndef TUTTI_BENCH_OVERLAP_H
#define TUTTI_BENCH_OVERLAP_H

#include "measuring.h"

/* Measures how fast the loops are. Stops the job if the options have durations of computations, but
 * neither one nor one for each of `kinds` kinds. All ranks call both. */
void overlap_prepare(Bench* bench, int kinds);
void overlap_measure(Bench* bench, Results* results);

#endif
