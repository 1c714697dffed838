// Tests groups of thread ranks on machines with levels: the choice of the rules, and the results of
// every algorithm that uses levels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "algo/algo.h"
#include "group/test_functions.h"
#include "group/test_ranks.h"
#include "group/scratch.h"
#include "placement/levels.h"

namespace tutti::group::test {
namespace {

using plan::Collective;

placement::Levels levels_by(int ranks, int (*group_of)(int rank, int ranks)) {
  std::vector<int32_t> groups;
  for (int rank = 0; rank < ranks; ++rank) groups.push_back(group_of(rank, ranks));
  return placement::Levels({{"numa", groups, 1}});
}
placement::Levels in_halves(int ranks) {
  return levels_by(ranks, [](int rank, int all) { return rank * 2 / all; });
}
placement::Levels round_robin(int ranks) {
  return levels_by(ranks, [](int rank, int) { return rank % 3; });
}

constexpr std::array<size_t, 3> counts{1, 33, 3000};

// Makes one call and checks this rank's result.
void call(Group& group, Collective collective, size_t count, int root) {
  const auto p = static_cast<size_t>(group.ranks()), me = static_cast<size_t>(group.rank());
  const auto value = [](size_t rank, size_t i) {
    return static_cast<int64_t>(rank * 1000 + i % 997);
  };
  const auto sum = [&](size_t i) {
    int64_t all = 0;
    for (size_t rank = 0; rank < p; ++rank) all += value(rank, i);
    return all;
  };
  std::vector<int64_t> in(count * p), out(count * p, -1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = value(me, i);
  const size_t part = count * sizeof(int64_t);
  const bool at_root = group.rank() == root;
  switch (collective) {
    case Collective::barrier: ASSERT_EQ(barrier(group), Code::ok) << group.failure(); break;
    case Collective::bcast:
      ASSERT_EQ(bcast(group, in.data(), part, root), Code::ok) << group.failure();
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(in[i], value(static_cast<size_t>(root), i));
      break;
    case Collective::reduce:
      ASSERT_EQ(reduce(group, in.data(), out.data(), count, sum_of_integers(), root), Code::ok)
          << group.failure();
      for (size_t i = 0; i < count && at_root; ++i) ASSERT_EQ(out[i], sum(i));
      break;
    case Collective::allreduce:
      ASSERT_EQ(allreduce(group, in.data(), in.data(), count, sum_of_integers()), Code::ok)
          << group.failure();
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(in[i], sum(i));
      break;
    case Collective::reduce_scatter:
      ASSERT_EQ(reduce_scatter(group, in.data(), out.data(), count, sum_of_integers()), Code::ok)
          << group.failure();
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], sum(me * count + i));
      break;
    case Collective::gather:
    case Collective::allgather: {
      const bool all = collective == Collective::allgather;
      const Code code = all ? allgather(group, in.data(), out.data(), part)
                            : gather(group, in.data(), out.data(), part, root);
      ASSERT_EQ(code, Code::ok) << group.failure();
      for (size_t i = 0; i < count * p && (all || at_root); ++i)
        ASSERT_EQ(out[i], value(i / count, i % count));
      break;
    }
    case Collective::scatter:
      ASSERT_EQ(scatter(group, in.data(), out.data(), part, root), Code::ok) << group.failure();
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(out[i], value(static_cast<size_t>(root), me * count + i));
      break;
    case Collective::alltoall:
      ASSERT_EQ(alltoall(group, in.data(), out.data(), part), Code::ok) << group.failure();
      for (size_t i = 0; i < count * p; ++i)
        ASSERT_EQ(out[i], value(i / count, me * count + i % count));
      break;
    default: break;
  }
}

std::vector<std::string> new_specs() {
  std::vector<std::string> specs;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    if (!algorithm.by_levels && algorithm.name != "bruck") continue;
    specs.emplace_back(algorithm.name);
    specs.insert(specs.end(), algorithm.variants.begin(), algorithm.variants.end());
  }
  return specs;
}

void every_call(Group& group, const std::string& spec, const select::Overrides& overrides) {
  for (int i = 0; i < plan::collective_count; ++i) {
    if (overrides.algorithm[static_cast<size_t>(i)].empty()) continue;
    const auto collective = static_cast<Collective>(i);
    const int last = plan::rooted(collective) ? group.ranks() - 1 : 0;
    for (const size_t count : counts) {
      SCOPED_TRACE(spec + " " + std::string(plan::name(collective)) + ", count " +
                   std::to_string(count));
      for (const int root : {0, last})
        ASSERT_NO_FATAL_FAILURE(call(group, collective, count, root));
    }
  }
}

class OnLevels : public testing::TestWithParam<int> {};

TEST_P(OnLevels, EveryAlgorithm) {
  const int ranks = GetParam();
  const std::array layouts{in_halves(ranks), round_robin(ranks)};
  size_t turn = 0;
  for (const std::string& spec : new_specs()) {
    ++turn;
    select::Overrides overrides;
    overrides.segment_bytes = 4096;
    const std::string name = spec.substr(0, spec.find(':'));
    for (const algo::Algorithm& algorithm : algo::algorithms()) {
      if (algorithm.name != name) continue;
      for (const Collective collective : algorithm.collectives)
        overrides.algorithm[static_cast<size_t>(collective)] = spec;
    }
    for (size_t layout = 0; layout < layouts.size(); ++layout) {
      // Many threads on few cores take long, so the algorithms use the two layouts in turn.
      if (ranks > 7 && layout == turn % 2) continue;
      with_groups(
          ranks, overrides, {}, [&](Group& group) { every_call(group, spec, overrides); }, true,
          64 * 1024, ranks < 4, layouts[layout]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnLevels, testing::ValuesIn(rank_counts({2, 3, 4, 7, 16})));

// Groups of equally many ranks on different levels must not share programs.
TEST(GroupOnLevels, ProgramsAreKeptByLevels) {
  select::Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::bcast)] = "levels:flat";
  for (const placement::Levels& levels : {in_halves(6), round_robin(6), placement::Levels()}) {
    with_groups(
        6, overrides, {}, [](Group& group) { call(group, Collective::bcast, 100, 1); }, true,
        64 * 1024, true, levels);
  }
}

TEST(GroupOnLevels, RulesChooseByLevels) {
  const auto chosen = [](const placement::Levels& levels) {
    std::string algorithm;
    with_groups(
        6, {}, {},
        [&](Group& group) {
          if (group.rank() == 0) algorithm = group.algorithm(Collective::bcast, 65536, 0);
        },
        false, 64 * 1024, true, levels);
    return algorithm;
  };
  EXPECT_EQ(chosen({}), "flat");
  EXPECT_EQ(chosen(in_halves(6)), "levels:flat");
}

// 32 thread ranks on four NUMA nodes make calls first without levels and then with them.
TEST(GroupOnLevels, RanksThatLearnTheirLevelsLater) {
  std::vector<std::vector<int>> bindings;
  for (int core = 0; core < 128; core += 4) bindings.push_back({core});
  const placement::Levels levels = placement::levels_of_bound(bindings, "numa:4 core:32");
  ASSERT_EQ(levels.groups("numa"), 4);
  const std::array collectives{Collective::barrier, Collective::bcast, Collective::reduce,
                               Collective::allreduce};
  select::Overrides overrides;
  for (const Collective collective : collectives)
    overrides.algorithm[static_cast<size_t>(collective)] = "levels";
  with_groups(
      32, overrides, {},
      [&](Group& group) {
        for (const bool known : {false, true}) {
          if (known) group.lie_on(levels);
          for (const Collective collective : collectives) call(group, collective, 100, 5);
        }
      },
      true, 64 * 1024, false);
  with_groups(
      32, {}, {},
      [&](Group& group) {
        if (group.rank() != 0) return;
        EXPECT_EQ(group.algorithm(Collective::bcast, 4096, 0), "flat");
        group.lie_on(levels);
        EXPECT_EQ(group.algorithm(Collective::bcast, 4096, 0), "levels:flat");
      },
      false);
}

TEST(GroupScratch, LargeScratchIsNotKept) {
  std::vector<std::byte> memory(most_kept_scratch);
  release_scratch(memory);
  EXPECT_EQ(memory.size(), most_kept_scratch);
  memory.resize(most_kept_scratch + 1);
  release_scratch(memory);
  EXPECT_EQ(memory.capacity(), 0u);
}

// If the requested algorithm cannot serve an operation, all ranks use the choice of the tables.
TEST(GroupOnLevels, OperationsThatAnAlgorithmCannotServeGoElsewhere) {
  select::Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "dissemination";
  with_groups(4, overrides, {}, [](Group& group) {
    std::vector<double> in(10, group.rank() + 0.1), out(10);
    ASSERT_EQ(allreduce(group, in.data(), out.data(), in.size(), sum_of_doubles()), Code::ok);
    EXPECT_NE(group.algorithm(Collective::allreduce, 80, 0), "dissemination");
    call(group, Collective::allreduce, 10, 0);
    EXPECT_EQ(group.algorithm(Collective::allreduce, 80, 0), "dissemination");
  });
}

}  // namespace
}  // namespace tutti::group::test
