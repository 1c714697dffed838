#include "algo/all_read_all.h"

namespace tutti::algo {

plan::Plan all_read_all(plan::Collective collective, int ranks) {
  plan::Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  // Every vector is copied before any result is written, so that ranks may pass one buffer as `in`
  // and `out`.
  std::vector<plan::Region> sources;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    if (ranks > 1) plan.copy(plan::tmp(rank), plan::in(rank));
    sources.push_back(plan::tmp(rank));
  }
  for (int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<plan::Region> mine = sources;
    mine[rank] = plan::in(rank);
    plan.reduce(plan::out(rank), std::move(mine));
  }
  return plan;
}

}  // namespace tutti::algo
