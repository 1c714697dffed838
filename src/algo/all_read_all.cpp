#include "algo/all_read_all.h"

namespace tutti::algo {

plan::Written all_read_all(plan::Collective collective, int ranks) {
  plan::Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  // The patterns of rank 0. Every vector is copied before any result is written, so that ranks may
  // pass one buffer as `in` and `out`.
  std::vector<plan::Region> sources{plan::in(0)};
  for (int32_t other = 1; other < ranks; ++other) sources.push_back(plan::tmp(other));
  if (ranks > 1) plan.copy(plan::tmp(0), plan::in(0));
  plan.reduce(plan::out(0), std::move(sources));
  return plan::in_rank_order(std::move(plan), true);
}

}  // namespace tutti::algo
