// The phases around the host MPI's collective: with a built-in algorithm in its place they are a
// correct plan, and no transfer of the phases goes from node to node.
#include "algo/by_host.h"

#include <gtest/gtest.h>

#include "algo/algo.h"
#include "algo/test_clusters.h"
#include "base/error.h"
#include "plan/check.h"
#include "plan/inter_node_traffic.h"
#include "plan/text.h"

namespace tutti::algo {
namespace {

using placement::Levels;
using plan::Collective;
using plan::Plan;

constexpr Collective served[] = {Collective::barrier, Collective::bcast, Collective::reduce,
                                 Collective::allreduce};
constexpr const char* specs[] = {"hierarchical+host", "hierarchical+host+flat",
                                 "hierarchical+host+levels:2", "hierarchical+host+binomial"};

TEST(ByHost, PhasesAreRightAroundACollectiveOfOurs) {
  for (const Cluster& cluster : clusters()) {
    for (const Collective collective : served) {
      for (const char* spec : specs) {
        for (const int root : some_roots(collective, cluster.ranks())) {
          SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", " + cluster.name +
                       ", root " + std::to_string(root));
          const Plan plan = phase_by_host(Phase::standing_in, collective, spec, cluster.ranks(),
                                          root, cluster.levels());
          ASSERT_NO_THROW(plan::validate(plan));
          plan::Verdict verdict;
          ASSERT_NO_THROW(verdict = plan::check(plan)) << plan::print(plan);
          EXPECT_TRUE(verdict.in_place) << plan::print(plan);
          EXPECT_TRUE(verdict.rank_order || !serves(collective, spec, cluster.levels()).rank_order);
        }
      }
    }
  }
}

TEST(ByHost, ThePhasesSendNothingBetweenNodes) {
  for (const Cluster& cluster : clusters()) {
    if (cluster.levels().groups("node") < 2) continue;
    for (const Collective collective : served) {
      for (const int root : some_roots(collective, cluster.ranks())) {
        for (const Phase phase : {Phase::before, Phase::after}) {
          const Plan plan = phase_by_host(phase, collective, "hierarchical+host", cluster.ranks(),
                                          root, cluster.levels());
          ASSERT_NO_THROW(plan::validate(plan));
          EXPECT_EQ(plan::inter_node_traffic(plan, cluster.node_of).messages, 0)
              << plan::print(plan);
        }
      }
    }
  }
}

// Three nodes of three ranks: the number of transfers in each phase.
TEST(ByHost, PhasesAreWhatTheyShouldBe) {
  const Levels levels({{"node", {0, 0, 0, 1, 1, 1, 2, 2, 2}, 3}});
  const auto transfers = [&](Phase phase, Collective collective, int root) {
    return phase_by_host(phase, collective, "hierarchical+host+flat", 9, root, levels)
        .transfers.size();
  };
  EXPECT_EQ(leaders(levels, 9), (std::vector<int32_t>{0, 3, 6}));
  EXPECT_EQ(transfers(Phase::before, Collective::allreduce, 0), 3u);  // a reduce each
  EXPECT_EQ(transfers(Phase::after, Collective::allreduce, 0), 6u);
  EXPECT_EQ(transfers(Phase::before, Collective::bcast, 3), 0u);  // its root leads
  EXPECT_EQ(transfers(Phase::after, Collective::bcast, 3), 6u);
  EXPECT_EQ(transfers(Phase::before, Collective::bcast, 4), 1u);
  EXPECT_EQ(transfers(Phase::after, Collective::bcast, 4), 5u);  // the root has it
  EXPECT_EQ(transfers(Phase::after, Collective::reduce, 3), 0u);
  EXPECT_EQ(transfers(Phase::after, Collective::reduce, 4), 1u);
}

TEST(ByHost, LeadersAreTheFirstOfTheirNodes) {
  EXPECT_EQ(leaders(Levels({{"node", {0, 1, 2, 0, 1, 2, 0, 1}, 3}}), 8),
            (std::vector<int32_t>{0, 1, 2}));
  const Levels far_apart({{"cluster", {0, 0, 1, 1, 0, 0}, 2}, {"node", {5, 5, 7, 7, 6, 6}, 3}});
  EXPECT_EQ(leaders(far_apart, 6), (std::vector<int32_t>{0, 2, 4}));
  EXPECT_EQ(leaders({}, 3), (std::vector<int32_t>{0, 1, 2}));  // a rank each
}

// Operations that do not commute need nodes that are runs of ranks; the host combines its
// communicator's ranks in order.
TEST(ByHost, ServesOperationsThatDoNotCommuteIfNodesAreRuns) {
  const Levels runs({{"node", {0, 0, 1, 1}, 2}}), dealt({{"node", {0, 1, 0, 1}, 2}});
  EXPECT_TRUE(serves(Collective::reduce, "hierarchical+host", runs).rank_order);
  EXPECT_FALSE(serves(Collective::reduce, "hierarchical+host", dealt).rank_order);
  EXPECT_TRUE(serves(Collective::allreduce, "hierarchical+host", dealt).uniform);
}

std::string message(Collective collective, const char* spec, const Levels& levels = {}) {
  try {
    generate(collective, spec, 4, 0, levels);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ByHost, OnOneNodeItIsTheAlgorithmWithin) {
  const auto text = [](const char* spec) {
    Plan plan = generate(Collective::bcast, spec, 8, 0);
    plan.algorithm.clear();
    return plan::print(plan);
  };
  EXPECT_EQ(text("hierarchical+host+binomial"), text("binomial"));
  EXPECT_EQ(text("hierarchical+host"), text("hierarchical"));
  EXPECT_TRUE(by_host("hierarchical+host") && by_host("hierarchical+host+flat"));
  EXPECT_FALSE(by_host("hierarchical+flat") || by_host("flat"));
}

TEST(ByHost, SpecsThatCannotServeAreRefusedWhenRead) {
  EXPECT_EQ(message(Collective::gather, "hierarchical+host"),
            "algorithm 'hierarchical+host': the host MPI's own collective serves between nodes for "
            "barrier, bcast, reduce and allreduce, not for gather; name an algorithm in the place "
            "of host");
  EXPECT_EQ(message(Collective::bcast, "hierarchical:leaders=2+host"),
            "algorithm 'hierarchical+host': a node has one leader in the host MPI's own "
            "collective; leave out leaders=2");
  EXPECT_EQ(message(Collective::bcast, "hierarchical+flat+host"),
            "algorithm 'hierarchical+flat+host': the host MPI's collective serves only between "
            "nodes; write hierarchical+host");
  EXPECT_EQ(message(Collective::bcast, "hierarchical+host", Levels({{"node", {0, 0, 1, 1}, 2}})),
            "algorithm 'hierarchical+host': between nodes it is the host MPI's own collective, "
            "which is no plan; name an algorithm in the place of host to see one");
  for (const char* spec : {"host", "host+flat", "hierarchical+host:2", "hierarchical+host+bruck",
                           "hierarchical+host+host"}) {
    EXPECT_NE(message(Collective::allreduce, spec), "") << spec;
  }
}

}  // namespace
}  // namespace tutti::algo
