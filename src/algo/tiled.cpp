#include "algo/tiled.h"

namespace tutti::algo {

plan::Plan tiled(plan::Collective collective, int ranks) {
  plan::Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = ranks;
  if (ranks == 1) {
    plan.copy(plan::out(0), plan::in(0));
    return plan;
  }
  // Everybody offers the others' tiles before anybody writes a result, so that ranks may pass one buffer as `in` and
  // `out`.
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const int32_t after = rank + 1;
    if (rank > 0) plan.copy(plan::tmp(rank, 0, rank), plan::in(rank, 0, rank));
    if (after < ranks) plan.copy(plan::tmp(rank, after, ranks - after), plan::in(rank, after, ranks - after));
  }
  for (int32_t tile = 0; tile < ranks; ++tile) {
    std::vector<plan::Region> sources;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      sources.push_back(rank == tile ? plan::in(rank, tile) : plan::tmp(rank, tile));
    }
    plan.reduce(plan::out(tile, tile), std::move(sources));
  }
  // Each starts with its right neighbour's tile, so that they do not all read the same one.
  for (int32_t rank = 0; rank < ranks; ++rank) {
    for (int32_t step = 1; step < ranks; ++step) {
      const int32_t tile = (rank + step) % ranks;
      plan.copy(plan::out(rank, tile), plan::out(tile, tile));
    }
  }
  return plan;
}

}  // namespace tutti::algo
