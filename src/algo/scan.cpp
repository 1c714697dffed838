#include "algo/scan.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

Plan empty_plan(Collective collective, int ranks) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  return plan;
}

}  // namespace

Plan scan_all_read(Collective collective, int ranks) {
  Plan plan = empty_plan(collective, ranks);
  // Every vector is copied before any result is written, so that ranks may pass one buffer as `in`
  // and `out`.
  for (int32_t rank = 0; rank + 1 < ranks; ++rank) plan.copy(plan::tmp(rank), plan::in(rank));
  std::vector<Region> before;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<Region> sources = before;
    if (collective == Collective::scan) sources.push_back(plan::in(rank));
    if (!sources.empty()) plan.reduce(plan::out(rank), std::move(sources));
    before.push_back(plan::tmp(rank));
  }
  return plan;
}

Plan scan_chain(Collective collective, int ranks) {
  Plan plan = empty_plan(collective, ranks);
  const bool is_inclusive = collective == Collective::scan;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const bool last = rank + 1 == ranks;
    std::vector<Region> sources;
    if (rank > 0) sources.push_back(plan::tmp(rank - 1));
    sources.push_back(plan::in(rank));
    // The right neighbour waits for `tmp`, and no rank waits for `out`, so `tmp` is written first.
    if (!last) plan.reduce(plan::tmp(rank), sources);
    if (is_inclusive && last) plan.reduce(plan::out(rank), sources);
    if (is_inclusive && !last) plan.copy(plan::out(rank), plan::tmp(rank));
    if (!is_inclusive && rank > 0) plan.copy(plan::out(rank), plan::tmp(rank - 1));
  }
  return plan;
}

Plan scan_doubling(Collective collective, int ranks) {
  Plan plan = empty_plan(collective, ranks);
  const bool is_inclusive = collective == Collective::scan;
  // Indexed by rank: the combined values of itself and of the ranks before it.
  std::vector<Region> value;
  // Indexed by rank: the values that it has read, from the farthest rank on, without its own.
  std::vector<std::vector<Region>> before(static_cast<size_t>(ranks));
  std::vector<int32_t> next(static_cast<size_t>(ranks), 1);  // the first free block of `tmp`
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const bool is_taken = rank + 1 < ranks;
    if (is_taken) plan.copy(plan::tmp(rank), plan::in(rank));
    value.push_back(is_taken ? plan::tmp(rank) : plan::in(rank));
  }
  for (int32_t distance = 1; distance < ranks; distance *= 2) {
    const std::vector<Region> taken = value;
    for (int32_t rank = distance; rank < ranks; ++rank) {
      const auto at = static_cast<size_t>(rank);
      const bool goes_on = rank + 2 * distance<ranks, is_last = 2 * distance> rank;
      Region theirs = taken[at - static_cast<size_t>(distance)];
      if (!is_inclusive && goes_on) {
        // It is combined twice, but read from the other rank only once.
        plan.copy(plan::tmp(rank, next[at]), theirs);
        theirs = plan::tmp(rank, next[at]++);
      }
      if (!is_inclusive) before[at].insert(before[at].begin(), theirs);
      if (!is_inclusive && !goes_on) continue;
      const Region mine = value[at];
      value[at] =
          is_inclusive && is_last && !goes_on ? plan::out(rank) : plan::tmp(rank, next[at]++);
      plan.reduce(value[at], {theirs, mine});
    }
  }
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<size_t>(rank);
    if (is_inclusive && !(value[at] == plan::out(rank))) plan.copy(plan::out(rank), value[at]);
    if (!is_inclusive && rank > 0) plan.reduce(plan::out(rank), std::move(before[at]));
  }
  return plan;
}

}  // namespace tutti::algo
