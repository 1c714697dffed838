/* The order in which a job calls kinds that alternate: rounds of all kinds, each round shuffled
 * anew.
 *
 * A pure function of the number of kinds and the seed, so that every rank has the same order
 * without being told. */
#ifndef TUTTI_BENCH_ORDER_H
#define TUTTI_BENCH_ORDER_H

#include <stdint.h>

/* Writes rounds x kinds numbers from 0 to kinds - 1: each once in every round. */
void bench_order(int* order, int kinds, int rounds, uint64_t seed);

#endif
