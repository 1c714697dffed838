/* Pairs of ranks on two nodes, for the programs that measure one-sided transfers between nodes.
 *
 * The first half of the ranks is on one node, and the other half on another one. Rank i of the
 * first half is a client, whose target is rank i of the second half. Each process has one Pair, on
 * one thread, between MPI_Init and MPI_Finalize. */
#ifndef TUTTI_BENCH_PAIRS_H
#define TUTTI_BENCH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int rank, ranks;
  int pairs;   /* half of all ranks */
  int partner; /* a rank */
  bool is_client;
  MPI_Comm side; /* all clients, or all targets */
  BenchClock clock;
  tutti_group* group;
  uint64_t* told;       /* a word of this rank's, from tutti_alloc */
  uint64_t* told_there; /* the partner's word, as the partner addresses it */
  uint64_t tellings;    /* how often the client has told its target */
} Pair;

/* Collective. The job must be as described above, under tutti-run; else it ends. */
Pair pair_open(const Ranks* ranks);
void pair_close(Pair* pair);

/* Swaps a word with the partner by messages of the host MPI, and returns the partner's. */
int64_t pair_exchange(const Pair* pair, int64_t word);

/* The client: puts into its target's memory that it has told once more. Waits until it is there. */
void pair_tell(Pair* pair);
/* The target: whether the client has told it once more since this was last true. */
bool pair_was_told(Pair* pair);
/* The target: waits in calls of Tutti until it is told, and answers meanwhile. */
void pair_answer(Pair* pair);

static inline double pair_microseconds(const Pair* pair, uint64_t ticks) {
  return (double)ticks / pair->clock.ticks_per_second * 1e6;
}

/* Fills memory with words that depend on their place and on `seed`; `bytes` is a multiple of 8. */
void pair_fill(void* memory, size_t bytes, uint64_t seed);
/* True if pair_fill has left it so. */
bool pair_is_filled(const void* memory, size_t bytes, uint64_t seed);
/* The same of a part of such memory that begins after `before` bytes, a multiple of 8. */
bool pair_is_filled_from(const void* part, size_t bytes, size_t before, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
