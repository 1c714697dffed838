/* What the ranks put into their buffers and what a collective must make of it.
 *
 * An element depends on the rank that contributed it, on its index and on the operation's running number, so that a
 * result that is stale, shifted, or lacks or doubles a rank is wrong almost everywhere. All values are whole numbers
 * below 2^40, whose sums are exact in a double in any order. Pure functions. */
#ifndef TUTTI_BENCH_PATTERN_H
#define TUTTI_BENCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Fills `buffer` with what `rank` contributes to operation `number`. */
void pattern_fill(double* buffer, size_t count, uint32_t number, int rank);

/* What an element must be: the contribution of `rank`, or, where it is PATTERN_SUM, the sum over all `ranks`. */
#define PATTERN_SUM (-1)
double pattern_factor(int rank, int ranks);
double pattern_value(size_t index, uint32_t number, double factor);

/* The first index at which `buffer` does not hold that, or `count`. */
size_t pattern_first_wrong(const double* buffer, size_t count, uint32_t number, double factor);

#endif
