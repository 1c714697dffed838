#include "algo/bruck.h"

#include <algorithm>
#include <utility>
#include <vector>

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

// The patterns of rank 0. tmp[rank].k is at first the part for rank (rank + k) mod p. Every later
// transfer has a block of its own after these.
void alltoall(Plan& plan) {
  const int32_t ranks = plan.ranks;
  for (int32_t k = 1; k < ranks; ++k) plan.copy(plan::tmp(0, k), plan::in(0, k));
  std::vector<int32_t> place(
      static_cast<size_t>(ranks));  // indexed by k: the block of the parts going k on
  for (int32_t k = 0; k < ranks; ++k) place[static_cast<size_t>(k)] = k;
  int32_t next = ranks;
  for (int32_t distance = 1; distance < ranks; distance *= 2) {
    for (int32_t k = distance; k < ranks; ++k) {
      if ((k & distance) == 0) continue;
      const bool arrives = k < 2 * distance;
      plan.copy(arrives ? plan::out(0, ranks - k) : plan::tmp(0, next),
                plan::tmp(ranks - distance, place[static_cast<size_t>(k)]));
      if (!arrives) place[static_cast<size_t>(k)] = next++;
    }
  }
  plan.copy(plan::out(0, 0), plan::in(0, 0));
}

}  // namespace

plan::Written bruck(plan::Collective collective, int ranks) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = ranks;
  if (collective == plan::Collective::allgather) {
    allgather(plan);
    return plan;
  }
  alltoall(plan);
  return plan::in_rank_order(std::move(plan));
}

}  // namespace tutti::algo
