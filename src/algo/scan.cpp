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
  // Everybody offers before anybody writes a result, so that ranks may pass one buffer as `in` and `out`.
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
  const bool is_scan = collective == Collective::scan;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const bool last = rank + 1 == ranks;
    std::vector<Region> sources;
    if (rank > 0) sources.push_back(plan::tmp(rank - 1));
    sources.push_back(plan::in(rank));
    // The result for the right neighbour comes first: it has to wait for it, nobody waits for `out`.
    if (!last) plan.reduce(plan::tmp(rank), sources);
    if (is_scan && last) plan.reduce(plan::out(rank), sources);
    if (is_scan && !last) plan.copy(plan::out(rank), plan::tmp(rank));
    if (!is_scan && rank > 0) plan.copy(plan::out(rank), plan::tmp(rank - 1));
  }
  return plan;
}

}  // namespace tutti::algo
