#define _GNU_SOURCE /* sched_yield */
#include "pairs.h"

#include <sched.h>
#include <stdatomic.h>

enum { tag_exchange = 7 };
static const double longest_wait = 60e6; /* microseconds until a target that is not told gives up */

/* The ranks of a node are one half. */
static bool are_two_halves(const Pair* pair) {
  int first, all;
  if (pair->ranks % 2 != 0) return false;
  const int here = ranks_of_node(&first),
            good = here == pair->pairs && first == (pair->is_client ? 0 : pair->pairs);
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

Pair pair_open(const Ranks* ranks) {
  Pair pair = {.rank = ranks->rank, .ranks = ranks->ranks, .clock = ranks->clock};
  pair.pairs = pair.ranks / 2;
  pair.is_client = pair.rank < pair.pairs;
  pair.partner = pair.is_client ? pair.rank + pair.pairs : pair.rank - pair.pairs;
  if (!are_two_halves(&pair))
    ranks_stop(
        "the first half of the ranks must be on one node and the other half on another one; start "
        "an even number, half of them on each of two nodes");
  MPI_Comm_split(MPI_COMM_WORLD, pair.is_client ? 0 : 1, pair.rank, &pair.side);
  pair.group = ranks_group();
  pair.told = ranks_reached_memory(64);
  *pair.told = 0;
  pair.told_there = (uint64_t*)(uintptr_t)pair_exchange(&pair, (int64_t)(uintptr_t)pair.told);
  return pair;
}

void pair_close(Pair* pair) {
  MPI_Barrier(MPI_COMM_WORLD);
  tutti_free(pair->told);
  tutti_group_free(pair->group);
  MPI_Comm_free(&pair->side);
}

int64_t pair_exchange(const Pair* pair, int64_t word) {
  int64_t other = 0;
  MPI_Sendrecv(&word, sizeof word, MPI_BYTE, pair->partner, tag_exchange, &other, sizeof other,
               MPI_BYTE, pair->partner, tag_exchange, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return other;
}

void pair_tell(Pair* pair) {
  tutti_handle handle;
  ++pair->tellings;
  require_ok(tutti_put(pair->group, pair->partner, pair->told_there, &pair->tellings,
                       sizeof pair->tellings, &handle));
  require_ok(tutti_wait(pair->group, &handle));
}

bool pair_was_told(Pair* pair) {
  if (atomic_load_explicit((_Atomic uint64_t*)pair->told, memory_order_acquire) <= pair->tellings)
    return false;
  ++pair->tellings;
  return true;
}

void pair_answer(Pair* pair) {
  const uint64_t begin = bench_now(&pair->clock);
  while (!pair_was_told(pair)) {
    require_ok(tutti_fence(pair->group));
    if (pair_microseconds(pair, bench_now(&pair->clock) - begin) > longest_wait)
      ranks_stop("a target has waited 60 s for its client");
    sched_yield(); /* nodes may share cores */
  }
}

static uint64_t word_of(size_t place, uint64_t seed) {
  return (place + 1) * 0x9e3779b97f4a7c15u + seed;
}

void pair_fill(void* memory, size_t bytes, uint64_t seed) {
  uint64_t* const words = memory;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = word_of(i, seed);
}

bool pair_is_filled_from(const void* part, size_t bytes, size_t before, uint64_t seed) {
  const uint64_t* const words = part;
  const size_t first = before / sizeof *words;
  uint64_t different = 0;
  for (size_t i = 0; i < bytes / sizeof *words; ++i)
    different |= words[i] ^ word_of(first + i, seed);
  return different == 0;
}

bool pair_is_filled(const void* memory, size_t bytes, uint64_t seed) {
  return pair_is_filled_from(memory, bytes, 0, seed);
}
