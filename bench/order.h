/* The order in which a job calls alternating kinds: rounds of all kinds, each round shuffled again.
 *
 * It is a pure function of the number of kinds and the seed, so that every rank computes the same
 * order. */
#ifndef TUTTI_BENCH_ORDER_H
#define TUTTI_BENCH_ORDER_H

#include <stdint.h>

/* Writes rounds x kinds numbers from 0 to kinds - 1: each once in every round. */
void bench_order(int* order, int kinds, int rounds, uint64_t seed);

#endif
