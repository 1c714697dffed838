/* The work of a pair of processes (pair.h) in a measurement, where tutti-limits and
 * tutti-machine share it. The result of process 0 is in seconds; a negative one says that the
 * system refused. */
#ifndef TUTTI_BENCH_PAIR_BODIES_H
#define TUTTI_BENCH_PAIR_BODIES_H

#include "pair.h"

double pair_seconds(const Pair* pair, uint64_t ticks);
/* Reorders the values, of which there is one at least. */
double pair_median(double* values, int count);
/* Memory whose pages are there. The process ends if there is none. */
char* pair_touched(size_t bytes, int value);

/* Both processes are on one core, and each yields until it is its turn. Seconds from turn to turn.
 */
void pair_yield_hand_over(Pair* pair);

/* Before each round a process rewrites `pair->bytes` bytes; then process 0 reads them. */
typedef enum { copy_of_others, sum_with_others, cma_of_others, copy_of_own } PairFetch;
/* `copy_of_others` and `sum_with_others` read process 1's data in `shared`, which both have mapped;
 * `cma_of_others` copies it from process 1's own memory by process_vm_readv; `copy_of_own` copies
 * process 0's. */
void pair_fetch(Pair* pair, char* shared, PairFetch how);

#endif
