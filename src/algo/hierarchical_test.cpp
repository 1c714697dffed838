// Hierarchical plans: correct for ranks on nodes of all kinds, and with the documented properties.
#include "algo/hierarchical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "algo/test_clusters.h"
#include "algo/form.h"
#include "algo/hierarchy.h"
#include "base/error.h"
#include "plan/check.h"
#include "plan/inter_node_traffic.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::algo {
namespace {

using placement::Levels;
using plan::Collective;
using plan::Plan;

std::vector<std::string> serving(Collective collective) {
  std::vector<std::string> specs;
  for (const Algorithm& algorithm : algorithms()) {
    const auto& serves = algorithm.collectives;
    if (algorithm.is_composed ||
        std::find(serves.begin(), serves.end(), collective) == serves.end())
      continue;
    specs.emplace_back(algorithm.name);
    specs.insert(specs.end(), algorithm.variants.begin(), algorithm.variants.end());
  }
  return specs;
}

// The algorithms that serve some phase within nodes.
std::vector<std::string> within_specs(Collective collective) {
  std::vector<std::string> result;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.is_composed) continue;
    const std::string spec = "hierarchical+" + std::string(usual_between(collective, 2)) + "+" +
                             std::string(algorithm.name);
    try {
      generate(collective, spec, 2, 0);
      result.emplace_back(algorithm.name);
    } catch (const Error&) {
    }
  }
  return result;
}

std::vector<Collective> served() { return named("hierarchical").collectives; }

std::vector<std::string> specs(Collective collective) {
  std::vector<std::string> result{"hierarchical", "hierarchical:leaders=2",
                                  "hierarchical:leaders=3"};
  const Collective between = collective == Collective::scan ? Collective::exscan : collective;
  for (const std::string& spec : serving(between)) {
    result.push_back("hierarchical+" + spec);
    result.push_back("hierarchical:leaders=2+" + spec);
  }
  for (const std::string& spec : within_specs(collective)) {
    for (const char* head : {"hierarchical", "hierarchical:leaders=2", "hierarchical:leaders=9"}) {
      result.push_back(head + ("+" + std::string(usual_between(collective, 9))) + "+" + spec);
    }
  }
  return result;
}

void for_each_plan(const std::function<void(const Plan&, const Cluster&)>& visit) {
  for (const Cluster& cluster : clusters()) {
    const Levels levels = cluster.levels();
    for (const Collective collective : served()) {
      for (const std::string& spec : specs(collective)) {
        for (const int root : some_roots(collective, cluster.ranks())) {
          SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", " + cluster.name +
                       ", root " + std::to_string(root));
          visit(generate(collective, spec, cluster.ranks(), root, levels), cluster);
        }
      }
    }
  }
}

TEST(Hierarchical, PlansAreRightOnAllClusters) {
  for_each_plan([](const Plan& plan, const Cluster& cluster) {
    ASSERT_NO_THROW(plan::validate(plan));
    plan::Verdict verdict;
    try {
      verdict = plan::check(plan);
    } catch (const Error& error) {
      FAIL() << error.what() << "\n" << plan::print(plan);
    }
    const Serves claimed = serves(plan.collective, plan.algorithm, cluster.levels());
    EXPECT_TRUE(verdict.in_place) << plan::print(plan);
    EXPECT_TRUE(verdict.rank_order || !claimed.rank_order);
    EXPECT_TRUE(verdict.uniform || !claimed.uniform);
    EXPECT_TRUE(!plan.commutative || !claimed.rank_order);
  });
}

std::vector<plan::Program> programs_of(const Plan& plan, const placement::Nodes& nodes,
                                       plan::Carrier carrier) {
  const Plan staged = plan::stage(plan, nodes);
  const auto dependences = plan::depend(staged, carrier);
  std::vector<plan::Program> programs;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    programs.push_back(plan::lower(staged, dependences, rank, carrier));
    programs.back().in_place = true;  // groups assume it for every built-in algorithm
  }
  return programs;
}

TEST(Hierarchical, ProgramsAreOrdered) {
  for_each_plan([](const Plan& plan, const Cluster& cluster) {
    if (cluster.ranks() > 12) return;
    const placement::Nodes nodes(cluster.node_of);
    ASSERT_NO_THROW(plan::simulate(
        plan, programs_of(plan, nodes, plan::Carrier::slot),
        {.segments = 3, .operations = 2, .interleavings = 1, .seed = 31, .nodes = nodes}));
    if (!plan::lines_serve(plan::stage(plan, nodes))) return;
    ASSERT_NO_THROW(plan::simulate(
        plan, programs_of(plan, nodes, plan::Carrier::line),
        {.segments = 1, .operations = 2, .interleavings = 1, .seed = 32, .nodes = nodes}));
  });
}

TEST(Hierarchical, EveryMemberCombinesWhatItsLeaderReceives) {
  const Cluster cluster = of_sizes("2x3", {3, 3});
  const Plan plan =
      generate(Collective::allreduce, "hierarchical+dissemination+flat", 6, 0, cluster.levels());
  int combining = 0;
  for (const plan::Transfer& transfer : plan.transfers) {
    if (transfer.kind == plan::TransferKind::reduce && transfer.dst.buffer == plan::Buffer::out)
      ++combining;
  }
  EXPECT_EQ(combining, 6);
  EXPECT_EQ(plan::inter_node_traffic(plan, cluster.node_of).messages, 2);
}

// Rank order, which operations that do not commute need, is kept only if nodes are runs of ranks.
TEST(Hierarchical, RankOrderIsKeptWhereNodesAreRuns) {
  for (const Cluster& cluster : clusters()) {
    const bool runs = std::is_sorted(cluster.node_of.begin(), cluster.node_of.end());
    for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
      for (const char* spec :
           {"hierarchical", "hierarchical+flat+flat", "hierarchical:leaders=2+binomial",
            "hierarchical+nary:3+levels:flat"}) {
        SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", " + cluster.name);
        const Plan plan = generate(collective, spec, cluster.ranks(), 0, cluster.levels());
        EXPECT_EQ(plan::check(plan).rank_order, runs);
        EXPECT_EQ(serves(collective, spec, cluster.levels()).rank_order, runs);
        EXPECT_EQ(plan.commutative, !runs);
      }
    }
  }
}

// The root leads its node, and data for a node is received where it belongs: the only copies within
// a node are those of the bcast.
TEST(Hierarchical, NoDataIsCopiedTwice) {
  const Cluster cluster = of_sizes("3x4", {4, 4, 4});
  for (int root = 0; root < 12; ++root) {
    const Plan plan =
        generate(Collective::bcast, "hierarchical+flat+flat", 12, root, cluster.levels());
    EXPECT_EQ(plan.transfers.size(), 11u) << root;
    EXPECT_EQ(plan.largest_tmp(), 0) << root;
  }
  // A reduction within each node and one between nodes; then the same, with two messages to each
  // leader.
  EXPECT_EQ(generate(Collective::reduce, "hierarchical+flat+flat", 12, 5, cluster.levels())
                .transfers.size(),
            4u);
  const Plan allreduce =
      generate(Collective::allreduce, "hierarchical+all_read_all+flat", 12, 0, cluster.levels());
  EXPECT_EQ(allreduce.transfers.size(), 3u + 3u + 9u);
}

TEST(Hierarchical, WithoutNodesItIsOneOfItsTwoAlgorithms) {
  const auto text = [](Collective collective, const char* spec, const Levels& levels) {
    Plan plan = generate(collective, spec, 8, 0, levels);
    plan.algorithm.clear();
    return plan::print(plan);
  };
  const Levels regions({{"numa", {0, 0, 1, 1, 2, 2, 3, 3}, 4}}),
      groups({{"cluster", {0, 1, 0, 1, 0, 1, 0, 1}, 2}});
  EXPECT_EQ(text(Collective::bcast, "hierarchical+binomial", {}),
            text(Collective::bcast, "binomial", {}));
  EXPECT_EQ(text(Collective::bcast, "hierarchical+flat+levels:3", {}),
            text(Collective::bcast, "flat", {}));
  EXPECT_EQ(text(Collective::bcast, "hierarchical+flat+levels:3", regions),
            text(Collective::bcast, "levels:3", regions));
  EXPECT_EQ(text(Collective::bcast, "hierarchical+flat", regions),
            text(Collective::bcast, "levels", regions));
  EXPECT_EQ(text(Collective::bcast, "hierarchical+levels", groups),
            text(Collective::bcast, "levels", groups));
}

// Groups of nodes (such as racks) are levels of the algorithm between nodes.
TEST(Hierarchical, LeadersKnowTheLevelsOutsideNodes) {
  std::vector<int32_t> group_of, node_of;
  for (int rank = 0; rank < 24; ++rank) {
    node_of.push_back(rank / 3);
    group_of.push_back(rank / 3 % 2);
  }
  const Levels levels({{"cluster", group_of, 2}, {"node", node_of, 8}});
  const Plan plan = generate(Collective::bcast, "hierarchical+levels:binomial", 24, 0, levels);
  EXPECT_EQ(plan::inter_node_traffic(plan, group_of).messages, 1);
  EXPECT_EQ(plan::inter_node_traffic(plan, node_of).messages, 7);
  EXPECT_NO_THROW(plan::check(plan));
}

TEST(Hierarchical, SpecsThatCannotServeAreRefused) {
  const auto message = [](Collective collective, const char* spec) -> std::string {
    try {
      generate(collective, spec, 4, 0);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const char* spec :
       {"hierarchical+", "hierarchical+flat+", "hierarchical++flat", "hierarchical+flat+flat+flat",
        "hierarchical+nonesuch", "hierarchical+flat+nonesuch", "hierarchical:leaders=0",
        "hierarchical:flat", "hierarchical:leaders=x+flat", "hierarchical:leaders=2:leaders=2",
        "hierarchical+hierarchical", "hierarchical+flat+hierarchical", "hierarchical+nary:1",
        "hierarchical+flat+nary:x", "flat+flat", "hierarchical+bruck", "hierarchical+flat+bruck"}) {
    EXPECT_NE(message(Collective::bcast, spec), "") << spec;
    EXPECT_EQ(message(Collective::bcast, spec).find('\n'), std::string::npos) << spec;
  }
  EXPECT_EQ(message(Collective::barrier, "hierarchical+ring"),
            "algorithm 'hierarchical': ring does not serve barrier between nodes, which barrier "
            "needs; name one that does");
  EXPECT_EQ(message(Collective::allreduce, "hierarchical+flat+bruck"),
            "algorithm 'hierarchical': bruck does not serve reduce and bcast within nodes, which "
            "allreduce needs; name one that does");
  EXPECT_NE(message(Collective::barrier, "hierarchical+flat+tiled"), "");
  EXPECT_EQ(message(Collective::allreduce, "hierarchical+flat+tiled"), "");
}

}  // namespace
}  // namespace tutti::algo
