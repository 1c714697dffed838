// Tests groups whose leaders use a stand-in for the host MPI's collectives: the results, how often
// the stand-in is called, and which calls do not use it.
#include <gtest/gtest.h>

#include "algo/by_host.h"
#include "group/test_functions.h"
#include "group/test_calls.h"
#include "group/test_leaders.h"

namespace tutti::group::test {
namespace {

constexpr Collective served[] = {Collective::barrier, Collective::bcast, Collective::reduce,
                                 Collective::allreduce};
const std::vector<std::vector<int32_t>> node_maps = {
    {0, 0, 1, 1}, {0, 1, 0, 1, 1}, {2, 0, 1}, {0, 0, 0, 1, 0, 2, 2}, {0, 0, 1, 2, 2, 2}};

select::Overrides by_host(const std::string& algorithm = "hierarchical+host") {
  select::Overrides overrides;
  for (const Collective collective : served)
    overrides.algorithm[static_cast<size_t>(collective)] = algorithm;
  return overrides;
}

void call_once(Group& group, const TestCall& asked) {
  if (asked.collective != Collective::barrier) return perform(group, asked);
  ASSERT_EQ(barrier(group), Code::ok) << group.failure();
}

TEST(ByLeaders, ResultsFromAllRoots) {
  for (const std::vector<int32_t>& nodes : node_maps) {
    const int ranks = static_cast<int>(nodes.size());
    for (const char* spec : {"hierarchical+host", "hierarchical+host+binomial"}) {
      int calls = 0;
      const Outcome outcome = with_leaders(
          nodes, by_host(spec),
          [&](Group& group) {
            int round = 0;
            for (const Collective collective : served) {
              for (const size_t count : {size_t{1}, size_t{6}, size_t{33}, size_t{9000}}) {
                for (int root = 0; root < (plan::rooted(collective) ? ranks : 1); ++root) {
                  for (const bool in_place : {false, true})
                    call_once(group, {collective, count, root, in_place, ++round});
                }
              }
            }
            if (group.rank() == 0) calls = round;
          },
          32 * 1024);
      EXPECT_EQ(outcome.calls, calls * outcome.leaders);
      EXPECT_EQ(outcome.messages, 0);
    }
  }
}

TEST(ByLeaders, PhasesAreCheckedWhereProgramsAre) {
  const Outcome outcome = with_leaders(
      {0, 1, 0, 1, 1}, by_host(),
      [](Group& group) {
        for (const Collective collective : served)
          call_once(group, {collective, 5, plan::rooted(collective) ? 3 : 0, false, 1});
      },
      64 * 1024, true);
  EXPECT_EQ(outcome.calls, 8);
}

TEST(ByLeaders, SegmentsAndOtherAlgorithmsBetweenTheCalls) {
  select::Overrides overrides = by_host();
  overrides.segment_bytes = 512;
  overrides.algorithm[static_cast<size_t>(Collective::reduce)].clear();
  const Outcome outcome = with_leaders(
      {0, 0, 0, 1, 0, 2, 2}, overrides,
      [](Group& group) {
        for (int round = 1; round < 20; ++round) {
          const Collective collective = served[round % 4];
          const int root = plan::rooted(collective) ? round % 7 : 0;
          call_once(group, {collective, size_t{300} * static_cast<size_t>(round), root,
                            round % 3 == 0, round});
        }
      },
      16 * 1024);
  EXPECT_EQ(outcome.calls, 14 * 3);  // all calls except the reduces
  EXPECT_GT(outcome.messages, 0);
}

// The name for reports is the same before and after a call.
TEST(ByLeaders, TheyAreNamed) {
  with_leaders({0, 0, 1, 1}, by_host(), [](Group& group) {
    EXPECT_EQ(group.algorithm(Collective::allreduce, 8, 0), "hierarchical+host");
    call_once(group, {Collective::barrier, 0, 0, false, 1});
    EXPECT_EQ(group.algorithm(Collective::barrier, 0, 0), "hierarchical+host");
  });
}

TEST(ByLeaders, WithoutACommunicatorOfLeadersOthersServe) {
  const std::vector<int32_t> nodes{0, 0, 1, 1};
  const auto sent = with_nodes(
      nodes, by_host(),
      [](Group& group) {
        for (const Collective collective : served) call_once(group, {collective, 3, 0, false, 1});
        EXPECT_EQ(group.algorithm(Collective::allreduce, 24, 0), "hierarchical");
      },
      64 * 1024, placement::Levels({{"node", nodes, 0}}));
  EXPECT_GT(std::accumulate(sent.begin(), sent.end(), int64_t{0}), 0);
}

// With TUTTI_REPRODUCIBLE=run, the host combines only where the order does not matter, as for
// integers.
TEST(ByLeaders, AnOrderThatIsKnownIsNotTheHosts) {
  select::Overrides overrides = by_host();
  overrides.reproducible = Reproducible::run;
  const Outcome outcome = with_leaders({0, 0, 1, 1}, overrides, [](Group& group) {
    std::vector<double> of_reals(4, 0.1), sum(4);
    ASSERT_EQ(allreduce(group, of_reals.data(), sum.data(), 4, sum_of_doubles()), Code::ok);
    EXPECT_EQ(group.algorithm(Collective::allreduce, 32, 0), "hierarchical");
    std::vector<int64_t> of_integers(4, 1), total(4);
    ASSERT_EQ(allreduce(group, of_integers.data(), total.data(), 4, sum_of_integers()), Code::ok);
    EXPECT_EQ(total.front(), 4);
  });
  EXPECT_EQ(outcome.calls, 2);
}

// An operation that does not commute: 31 * left + right.
void take_right(void*, const void* in, void* inout, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto& right = static_cast<uint64_t*>(inout)[i];
    right = static_cast<const uint64_t*>(in)[i] * 31 + right;
  }
}

TEST(ByLeaders, OperationsThatDoNotCommuteNeedRunsOfRanks) {
  for (const bool runs : {true, false}) {
    const std::vector<int32_t> nodes =
        runs ? std::vector<int32_t>{0, 0, 1, 1} : std::vector<int32_t>{0, 1, 0, 1};
    const Outcome outcome = with_leaders(nodes, by_host(), [](Group& group) {
      const exec::Combine combine{nullptr, take_right, nullptr, 8, false, exec::needs_rank_order};
      const uint64_t in = static_cast<uint64_t>(group.rank()) + 1;
      uint64_t out = 0;
      ASSERT_EQ(allreduce(group, &in, &out, 1, combine), Code::ok);
    });
    EXPECT_EQ(outcome.calls, runs ? 2 : 0);
  }
}

TEST(ByLeaders, AFailureIsSaidAndStays) {
  std::mutex mutex;
  std::vector<std::string> said;
  with_leaders(
      {0, 1}, by_host(),
      [&](Group& group) {
        EXPECT_EQ(barrier(group), Code::unavailable);
        EXPECT_EQ(barrier(group), Code::unavailable);
        const std::lock_guard lock(mutex);
        said.push_back(group.failure());
      },
      64 * 1024, false, false);
  EXPECT_EQ(said, (std::vector<std::string>{"the leaders fell out", "the leaders fell out"}));
}

// While a leader is in the host's collective, the other ranks of its node wait for it, and their
// watchdogs report where it is.
TEST(ByLeaders, TheWatchdogTellsOfThem) {
  std::atomic<int> checked = 0;
  with_leaders({0, 0, 1, 1}, by_host(), [&](Group& group) {
    if (group.rank() == 2) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (checked == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    }
    if (group.rank() == 1) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      const std::string wanted =
          "rank 0: in barrier, in the host MPI's own collective among the nodes' leaders";
      // Rank 1 must enter the barrier before rank 0 can go on, so another thread asks about rank 0.
      std::thread asking([&] {
        while (group.standing(0) != wanted && std::chrono::steady_clock::now() < end)
          std::this_thread::yield();
        EXPECT_EQ(group.standing(0), wanted);
        ++checked;
      });
      EXPECT_EQ(barrier(group), Code::ok);
      asking.join();
      return;
    }
    EXPECT_EQ(barrier(group), Code::ok);
  });
}

}  // namespace
}  // namespace tutti::group::test
