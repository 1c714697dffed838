#include "algo/reduce_then_scatter.h"

#include <numeric>
#include <utility>
#include <vector>

#include "algo/compose.h"

namespace tutti::algo {
namespace {

// Hands the parts of a branch's ranks out from its leader. `at`, indexed by rank, has the block
// from which the rank's part is taken next: straight to its `out`, unless the rank leads others,
// whose parts it takes with its own.
void hand_out(Composer& composer, const Branch& branch, std::vector<plan::Region>& at) {
  const auto place_of = [&](int32_t rank) -> plan::Region& {
    return at[static_cast<size_t>(rank)];
  };
  if (branch.parts.empty())
    return composer.copy({plan::out(branch.leader)}, {place_of(branch.leader)});
  for (const Branch& part : branch.parts) {
    if (part.leader == branch.leader || part.parts.empty()) continue;
    const plan::Region taken = composer.scratch(part.leader, part.size);
    Regions from;
    int32_t block = taken.first;
    for (const int32_t rank : ranks_of(part))
      append(from, std::exchange(place_of(rank), plan::tmp(part.leader, block++)));
    composer.copy({taken}, from);
  }
  for (const Branch& part : branch.parts) hand_out(composer, part, at);
}

}  // namespace

plan::Plan reduce_then_scatter(const plan::Plan& reduce, const Branch& down) {
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
  std::vector<plan::Region> at;
  for (const int32_t rank : ranks) at.push_back(plan::tmp(total.rank, total.first + rank));
  hand_out(composer, down, at);
  return plan;
}

}  // namespace tutti::algo
