#include "model/leaves.h"

#include <algorithm>
#include <map>

#include "algo/branch.h"

namespace tutti::model {

int32_t leaves_of(const Machine& machine, const std::vector<placement::SharedLevel>& levels,
                  int32_t ranks, double bytes) {
  const LevelCost* cost = &machine.levels.front();
  int32_t together = ranks;
  for (const placement::SharedLevel& level : levels) {
    const LevelCost* const inner = machine.find(level.name);
    std::map<int32_t, int32_t> sizes;
    int32_t most = 0;
    for (const int32_t group : level.group_of.values()) most = std::max(most, ++sizes[group]);
    if (inner == nullptr || most < 2) continue;
    cost = inner;
    together = most;
  }
  return algo::leaves_without_congestion(together, cost->add.at(bytes), cost->shared.at(bytes));
}

}  // namespace tutti::model
