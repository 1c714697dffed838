// Tests groups on several nodes, some of them with nodes of different sizes or with interleaved
// ranks: the results of every algorithm, in one piece and in segments.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "algo/algo.h"
#include "group/test_functions.h"
#include "group/test_calls.h"
#include "group/test_nodes.h"
#include "plan/inter_node_traffic.h"
#include "plan/semantics.h"

namespace tutti::group::test {
namespace {
// The memory of a rank. The slots are short, so that calls have several segments.
constexpr size_t small_area = 17 * 1024;

const std::vector<std::vector<int32_t>> node_maps = {
    {0, 0, 1, 1}, {0, 1, 0, 1, 1}, {2, 0, 1}, {0, 0, 0, 1, 0, 2, 2}};
constexpr std::array<size_t, 4> counts{1, 6, 33, 9000};

select::Overrides asking_for(Collective collective, const std::string& algorithm) {
  select::Overrides overrides;
  overrides.algorithm[static_cast<size_t>(collective)] = algorithm;
  return overrides;
}

void call_all_sizes(Group& group, Collective collective) {
  int round = 1;
  for (const size_t count : counts) {
    for (const bool in_place : {false, true}) {
      const int root = (round * 3) % group.ranks();
      if (collective == Collective::barrier) {
        ASSERT_EQ(barrier(group), Code::ok) << group.failure();
      } else {
        perform(group, {collective, count, plan::rooted(collective) ? root : 0, in_place, round});
      }
      ++round;
    }
  }
}

TEST(OnNodes, EveryAlgorithmGivesItsResult) {
  size_t turn = 0;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      const std::vector<int32_t>& nodes = node_maps[turn++ % node_maps.size()];
      SCOPED_TRACE(std::string(plan::name(collective)) + " by " + std::string(algorithm.name));
      with_nodes(
          nodes, asking_for(collective, std::string(algorithm.name)),
          [&](Group& group) { call_all_sizes(group, collective); }, small_area,
          placement::Levels({{"node", nodes, 0}}));
    }
  }
}

TEST(OnNodes, WhatTheRulesChooseGivesItsResult) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    with_nodes(
        nodes, {},
        [&](Group& group) {
          for (int i = 0; i < plan::collective_count; ++i)
            call_all_sizes(group, static_cast<Collective>(i));
        },
        small_area, placement::Levels({{"node", nodes, 0}}));
  }
}

TEST(OnNodes, ShortSegmentsGoThroughFewPositions) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    for (const Collective collective :
         {Collective::bcast, Collective::allreduce, Collective::alltoall, Collective::scan}) {
      select::Overrides overrides;
      overrides.segment_bytes = 512;
      with_nodes(
          nodes, overrides, [&](Group& group) { call_all_sizes(group, collective); }, 8 * 1024);
    }
  }
}

TEST(OnNodes, LoweredProgramsAreHeldAgainstTheirPlans) {
  for (const Collective collective :
       {Collective::bcast, Collective::allreduce, Collective::gather}) {
    with_nodes(
        {0, 1, 0, 1, 1}, {}, [&](Group& group) { call_all_sizes(group, collective); }, small_area,
        {}, true);
  }
}

TEST(OnNodes, AMessageCrossesForEveryTransferThatDoes) {
  const auto count_of = [](const std::vector<int32_t>& nodes, const std::string& algorithm) {
    const std::vector<int64_t> sent =
        with_nodes(nodes, asking_for(Collective::bcast, algorithm),
                   [](Group& group) { bcast(group, {Collective::bcast, 4, 0, false, 1}); });
    return std::accumulate(sent.begin(), sent.end(), int64_t{0});
  };
  EXPECT_EQ(count_of({0, 0, 1, 1}, "flat"), 2);
  EXPECT_EQ(count_of({0, 1, 2, 3}, "binomial"), 3);
}

// Long messages that were under way at once would all arrive together, and late.
TEST(OnNodes, LongMessagesLeaveOneAfterAnother) {
  select::Overrides overrides = asking_for(Collective::bcast, "flat");
  const auto most_of_root = [&](size_t bytes, size_t segment) {
    overrides.segment_bytes = segment;
    std::vector<size_t> most;
    with_nodes(
        {0, 1, 2, 3}, overrides,
        [&](Group& group) {
          std::vector<std::byte> data(bytes);
          ASSERT_EQ(
              group.run({.collective = Collective::bcast, .out = data.data(), .count = bytes}),
              Code::ok);
        },
        64 * 1024, {}, false, {}, nullptr, &most);
    return most.front();
  };
  constexpr size_t long_message = plan::most_leaving * 5 / 8;
  EXPECT_EQ(most_of_root(long_message, size_t{1} << 30), long_message);
  EXPECT_EQ(most_of_root(2 * long_message, long_message), long_message) << "of both segments";
  EXPECT_LE(most_of_root(3 * plan::most_leaving, 64 * 1024), plan::most_leaving);
}

// Short calls by the default rules send as many messages as their plan has, which in some
// collectives is the least possible number.
TEST(OnNodes, MessagesAreThoseOfThePlan) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    const auto n = static_cast<int64_t>(placement::Nodes(nodes).count());
    const placement::Levels levels({{"node", nodes, 0}});
    for (int i = 0; i < plan::collective_count; ++i) {
      const auto collective = static_cast<Collective>(i);
      const auto ranks = static_cast<int>(nodes.size());
      const int root = plan::rooted(collective) ? ranks - 1 : 0;
      const std::vector<int64_t> sent = with_nodes(
          nodes, {},
          [&](Group& group) {
            if (collective == Collective::barrier) {
              ASSERT_EQ(barrier(group), Code::ok);
            } else {
              perform(group, {collective, 4, root, false, 1});
            }
          },
          256 * 1024, levels);
      const plan::InterNodeTraffic traffic = plan::inter_node_traffic(
          algo::generate(collective, "hierarchical", ranks, root, levels), nodes);
      const int64_t counted = std::accumulate(sent.begin(), sent.end(), int64_t{0});
      EXPECT_EQ(counted, traffic.messages) << plan::name(collective);
      EXPECT_EQ(traffic.delays, 1) << plan::name(collective);
      const bool one_each = collective == Collective::bcast || collective == Collective::reduce ||
                            collective == Collective::gather || collective == Collective::scatter;
      if (one_each) {
        EXPECT_EQ(counted, n - 1) << plan::name(collective);
      }
      if (collective == Collective::barrier) {
        EXPECT_EQ(counted, n * (n - 1));  // the least in one delay
      }
    }
  }
}

// Adds vectors, each of which is one element, as for a user's operation on a derived type.
void add_vectors(void* context, const void* in, void* inout, size_t count) {
  const size_t words = *static_cast<const size_t*>(context) * count;
  for (size_t i = 0; i < words; ++i)
    static_cast<uint64_t*>(inout)[i] += static_cast<const uint64_t*>(in)[i];
}

// True if the group served the call, whose result is then checked.
bool sums_large_elements(Group& group, Collective collective, size_t words) {
  constexpr size_t count = 3;
  const exec::Combine combine{nullptr,   add_vectors, &words,
                              words * 8, true,        exec::needs_same_expression};
  const Vector in = data_of(1, group.rank(), words * count);
  Vector out(words * count, untouched);
  const int last = collective == Collective::scan ? group.rank() : group.ranks() - 1;
  const int root = group.ranks() - 1;
  try {
    const Code code = group.run(
        {collective, in.data(), out.data(), count, plan::rooted(collective) ? root : 0, &combine});
    EXPECT_EQ(code, Code::ok) << group.failure();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable) << error.what();
    return false;
  }
  if (collective == Collective::reduce && group.rank() != root) return true;
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t expected = 0;
    for (int rank = 0; rank <= last; ++rank) expected += value(1, rank, i);
    if (out[i] == expected) continue;
    ADD_FAILURE() << plan::name(collective) << " of elements of " << words * 8 << " bytes, rank "
                  << group.rank() << ": " << i;
    break;
  }
  return true;
}

TEST(OnNodes, LargeElementsAreCombinedOrRefusedByAllRanks) {
  for (const std::vector<int32_t>& nodes : {node_maps[0], node_maps[3], {0, 0, 1, 1, 2, 2, 3, 3}}) {
    for (const Collective collective :
         {Collective::reduce, Collective::allreduce, Collective::scan}) {
      for (size_t words = 16; words <= 4096; words *= 2) {
        std::atomic<size_t> served = 0;
        with_nodes(
            nodes, {},
            [&](Group& group) {
              const bool here = sums_large_elements(group, collective, words);
              EXPECT_TRUE(here || words * 8 > group.max_element())
                  << words * 8 << " bytes of " << group.max_element();
              served += here ? 1 : 0;
            },
            128 * 1024);
        EXPECT_TRUE(served == 0 || served == nodes.size()) << served;
      }
    }
  }
}

// A message that is longer than what its receiver expects is a mismatched call.
TEST(OnNodes, CallsOfDifferentLengthsFail) {
  with_nodes({0, 1}, {}, [](Group& group) {
    std::vector<char> data(1024);
    const Code code = bcast(group, data.data(), group.rank() == 0 ? 100 : 200, 0);
    EXPECT_EQ(code, group.rank() == 0 ? Code::ok : Code::unavailable);
    EXPECT_EQ(group.failure().empty(), group.rank() == 0);
  });
}

}  // namespace
}  // namespace tutti::group::test
