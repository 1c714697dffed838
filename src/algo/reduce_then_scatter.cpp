#include "algo/reduce_then_scatter.h"

#include <numeric>
#include <vector>

#include "algo/compose.h"

namespace tutti::algo {

plan::Plan reduce_then_scatter(const plan::Plan& reduce, const plan::Plan& scatter) {
  plan::Plan plan;
  plan.collective = plan::Collective::reduce_scatter;
  plan.ranks = plan.blocks = reduce.ranks;
  if (plan.ranks == 1) {
    plan.copy(plan::out(0), plan::in(0));
    return plan;
  }
  std::vector<int32_t> ranks(static_cast<size_t>(plan.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  Composer composer(plan);
  const plan::Region total = composer.scratch(reduce.root, plan.ranks);
  std::vector<Regions> vectors;
  for (const int32_t rank : ranks) vectors.push_back({plan::in(rank, 0, plan.ranks)});
  const std::vector<Regions> totals(ranks.size(), Regions{total});
  composer.embed({reduce, ranks, cut(vectors, reduce.blocks), cut(totals, reduce.blocks)});
  const Locate part = [&](int32_t, int64_t item, Regions& regions) {
    append(regions, plan::tmp(total.rank, total.first + static_cast<int32_t>(item)));
  };
  const Locate result = [](int32_t rank, int64_t, Regions& regions) {
    append(regions, plan::out(rank));
  };
  composer.embed({scatter, ranks, part, result, true});
  return plan;
}

}  // namespace tutti::algo
