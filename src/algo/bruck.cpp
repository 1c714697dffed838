#include "algo/bruck.h"

#include <algorithm>

namespace tutti::algo {
namespace {

using plan::Plan;

// tmp[rank].k is the part of rank (rank + k) mod p.
void allgather(Plan& plan) {
  const int32_t ranks = plan.ranks;
  for (int32_t rank = 0; rank < ranks; ++rank) plan.copy(plan::tmp(rank, 0), plan::in(rank));
  for (int32_t distance = 1; distance < ranks; distance *= 2) {
    const int32_t count = std::min(distance, ranks - distance);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      plan.copy(plan::tmp(rank, distance, count), plan::tmp((rank + distance) % ranks, 0, count));
    }
  }
  for (int32_t rank = 0; rank < ranks; ++rank) {
    plan.copy(plan::out(rank, rank, ranks - rank), plan::tmp(rank, 0, ranks - rank));
    if (rank > 0) plan.copy(plan::out(rank, 0, rank), plan::tmp(rank, ranks - rank, rank));
  }
}

// tmp[rank].k is at first the part for rank (rank + k) mod p. Every later transfer has a block of
// its own after these.
void alltoall(Plan& plan) {
  const int32_t ranks = plan.ranks;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    for (int32_t k = 1; k < ranks; ++k)
      plan.copy(plan::tmp(rank, k), plan::in(rank, (rank + k) % ranks));
  }
  std::vector<int32_t> place(
      static_cast<size_t>(ranks));  // indexed by k: the block of the parts going k on
  for (int32_t k = 0; k < ranks; ++k) place[static_cast<size_t>(k)] = k;
  int32_t next = ranks;
  for (int32_t distance = 1; distance < ranks; distance *= 2) {
    for (int32_t k = distance; k < ranks; ++k) {
      if ((k & distance) == 0) continue;
      const bool arrives = k < 2 * distance;
      for (int32_t rank = 0; rank < ranks; ++rank) {
        const int32_t behind = (rank + ranks - distance) % ranks, from = (rank + ranks - k) % ranks;
        plan.copy(arrives ? plan::out(rank, from) : plan::tmp(rank, next),
                  plan::tmp(behind, place[static_cast<size_t>(k)]));
      }
      if (!arrives) place[static_cast<size_t>(k)] = next++;
    }
  }
  for (int32_t rank = 0; rank < ranks; ++rank)
    plan.copy(plan::out(rank, rank), plan::in(rank, rank));
}

}  // namespace

Plan bruck(plan::Collective collective, int ranks) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = ranks;
  if (collective == plan::Collective::allgather) {
    allgather(plan);
  } else {
    alltoall(plan);
  }
  return plan;
}

}  // namespace tutti::algo
