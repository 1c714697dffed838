// Tests long messages of thread ranks by every way to reach buffers: all algorithms, the first and
// the last root, in place and with two buffers.
#include <gtest/gtest.h>

#include <tuple>
#include <algorithm>

#include "algo/algo.h"
#include "group/test_calls.h"
#include "plan/geometry.h"

namespace tutti::group::test {
namespace {

// Lengths just below and at the sizes from which readers bypass the slots, and lengths whose last
// segment is short.
const size_t counts[] = {plan::direct_from / 8 - 1, plan::direct_from / 8, 5003,
                         plan::cma_from / 8 + 77};

bool serves(const algo::Algorithm& algorithm, Collective collective) {
  return std::find(algorithm.collectives.begin(), algorithm.collectives.end(), collective) !=
         algorithm.collectives.end();
}

void calls(Group& group, Collective collective) {
  int round = 0;
  for (const size_t count : counts) {
    for (const int root : {0, group.ranks() - 1}) {
      if (root > 0 && !plan::rooted(collective)) continue;
      for (const bool in_place : {false, true})
        perform(group, {collective, count, root, in_place, ++round});
    }
  }
}

class Reach : public testing::TestWithParam<std::tuple<Reaching, int>> {};
const std::vector<int> numbers_of_ranks =
    looks_for_races || looks_at_memory ? std::vector{3} : std::vector{2, 5};

TEST_P(Reach, EveryAlgorithm) {
  const auto [reaching, ranks] = GetParam();
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    select::Overrides overrides;
    std::vector<Collective> served;
    for (int i = 0; i < plan::collective_count; ++i) {
      const auto collective = static_cast<Collective>(i);
      if (collective == Collective::barrier || !serves(algorithm, collective)) continue;
      overrides.algorithm[static_cast<size_t>(i)] = algorithm.name;
      served.push_back(collective);
    }
    with_groups(
        ranks, overrides, {},
        [&](Group& group) {
          for (const Collective collective : served) calls(group, collective);
        },
        true, 64 * 1024, false, {}, reaching);
  }
}

TEST_P(Reach, AsRulesSay) {
  const auto [reaching, ranks] = GetParam();
  for (const std::string way : {"staged", "direct", "cma"}) {
    std::string rules = "tutti-map 1\n";
    std::vector<Collective> served;
    for (int i = 1; i < plan::collective_count; ++i) {
      served.push_back(static_cast<Collective>(i));
      rules.append(plan::name(served.back()))
          .append(" -> builtin:flat reach ")
          .append(way)
          .append("\n");
    }
    const select::Table table = select::read_table(rules, way);
    select::Overrides overrides;
    overrides.table = &table;
    with_groups(
        ranks, overrides, {},
        [&](Group& group) {
          for (const Collective collective : served) calls(group, collective);
        },
        true, 64 * 1024, false, {}, reaching);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Reach,
                         testing::Combine(testing::ValuesIn(all_reaching),
                                          testing::ValuesIn(numbers_of_ranks)));

}  // namespace
}  // namespace tutti::group::test
