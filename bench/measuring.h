/* How tutti-bench measures: kinds of calls under each condition (options.h), one operation after
 * the other; or calls beside computations (overlap.h), or exchanges of ghost cells (halo.h).
 *
 * All ranks start an operation at one instant, after they have met in the neutral ground
 * (neutral.h). Each rank has just rewritten its buffers; without that, MPIs that copy from process
 * to process would look too fast. An operation's time is the largest over the ranks. Every result
 * is verified outside of the timed part. */
#ifndef TUTTI_BENCH_MEASURING_H
#define TUTTI_BENCH_MEASURING_H

#include "bench.h"

/* Measures everything that the options request. All ranks call it; the first one adds a row for
 * each result. */
void bench_measure(Bench* bench);

#endif
