// HMPI's equations beside predictions of plans with their structure. A unit of the equations is a
// byte here.
#include "model/test_closed_forms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "model/leaves.h"
#include "model/test_programs.h"

namespace tutti::model {
namespace {

using plan::Collective;

constexpr double near = 1e-6;  // relative

Sockets sockets(int q, int s, AccessTimes alpha = {30, 0.1, 0.04},
                AccessTimes beta = {100, 0.3, 0.1}) {
  return {alpha, beta, q, s};
}

// Ranks of a socket are neighbours.
placement::Levels levels_of(const Sockets& shape) {
  if (shape.s == 1) return {};
  std::vector<int32_t> group_of;
  for (int32_t rank = 0; rank < shape.q * shape.s; ++rank) group_of.push_back(rank / shape.q);
  return placement::Levels({{"numa", group_of, 0}});
}

double predicted(const Sockets& shape, Collective collective, std::string_view algorithm,
                 double m) {
  const LevelCost within{"numa", shape.alpha.a, shape.alpha.b, shape.alpha.b, shape.alpha.B};
  const LevelCost between{"node", shape.beta.a, shape.beta.b, shape.beta.b, shape.beta.B};
  // With one socket there is no level inside the node.
  LevelCost only = within;
  only.name = "node";
  const Machine machine = shape.s == 1 ? bare_machine({only}) : bare_machine({between, within});
  TestCall call{collective, algorithm, shape.q * shape.s, static_cast<size_t>(m)};
  call.levels = levels_of(shape);
  return prediction_of(call, machine).time;
}

// The sockets of a machine that comes with Tutti; a unit is a line.
Sockets sockets_of(const std::string& name, int32_t q, int32_t s) {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  const std::string path = root / "python" / "tutti" / "machines" / (name + ".json");
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Machine machine = read_machine(text, path);
  const auto times = [](const LevelCost& level) {
    return AccessTimes{level.hand_over, 64 * level.byte.at(64), 64 * level.shared.at(64)};
  };
  return {times(*machine.find("numa")), times(*machine.find("node")), q, s};
}

// The number of lines from which tiles are quicker than the tree.
int crossing(const Sockets& sockets) {
  int lines = 1;
  while (sockets.allreduce_by_tree(lines) <= sockets.allreduce_tiled(lines)) ++lines;
  return lines;
}

// The machines' files say that what ranks of a socket share is chosen for this.
TEST(ClosedForms, TreeAndTilesCrossWhereThePaperSays) {
  EXPECT_NEAR(crossing(sockets_of("hmpi-xeon", 6, 2)) * 64, 16 * 1024, 512) << "figure 24";
  EXPECT_NEAR(crossing(sockets_of("hmpi-opteron", 8, 4)) * 64, 14 * 1024, 512) << "figure 25";
}

TEST(ClosedForms, OneLineAsInThePaper) {
  EXPECT_NEAR(one_line(1.2, 28.5, 105.2), 306.7, 0.05) << "Westmere, section 3.4";
  // The paper does not print these latencies; those of the machine's file give its sum.
  EXPECT_NEAR(one_line_on_four_sockets(1.25, 44, 120, 177.4), 608.4, 0.05) << "Magny-Cours";
}

// Section 3.4 unfolds equation (5) for Westmere: q = 6, and 4 leaves.
TEST(ClosedForms, UnfoldedForWestmere) {
  const AccessTimes alpha{30, 0.1, 0.06}, beta{100, 0.3, 0.1};
  const Sockets westmere{alpha, beta, 6, 2};
  EXPECT_EQ(westmere.leaves(), 3) << "b / B = 1; the paper has 4, which no c gives";
  for (const double m : {64., 4096.}) {
    const double one_stage = beta.a + beta.B * 6 * m;
    EXPECT_DOUBLE_EQ(westmere.bcast_in_one_stage(m), one_stage);
    EXPECT_DOUBLE_EQ(westmere.reduce_between(m), beta.a + beta.b * m);
    EXPECT_DOUBLE_EQ(westmere.reduce_within(m),
                     alpha.a + 3 * alpha.B * m + 2 * (alpha.a + alpha.b * m));
    EXPECT_DOUBLE_EQ(westmere.allreduce_by_tree(m),
                     westmere.reduce_within(m) + westmere.reduce_between(m) + westmere.bcast(m));
  }
}

// The innermost level that the machine knows and the ranks share decides: here 4 ranks of a numa
// region with b / B = 3, and 12 of a node with b / B = 1.
TEST(ClosedForms, LeavesFollowFromTheMachine) {
  Machine machine = bare_machine({{"node", 100, 0.3, 0.3, 0.3}, {"numa", 30, 0.1, 0.13, 0.04}});
  const std::vector<placement::SharedLevel> numa{{"numa", {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, 3}};
  EXPECT_EQ(leaves_of(machine, numa, 12, 4096), 4);
  EXPECT_EQ(leaves_of(machine, {}, 12, 4096), 3);
  machine.levels[1].add = 0.05;
  EXPECT_EQ(leaves_of(machine, numa, 12, 4096), 3);
}

// (1) without congestion, and (2): a tree combines child by child.
TEST(ClosedForms, BinaryTreesTakeTheirTime) {
  for (const int q : {2, 4, 8, 16})
    for (const double m : {64., 4096., 1e6}) {
      const Sockets shape = sockets(q, 1, {30, 0.1, 0.1 / q});
      ASSERT_EQ(shape.leaves(), q) << "no congestion";
      const double form = shape.reduce_within(m, 2);
      EXPECT_NEAR(predicted(shape, Collective::reduce, "binomial:stepwise", m), form, near * form);
    }
  // Combined all at once, the rank with k children waits for all of them.
  const Sockets shape = sockets(16, 1, {60, 0.1, 0.1 / 16});
  const double form = shape.reduce_within(16384, 2);
  EXPECT_GT(predicted(shape, Collective::reduce, "binomial", 16384), 2 * form);
}

// In an n-ary tree the hand-overs of a level overlap, so the form is an upper bound.
TEST(ClosedForms, TreesOfHigherDegreeTakeAtMostTheirTime) {
  for (const int degree : {3, 4, 8})
    for (const double m : {64., 4096., 1e6}) {
      const Sockets shape = sockets(64, 1, {30, 0.1, 0.1 / 64});
      const std::string algorithm = "nary:" + std::to_string(degree) + ":stepwise";
      const double form = shape.reduce_within(m, degree);
      const double time = predicted(shape, Collective::reduce, algorithm, m);
      EXPECT_LE(time, form * (1 + near)) << algorithm << " " << m;
      EXPECT_GE(time, form / 4) << algorithm << " " << m;
    }
}

// (1) with congestion: q - d combinations, and then a binary tree of the d leaves.
TEST(ClosedForms, TreesWithLeavesTakeTheirTime) {
  const AccessTimes alpha{30, 0.1, 0.1 / 3};
  for (const int q : {8, 16, 32})
    for (const double m : {64., 4096., 1e6}) {
      const Sockets shape = sockets(q, 1, alpha);
      const int d = 4;
      const double form = alpha.a + (q - d) * alpha.B * m + (alpha.a + alpha.b * m) * 2;
      EXPECT_NEAR(predicted(shape, Collective::reduce, "levels:leaves=4:stepwise", m), form,
                  near * form)
          << q << " " << m;
    }
}

// (3): a tree within sockets, and one between them. Without congestion (1) has a hand-over for a
// first phase in which nothing is combined.
TEST(ClosedForms, TreesOnTwoLevelsTakeTheirTime) {
  for (const double m : {64., 4096., 1e6}) {
    const Sockets shape = sockets(8, 4, {30, 0.1, 0.1 / 8}, {100, 0.3, 0.3 / 4});
    ASSERT_EQ(shape.leaves(), shape.q);
    const double form = shape.reduce(m) - shape.alpha.a;
    EXPECT_NEAR(predicted(shape, Collective::reduce, "levels:binomial:stepwise", m), form,
                near * form);
  }
}

// (4): all read at once.
TEST(ClosedForms, BroadcastsTakeTheirTime) {
  for (const double m : {64., 4096., 1e6}) {
    const Sockets one = sockets(8, 1, {30, 0.1, 0.05});
    const double form = one.alpha.a + one.alpha.B * 7 * m;
    EXPECT_NEAR(predicted(one, Collective::bcast, "flat", m), form, near * form);
    // The second stage begins when the socket's master has its copy. The ranks of the root's socket
    // have the root itself for their master.
    const Sockets two = sockets(8, 2, {30, 0.1, 0.05});
    const double staged = two.bcast_in_two_stages(m);
    EXPECT_NEAR(predicted(two, Collective::bcast, "levels:flat", m), staged, near * staged);
    EXPECT_LE(predicted(two, Collective::bcast, "flat", m),
              two.bcast_in_one_stage(m) + one.alpha.a + 7 * one.alpha.B * m);
  }
}

// (6): in every round all ranks of a socket read at once.
TEST(ClosedForms, DisseminationTakesItsTime) {
  for (const int q : {2, 8, 16})
    for (const double m : {64., 4096., 1e6}) {
      const Sockets shape = sockets(q, 1, {30, 0.1, 0.1});
      const double form = shape.dissemination(m);
      EXPECT_NEAR(predicted(shape, Collective::allreduce, "dissemination", m), form, near * form);
    }
  // (7) bounds other numbers of ranks.
  for (const int q : {3, 5, 6, 7, 12}) {
    const Sockets shape = sockets(q, 1, {30, 0.1, 0.1});
    EXPECT_LE(predicted(shape, Collective::allreduce, "dissemination", 4096),
              shape.dissemination_at_most(4096))
        << q;
  }
}

// (8) is an upper bound: the hand-overs overlap, and a rank's own tile costs nothing here.
TEST(ClosedForms, TilesTakeAtMostTheirTime) {
  for (const double m : {8192., 1e6}) {
    const Sockets shape = sockets(8, 1, {30, 0.1, 0.1});
    const double form = shape.tiled_within(m);
    const double time = predicted(shape, Collective::reduce, "tiled", m);
    const double root_collects = shape.alpha.a + shape.alpha.B * 8 * m;
    EXPECT_LE(time, form + root_collects);
    EXPECT_GE(time, 7. / 8 * shape.alpha.B * 8 * m);
  }
}

// Sections 3.3 and 3.4: a tree is best for short vectors, tiles for long ones.
TEST(ClosedForms, TreesAndTilesCrossOnce) {
  const Sockets shape = sockets(6, 2, {30, 0.1, 0.06}, {100, 0.3, 0.1});
  EXPECT_LT(shape.allreduce_by_tree(64), shape.allreduce_tiled(64));
  EXPECT_GT(shape.allreduce_by_tree(1e6), shape.allreduce_tiled(1e6));
}

}  // namespace
}  // namespace tutti::model
