/* Overlap: how long a call and a computation take together.
 *
 * For each kind and loop (work.h) the job measures the computation alone, the blocking call and
 * then the computation, and the start, the computation and the wait of the other forms. The
 * computation takes as long as the options say, or as long as the blocking call. The results are
 * whole times, because a percentage of overlap looks the better the slower the call is. */
#ifndef TUTTI_BENCH_OVERLAP_H
#define TUTTI_BENCH_OVERLAP_H

#include "measuring.h"

/* All ranks call it. */
void overlap_measure(Bench* bench, Results* results);

#endif
