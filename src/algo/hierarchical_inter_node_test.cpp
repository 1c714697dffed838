// The messages that hierarchical plans send between nodes: their number and delays.
#include "algo/algo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "algo/test_clusters.h"
#include "plan/inter_node_traffic.h"

namespace tutti::algo {
namespace {

using placement::Levels;
using plan::Collective;
using plan::InterNodeTraffic;
using plan::Plan;

InterNodeTraffic traffic_of(Collective collective, const std::string& spec, const Cluster& cluster,
                            int root = 0) {
  return plan::inter_node_traffic(
      generate(collective, spec, cluster.ranks(), root, cluster.levels()), cluster.node_of);
}

void for_each_cluster_and_root(
    Collective collective,
    const std::function<void(const Cluster&, int64_t nodes, int root)>& visit) {
  for (const Cluster& cluster : clusters()) {
    for (const int root : some_roots(collective, cluster.ranks())) {
      SCOPED_TRACE(std::string(plan::name(collective)) + ", " + cluster.name + ", root " +
                   std::to_string(root));
      visit(cluster, cluster.levels().groups("node"), root);
    }
  }
}

TEST(HierarchicalInterNode, TreesSendOneMessageToEachOtherNode) {
  for (const Collective collective : {Collective::bcast, Collective::reduce}) {
    for_each_cluster_and_root(collective, [&](const Cluster& cluster, int64_t nodes, int root) {
      // With one rank per node there is no level of nodes: the plan is the algorithm between nodes.
      if (nodes == 1) nodes = cluster.ranks();
      for (const char* between : {"flat", "binomial", "nary:3", "levels"}) {
        const InterNodeTraffic found =
            traffic_of(collective, "hierarchical+" + std::string(between), cluster, root);
        EXPECT_EQ(found.messages, nodes - 1) << between;
      }
      const InterNodeTraffic flat = traffic_of(collective, "hierarchical+flat", cluster, root);
      EXPECT_EQ(flat.delays, 1);
      EXPECT_EQ(flat.most_messages, collective == Collective::bcast ? nodes - 1 : 1);
    });
  }
}

TEST(HierarchicalInterNode, BarriersAndAllreducesTakeTheLeastDelaysOrMessages) {
  for (const Collective collective : {Collective::barrier, Collective::allreduce}) {
    for_each_cluster_and_root(collective, [&](const Cluster& cluster, int64_t nodes, int) {
      if (nodes == 1) nodes = cluster.ranks();
      const InterNodeTraffic all = traffic_of(collective, "hierarchical+all_read_all", cluster);
      EXPECT_EQ(all.messages, nodes * (nodes - 1));
      EXPECT_EQ(all.delays, 1);
      for (const char* between : {"flat", "binomial"}) {
        EXPECT_EQ(traffic_of(collective, "hierarchical+" + std::string(between), cluster).messages,
                  2 * (nodes - 1))
            << between;
      }
      EXPECT_EQ(traffic_of(collective, "hierarchical+flat", cluster).delays, 2);
    });
  }
}

TEST(HierarchicalInterNode, PartsOfANodeAreOneMessage) {
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for_each_cluster_and_root(collective, [&](const Cluster& cluster, int64_t nodes, int root) {
      if (nodes == 1) nodes = cluster.ranks();
      for (const char* between : {"flat", "binomial", "direct", "direct:2", "nary:3"}) {
        EXPECT_EQ(
            traffic_of(collective, "hierarchical+" + std::string(between), cluster, root).messages,
            nodes - 1)
            << between;
      }
      const InterNodeTraffic flat = traffic_of(collective, "hierarchical+flat", cluster, root);
      const int32_t root_node = cluster.node_of[static_cast<size_t>(root)];
      const auto at_the_root =
          std::count(cluster.node_of.begin(), cluster.node_of.end(), root_node);
      EXPECT_EQ(flat.delays, 1);
      EXPECT_EQ(flat.blocks, cluster.ranks() - at_the_root);
    });
  }
}

TEST(HierarchicalInterNode, PairsOfNodesExchangeOneMessageEachWay) {
  for (const Collective collective :
       {Collective::allgather, Collective::alltoall, Collective::reduce_scatter}) {
    for_each_cluster_and_root(collective, [&](const Cluster& cluster, int64_t nodes, int) {
      if (nodes == 1) nodes = cluster.ranks();
      for (const char* between : {"flat", "all_read_all", "direct:2"}) {
        const InterNodeTraffic found =
            traffic_of(collective, "hierarchical+" + std::string(between), cluster);
        EXPECT_EQ(found.messages, nodes * (nodes - 1)) << between;
        EXPECT_EQ(found.delays, 1) << between;
      }
      // Each part goes to each other node once; in an alltoall only to the node of its rank.
      const InterNodeTraffic found = traffic_of(collective, "hierarchical+direct", cluster);
      int64_t blocks = cluster.ranks() * (nodes - 1);
      if (collective == Collective::alltoall) {
        blocks = 0;
        for (const int32_t one : cluster.node_of) {
          for (const int32_t other : cluster.node_of) blocks += one != other;
        }
      }
      EXPECT_EQ(found.blocks, blocks);
    });
  }
}

TEST(HierarchicalInterNode, ScansSendToLaterNodesAlone) {
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    for_each_cluster_and_root(collective, [&](const Cluster& cluster, int64_t nodes, int) {
      if (nodes == 1) nodes = cluster.ranks();
      const bool runs = std::is_sorted(cluster.node_of.begin(), cluster.node_of.end());
      const InterNodeTraffic all = traffic_of(collective, "hierarchical+all_read_all", cluster);
      EXPECT_EQ(all.delays, 1);
      EXPECT_EQ(all.messages, runs ? nodes * (nodes - 1) / 2 : nodes * (nodes - 1));
      if (!runs || nodes == cluster.ranks()) return;
      const InterNodeTraffic chain = traffic_of(collective, "hierarchical+chain", cluster);
      EXPECT_EQ(chain.messages, nodes - 1);
      EXPECT_EQ(chain.delays, nodes - 1);
    });
  }
  const Cluster cluster = of_sizes("16x2", std::vector<int>(16, 2));
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const InterNodeTraffic found = traffic_of(collective, "hierarchical+doubling", cluster);
    EXPECT_EQ(found,
              (InterNodeTraffic{
                  .messages = 15 + 14 + 12 + 8, .blocks = 49, .delays = 4, .most_messages = 4}));
  }
}

TEST(HierarchicalInterNode, PowersOfTwoTakeLog2Delays) {
  const Cluster cluster = of_sizes("8x3", std::vector<int>(8, 3));
  for (const char* between : {"doubling", "dissemination"}) {
    const InterNodeTraffic found =
        traffic_of(Collective::allreduce, "hierarchical+" + std::string(between), cluster);
    EXPECT_EQ(found,
              (InterNodeTraffic{.messages = 24, .blocks = 24, .delays = 3, .most_messages = 3}))
        << between;
  }
  for (const char* between : {"doubling", "bruck"}) {
    EXPECT_EQ(
        traffic_of(Collective::allgather, "hierarchical+" + std::string(between), cluster).delays,
        3)
        << between;
  }
  EXPECT_EQ(traffic_of(Collective::alltoall, "hierarchical+bruck", cluster).delays, 3);
  EXPECT_EQ(traffic_of(Collective::reduce_scatter, "hierarchical+halving", cluster).delays, 3);
  const InterNodeTraffic halving =
      traffic_of(Collective::allreduce, "hierarchical+halving", cluster);
  EXPECT_EQ(halving.delays, 6);
  // The vector has eight blocks; each node sends seven in each of the two phases.
  EXPECT_EQ(halving.blocks, 8 * 2 * 7);
  const InterNodeTraffic to_root = traffic_of(Collective::reduce, "hierarchical+halving", cluster);
  EXPECT_EQ(to_root.delays, 6);
  // In the second phase four nodes send one block to the root's tree, two send two, one sends four.
  EXPECT_EQ(to_root.blocks, 8 * 7 + 4 + 2 * 2 + 4);
}

// Dissemination takes 4 delays and 64 messages; staggered:1 is dissemination.
TEST(HierarchicalInterNode, AStaggeredBarrierTakesFewerDelaysAndMoreMessages) {
  const Cluster cluster = of_sizes("16x2", std::vector<int>(16, 2));
  const auto found = [&](const std::string& between) {
    return traffic_of(Collective::barrier, "hierarchical+" + between, cluster);
  };
  EXPECT_EQ(
      found("staggered:3"),
      (InterNodeTraffic{.messages = 16 * 7, .blocks = 16 * 7, .delays = 3, .most_messages = 7}));
  EXPECT_EQ(
      found("staggered:1"),
      (InterNodeTraffic{.messages = 16 * 4, .blocks = 16 * 4, .delays = 4, .most_messages = 4}));
  EXPECT_EQ(found("staggered:15").delays, 1);
}

// K leaders per node send K times the messages, each with a K-th of the vector. No rank sends more
// messages than the only leader did.
TEST(HierarchicalInterNode, LeadersDivideTheVector) {
  const Cluster cluster = of_sizes("4x4", {4, 4, 4, 4});
  for (const Collective collective :
       {Collective::bcast, Collective::reduce, Collective::allreduce}) {
    SCOPED_TRACE(plan::name(collective));
    const InterNodeTraffic one = traffic_of(collective, "hierarchical+flat", cluster, 0);
    const InterNodeTraffic four = traffic_of(collective, "hierarchical:leaders=4+flat", cluster, 0);
    EXPECT_EQ(four.messages, 4 * one.messages);
    EXPECT_EQ(four.blocks, 4 * one.blocks);  // a quarter each
    EXPECT_EQ(four.most_messages, one.most_messages);
    EXPECT_EQ(four.delays, one.delays);
  }
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter}) {
    SCOPED_TRACE(plan::name(collective));
    const InterNodeTraffic one = traffic_of(collective, "hierarchical+direct", cluster, 0);
    const InterNodeTraffic four =
        traffic_of(collective, "hierarchical:leaders=4+direct", cluster, 0);
    EXPECT_EQ(four,
              (InterNodeTraffic{4 * one.messages, one.blocks, one.delays, one.most_messages}));
  }
}

}  // namespace
}  // namespace tutti::algo
