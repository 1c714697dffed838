// Algorithms on levels: correct on machines of all shapes, with ranks in any placement, and with
// the documented properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "algo/algo.h"
#include "base/error.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::algo {
namespace {

using placement::Levels;
using plan::Carrier;
using plan::Collective;
using plan::Plan;

// A machine as one number per rank for each level.
struct Deal {
  const char* name;
  std::vector<std::function<int(int rank, int ranks)>> levels;
};

const std::vector<Deal>& deals() {
  static const std::vector<Deal> all = {
      {"two halves", {[](int r, int p) { return r * 2 / p; }}},
      {"three sockets", {[](int r, int p) { return r * 3 / p; }}},
      {"seven a socket", {[](int r, int) { return r / 7; }}},
      {"four sockets, caches of two",
       {[](int r, int p) { return r * 4 / p; }, [](int r, int) { return r / 2; }}},
      {"round robin over three", {[](int r, int) { return r % 3; }}},
      {"round robin, caches", {[](int r, int) { return r % 2; }, [](int r, int) { return r % 6; }}},
      {"one and the rest", {[](int r, int) { return r == 1 ? 1 : 0; }}},
      {"odd pieces", {[](int r, int) { return r * 7 % 5; }, [](int r, int) { return r * 5 % 7; }}},
  };
  return all;
}

Levels levels_of(const Deal& deal, int ranks) {
  std::vector<placement::SharedLevel> levels;
  for (const auto& group_of : deal.levels) {
    std::vector<int32_t> groups;
    for (int rank = 0; rank < ranks; ++rank) groups.push_back(group_of(rank, ranks));
    levels.push_back({levels.empty() ? "numa" : "cache", groups, 1});
  }
  return Levels(levels);
}

// The specs that depend on levels: those that `tutti tune` tries, and some others.
std::vector<std::string> specs(Collective collective) {
  std::vector<std::string> result;
  for (const Algorithm& algorithm : algorithms()) {
    const auto& serves = algorithm.collectives;
    if (std::find(serves.begin(), serves.end(), collective) == serves.end()) continue;
    result.emplace_back(algorithm.name);
    result.insert(result.end(), algorithm.variants.begin(), algorithm.variants.end());
    if (algorithm.name != "levels") continue;
    for (const char* more :
         {"levels:3:2:push", "levels:2:leaves=3:one_stage", "levels:fixed:binomial:push",
          "levels:flat:fixed", "levels:binary:flat", "levels:binary:fixed",
          "levels:leaves=3:subphases=1:stepwise", "levels:leaves=3:two_stage:stepwise",
          "levels:fixed:two_stage:push"}) {
      result.emplace_back(more);
    }
  }
  std::erase_if(result, [](const std::string& spec) { return !goes_by_levels(spec); });
  return result;
}

std::vector<int> some_roots(Collective collective, int ranks) {
  std::vector<int> roots{0};
  if (!plan::rooted(collective)) return roots;
  for (const int root : {1, ranks / 2, ranks - 1}) {
    if (root < ranks && std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(root);
  }
  return roots;
}

void for_each_plan(const std::vector<int>& counts,
                   const std::function<void(const Plan&, const Levels&)>& visit) {
  for (const Deal& deal : deals()) {
    for (const int ranks : counts) {
      const Levels levels = levels_of(deal, ranks);
      for (int i = 0; i < plan::collective_count; ++i) {
        const auto collective = static_cast<Collective>(i);
        for (const std::string& spec : specs(collective)) {
          for (const int root : some_roots(collective, ranks)) {
            SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec + ", ranks " +
                         std::to_string(ranks) + ", root " + std::to_string(root) + ", " +
                         deal.name);
            visit(generate(collective, spec, ranks, root, levels), levels);
          }
        }
      }
    }
  }
}

// Ranks of the root's group take no token; a ring with as many tokens as ranks has none at all.
TEST(Levels, OnlyRanksOutsideTheRootsGroupTakeTokens) {
  const Levels halves = levels_of(deals().front(), 8);
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for (const int root : {0, 5}) {
      std::vector<int32_t> waiting, awaited;
      for (const plan::Transfer& transfer :
           generate(collective, "token_ring:3:within", 8, root, halves).transfers) {
        if (transfer.kind != plan::TransferKind::token) continue;
        waiting.push_back(transfer.dst.rank);
        awaited.push_back(transfer.src.front().rank);
      }
      const std::vector<int32_t> ring =
          root == 0 ? std::vector<int32_t>{4, 5, 6, 7} : std::vector<int32_t>{0, 1, 2, 3};
      EXPECT_EQ(waiting, ring);
      std::rotate(awaited.begin(), awaited.end() - 1,
                  awaited.end());  // in a ring of four, three places before is one place after
      EXPECT_EQ(awaited, ring);
      for (const plan::Transfer& transfer :
           generate(collective, "token_ring:4:within", 8, root, halves).transfers) {
        EXPECT_NE(transfer.kind, plan::TransferKind::token);
      }
    }
  }
}

// HMPI 2.2: the first phase of equation (1) in subphases of at most c reductions. Here 4 leaves of
// two ranks each, 2 at once: the leaders of the last two wait for those of the first two.
TEST(Levels, LeavesTakeTurnsInSubphases) {
  for (const char* way : {"", ":stepwise"}) {
    std::string turns;
    for (const plan::Transfer& transfer :
         generate(Collective::reduce, std::string("levels:leaves=4:subphases=2") + way, 8, 0)
             .transfers) {
      if (transfer.kind == plan::TransferKind::token) turns += plan::print(transfer) + "\n";
    }
    EXPECT_EQ(turns, "token 4 <- 0\ntoken 6 <- 2\n") << way;
  }
  const Levels halves = placement::read_levels("numa:0,0,0,0,1,1,1,1");
  int tokens = 0;
  for (const plan::Transfer& transfer :
       generate(Collective::reduce, "levels:flat:leaves=2:subphases=1", 8, 0, halves).transfers)
    tokens += transfer.kind == plan::TransferKind::token;
  EXPECT_EQ(tokens, 2) << "one in each group";
}

// HMPI 2.4 with the one-stage broadcast of 2.2: every rank copies each tile from its result's
// owner. Each group has as many of the results.
TEST(Levels, TilesReadInOneStage) {
  const Levels halves = placement::read_levels("numa:0,0,1,1");
  const Plan plan = generate(Collective::allreduce, "tiled:levels:one_stage", 4, 0, halves);
  std::map<int32_t, int32_t> results;  // indexed by group
  for (int32_t tile = 0; tile < plan.blocks; ++tile) {
    std::vector<int32_t> owners;
    for (const plan::Transfer& transfer : plan.transfers) {
      const bool is_copy = transfer.kind == plan::TransferKind::copy &&
                           transfer.dst.buffer == plan::Buffer::out && transfer.dst.first == tile;
      if (is_copy) owners.push_back(transfer.src.front().rank);
    }
    ASSERT_EQ(owners.size(), 3U) << tile;
    EXPECT_EQ(std::set<int32_t>(owners.begin(), owners.end()).size(), 1U) << tile;
    ++results[owners.front() / 2];
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Levels, TheDataOfABcastIsReadInOneStage) {
  const Levels halves = placement::read_levels("numa:0,0,0,0,1,1,1,1");
  const Plan plan = generate(Collective::bcast, "levels:binomial:one_stage", 8, 5, halves);
  EXPECT_EQ(plan.transfers.size(), 7U);
  for (const plan::Transfer& transfer : plan.transfers)
    EXPECT_EQ(transfer.src.front().rank, 5) << transfer.dst.rank;
}

// HMPI's two-stage broadcast after a binary reduction: the leaders of the outermost groups read the
// result from rank 0, then all others of a group from its leader, whatever levels lie inside.
TEST(Levels, AResultIsReadInTwoStages) {
  const Levels caches = placement::read_levels("numa:0,0,0,0,1,1,1,1 cache:0,0,1,1,2,2,3,3");
  const Plan plan =
      generate(Collective::allreduce, "levels:binomial:two_stage:stepwise", 8, 0, caches);
  std::map<int32_t, int32_t> read_from;
  int32_t reductions = 0;
  for (const plan::Transfer& transfer : plan.transfers) {
    reductions += transfer.kind == plan::TransferKind::reduce;
    if (transfer.kind == plan::TransferKind::copy)
      read_from[transfer.dst.rank] = transfer.src.front().rank;
  }
  EXPECT_EQ(read_from,
            (std::map<int32_t, int32_t>{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 4}, {6, 4}, {7, 4}}));
  EXPECT_EQ(reductions, 7) << "two vectors at a time";
}

// NUMACol's condition 1: a rank on the root's node copies at any time, in whatever region it runs.
TEST(Levels, RanksOfTheRootsNodeTakeNoTokens) {
  const auto waiting = [](const char* levels, const char* spec) {
    std::vector<int32_t> ranks;
    const Plan plan = generate(Collective::scatter, spec, 8, 1, placement::read_levels(levels));
    for (const plan::Transfer& transfer : plan.transfers) {
      if (transfer.kind == plan::TransferKind::token) ranks.push_back(transfer.dst.rank);
    }
    return ranks;
  };
  const char* nodes = "node:0,0,0,0,1,1,1,1 numa:0,0,1,1,2,2,3,3";
  const char* clusters = "cluster:0,0,0,0,0,0,1,1 node:0,0,1,1,2,2,3,3";
  using Ranks = std::vector<int32_t>;
  EXPECT_EQ(waiting("", "token_ring:1"), Ranks{});
  EXPECT_EQ(waiting("numa:0,0,0,0,1,1,1,1", "token_ring:1"), Ranks{});
  EXPECT_EQ(waiting("numa:0,0,0,0,1,1,1,1", "token_ring:1:threshold=8K"), Ranks{});
  EXPECT_EQ(waiting("numa:0,0,0,0,1,1,1,1", "token_ring:1:within"), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(waiting(nodes, "token_ring:1"), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(waiting(clusters, "token_ring:1"), (Ranks{2, 3, 4, 5, 6, 7}));
}

void check_claims(const Plan& plan, const Levels& levels) {
  ASSERT_NO_THROW(plan::validate(plan));
  plan::Verdict verdict;
  ASSERT_NO_THROW(verdict = plan::check(plan));
  const Serves claimed = serves(plan.collective, plan.algorithm, levels);
  EXPECT_TRUE(verdict.in_place);
  // The documented properties must hold; a plan of few ranks may have better ones.
  EXPECT_TRUE(verdict.rank_order || !claimed.rank_order);
  EXPECT_TRUE(verdict.uniform || !claimed.uniform);
  EXPECT_TRUE(!plan.commutative || !claimed.rank_order);
}

TEST(LevelsPlans, AreRightOnOddMachines) {
  for_each_plan({1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 21, 28, 33, 47, 64}, check_claims);
}

std::vector<plan::Program> programs_of(const Plan& plan, Carrier carrier) {
  const Plan staged = plan::stage(plan);
  const auto dependences = plan::depend(staged, carrier);
  std::vector<plan::Program> programs;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    programs.push_back(plan::lower(staged, dependences, rank, carrier));
    programs.back().in_place = true;  // groups assume it for every built-in algorithm
  }
  return programs;
}

TEST(LevelsPlans, ProgramsAreOrdered) {
  for_each_plan({3, 6, 8, 11}, [](const Plan& plan, const Levels&) {
    ASSERT_NO_THROW(plan::simulate(
        plan, programs_of(plan, Carrier::slot),
        {.segments = 3, .positions = 0, .operations = 2, .interleavings = 1, .seed = 21}));
    if (!plan::lines_serve(plan::stage(plan))) return;
    ASSERT_NO_THROW(plan::simulate(
        plan, programs_of(plan, Carrier::line),
        {.segments = 1, .positions = 0, .operations = 3, .interleavings = 1, .seed = 22}));
  });
}

Levels levels_of_machine(const char* description, int ranks, bool round_robin) {
  const topo::Tree tree = topo::synthetic(description);
  const int cores = static_cast<int>(tree.cores.size()), regions = 4;
  std::vector<std::vector<int>> bindings;
  for (int rank = 0; rank < ranks; ++rank) {
    const int core = round_robin ? rank % regions * (cores / regions) + rank / regions : rank;
    bindings.push_back(tree.cores[static_cast<size_t>(core)].processing_units);
  }
  return placement::levels_of(bindings, topo::machine_units(tree));
}

TEST(LevelsPlans, AreRightOnLargeMachines) {
  for (const char* machine : {"numa:4 core:32", "numa:4 cache:4 core:8",
                              "socket:4 numa:2 cache:2 core:8", "socket:4 core:32"}) {
    for (const int ranks : {128, 101}) {
      for (const bool round_robin : {false, true}) {
        const Levels levels = levels_of_machine(machine, ranks, round_robin);
        EXPECT_EQ(levels.all().front().groups, 4);
        EXPECT_EQ(levels.in_rank_order(), !round_robin);
        for (int i = 0; i < plan::collective_count; ++i) {
          const auto collective = static_cast<Collective>(i);
          for (const std::string& spec : specs(collective)) {
            SCOPED_TRACE(std::string(machine) + ": " + std::string(plan::name(collective)) + " " +
                         spec);
            check_claims(generate(collective, spec, ranks, 0, levels), levels);
          }
        }
      }
    }
  }
}

// The number of hand-overs between groups of a level (by default the outermost), by stage.
std::vector<int> inter_group_hand_overs(const Plan& plan, const Levels& levels, size_t level = 0) {
  const Plan staged = plan::stage(plan);
  const std::vector<int32_t> group = levels.all().at(level).group_of.values();
  std::vector<int> result;
  for (const plan::Transfer& transfer : staged.transfers) {
    result.resize(std::max(result.size(), static_cast<size_t>(transfer.stage) + 1), 0);
    for (const plan::Region& source : transfer.src) {
      const bool between =
          group[static_cast<size_t>(source.rank)] != group[static_cast<size_t>(transfer.dst.rank)];
      result[static_cast<size_t>(transfer.stage)] += between;
    }
  }
  return result;
}

int total(const std::vector<int>& counts) {
  int sum = 0;
  for (const int count : counts) sum += count;
  return sum;
}

TEST(LevelsPlans, TreesHandOverBetweenGroupsOncePerGroup) {
  const Levels levels = levels_of_machine("numa:4 core:32", 128, true);
  for (const char* spec : {"levels", "levels:flat", "levels:binomial", "levels:4"}) {
    EXPECT_EQ(
        total(inter_group_hand_overs(generate(Collective::bcast, spec, 128, 5, levels), levels)), 3)
        << spec;
    EXPECT_EQ(
        total(inter_group_hand_overs(generate(Collective::reduce, spec, 128, 5, levels), levels)),
        3)
        << spec;
  }
  EXPECT_GT(total(inter_group_hand_overs(generate(Collective::reduce, "binomial", 128, 5, levels),
                                         levels)),
            3);
}

// Sockets of several numa regions, and several sockets in one region: only the top of the tree
// hands over between sockets.
TEST(LevelsPlans, SocketsAreALevelOfTheirOwn) {
  const Levels clustered = levels_of_machine("socket:4 numa:2 cache:2 core:8", 128, true);
  ASSERT_EQ(clustered.all().size(), 3u);
  for (const char* spec : {"levels", "levels:flat", "levels:binomial", "levels:binomial:8"}) {
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
      SCOPED_TRACE(std::string(plan::name(collective)) + " " + spec);
      const Plan plan = generate(collective, spec, 128, 5, clustered);
      // Between the four sockets, between the two regions of each socket, and between the two
      // caches of each region.
      const int expected[] = {3, 3 + 4, 3 + 4 + 8};
      for (const size_t level : {0, 1, 2})
        EXPECT_EQ(total(inter_group_hand_overs(plan, clustered, level)), expected[level]);
    }
  }
  // A reduce hands over between sockets last: by then each of the other three sockets has combined
  // its regions.
  const Plan reduce = generate(Collective::reduce, "levels:flat", 128, 0, clustered);
  const std::vector<int> sockets = inter_group_hand_overs(reduce, clustered),
                         regions = inter_group_hand_overs(reduce, clustered, 1);
  const auto first =
      std::find_if(sockets.begin(), sockets.end(), [](int count) { return count > 0; });
  EXPECT_EQ(first, sockets.end() - 1);
  EXPECT_EQ(total({regions.begin(), regions.begin() + (first - sockets.begin())}), 3);

  const Levels in_region = levels_of_machine("socket:4 core:32", 128, true);
  EXPECT_EQ(in_region.all().front().name, "socket");
  EXPECT_EQ(total(inter_group_hand_overs(
                generate(Collective::reduce, "levels:binomial:8", 128, 0, in_region), in_region)),
            3);
  EXPECT_EQ(total(inter_group_hand_overs(
                generate(Collective::allreduce, "tiled:levels", 128, 0, clustered), clustered)),
            32 * 3 * 2);
}

// A tile is combined in the caches, then in the regions, then in the sockets, then between these:
// on each level it is handed over once for each group but one, and as a result once more.
TEST(LevelsPlans, TilesGoThroughAllLevels) {
  const Levels levels = levels_of_machine("socket:4 numa:2 cache:2 core:8", 128, true);
  const Plan plan = generate(Collective::allreduce, "tiled:levels", 128, 0, levels);
  EXPECT_EQ(plan.blocks, 2 * 2 * 8);
  const int expected[] = {3, 3 + 4, 3 + 4 + 8};
  for (const size_t level : {0, 1, 2})
    EXPECT_EQ(total(inter_group_hand_overs(plan, levels, level)),
              plan.blocks * expected[level] * 2);
  // All ranks combine equally many tiles of their cache.
  std::vector<int> combined(128);
  for (const plan::Transfer& transfer : plan.transfers)
    if (transfer.kind == plan::TransferKind::reduce && transfer.src.size() == 8)
      ++combined[static_cast<size_t>(transfer.dst.rank)];
  EXPECT_EQ(combined, std::vector<int>(128, plan.blocks / 8));
}

TEST(LevelsPlans, DisseminationHandsOverBetweenGroupsInItsLastSteps) {
  const Levels whole = levels_of_machine("numa:4 core:8", 32, true);
  const std::vector<int> steps =
      inter_group_hand_overs(generate(Collective::barrier, "dissemination", 32, 0, whole), whole);
  ASSERT_GE(steps.size(), 6u);
  for (size_t step = 0; step < steps.size(); ++step)
    EXPECT_EQ(steps[step] > 0, step == 4 || step == 5) << step;
  // 12 ranks in two groups of 6 are folded to 4 and 4; the closing step is within groups as well.
  std::vector<placement::SharedLevel> halves{{"numa", {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, 2}};
  const Levels odd(halves);
  const std::vector<int> folded =
      inter_group_hand_overs(generate(Collective::allreduce, "dissemination", 12, 0, odd), odd);
  EXPECT_EQ(folded.front() + folded.at(1) + folded.back(), 0);
  EXPECT_EQ(total(folded), 8);  // one step of eight places
}

TEST(LevelsPlans, TilesAreHandedOverBetweenGroupsOncePerGroup) {
  const Levels levels = levels_of_machine("numa:4 core:8", 32, false);
  // 8 tiles; each goes from 3 groups when combined and to 3 groups as a result.
  EXPECT_EQ(total(inter_group_hand_overs(
                generate(Collective::allreduce, "tiled:levels", 32, 0, levels), levels)),
            8 * 3 * 2);
}

TEST(LevelsPlans, ARingHandsOverToEachGroupOncePerStep) {
  const Levels levels = levels_of_machine("numa:4 core:8", 32, true);
  EXPECT_EQ(
      total(inter_group_hand_overs(generate(Collective::allgather, "ring", 32, 0, levels), levels)),
      31 * 4);
}

TEST(LevelsPlans, PushLetsTheOwnerMoveTheData) {
  const Levels levels = levels_of_machine("numa:4 core:8", 32, false);
  for (const Collective collective :
       {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter}) {
    const Plan plan = generate(collective, "levels:push", 32, 0, levels);
    for (const plan::Transfer& transfer : plan.transfers) {
      for (const plan::Region& source : transfer.src)
        EXPECT_EQ(source.rank, transfer.executor()) << plan::name(collective);
    }
  }
}

}  // namespace
}  // namespace tutti::algo
