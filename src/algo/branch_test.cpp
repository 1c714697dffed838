// The shape of trees, and how many leaves a binary tree can have without congestion.
#include "algo/branch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "algo/fold.h"

namespace tutti::algo {
namespace {

std::string text(const Branch& branch) {
  std::string result = std::to_string(branch.leader);
  if (branch.parts.empty()) return result;
  result += "(";
  for (const Branch& part : branch.parts) result += (result.back() == '(' ? "" : " ") + text(part);
  return result + ")";
}

TEST(Branch, IsATreeOfTrees) {
  const placement::Levels levels = placement::read_levels("numa:0,1,0,1,0,1");
  EXPECT_EQ(text(branch_of(6, 0, levels, {2}, {0})), "0(0(0 2 4) 1(1 3 5))");
  EXPECT_EQ(text(branch_of(6, 3, levels, {2}, {0})), "3(0(0 2 4) 3(1 3 5))");
  EXPECT_EQ(text(branch_of(6, 0, levels, {2}, {2})), "0(0(0(0 2) 4) 1(1(1 3) 5))");
  EXPECT_EQ(text(branch_of(4, 2, {}, {2}, {2})), "2(0(0 1) 2(2 3))");
  EXPECT_EQ(text(branch_of(1, 0, {}, {2}, {2})), "0");
}

TEST(Branch, LeavesAreRunsAndThenPairs) {
  // Nine ranks make three flat trees; two of these make a pair first.
  EXPECT_EQ(text(branch_of(9, 0, {}, {2, 3}, {2, 3})), "0(0(0(0 1 2) 3(3 4 5)) 6(6 7 8))");
  EXPECT_EQ(text(branch_of(3, 0, {}, {2, 8}, {2, 8})), "0(0(0 1) 2)");
  EXPECT_EQ(text(branch_of(5, 4, {}, {2, 1}, {2, 1})), "4(0 1 2 3 4)");
}

// The most ranks that hand data to one rank, and the hand-overs on the longest way to the leader.
struct Reports {
  int most = 0, depth = 0;
};

// `others`: the ranks that report to the leader in branches around this one.
Reports reports(const Branch& branch, int others = 0) {
  for (const Branch& part : branch.parts) others += part.leader != branch.leader;
  Reports result{others, 0};
  for (const Branch& part : branch.parts) {
    const bool own = part.leader == branch.leader;
    const Reports inner = reports(part, own ? others : 0);
    result = {std::max(result.most, inner.most),
              std::max(result.depth, inner.depth + (own ? 0 : 1))};
  }
  return result;
}

TEST(Branch, NoRankHasMoreThanTwoChildrenInABinaryTree) {
  EXPECT_EQ(text(branch_of(7, 3, {}, {}, {.degree = 2, .binary = true})), "3(1(0 1 2) 3 5(4 5 6))");
  EXPECT_EQ(text(branch_of(7, 0, {}, {}, {.degree = 2, .binary = true})), "0(0 2(1 2 3) 5(4 5 6))");
  EXPECT_EQ(text(branch_of(4, 3, {}, {}, {.degree = 2, .binary = true})), "3(0 1(1 2) 3)");
  for (int ranks = 2; ranks <= 300; ++ranks) {
    for (const int root : {0, 1, ranks / 2, ranks - 1}) {
      const Branch branch = branch_of(ranks, root, {}, {}, {.degree = 2, .binary = true});
      const Reports found = reports(branch);
      EXPECT_EQ(branch.leader, root);
      EXPECT_LE(found.most, 2) << ranks << " " << root;
      EXPECT_LE(found.depth, std::bit_width(static_cast<unsigned>(ranks))) << ranks << " " << root;
      const std::vector<int32_t> order = ranks_of(branch);
      EXPECT_EQ(static_cast<int>(order.size()), ranks);
      EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    }
  }
}

// True if d values can be combined to one in as few steps as any binary tree needs, with at most c
// combinations per step.
bool bears(int d, int c) {
  int values = d;
  // Each step combines as many as possible, which leaves the least to the steps that follow.
  for (int steps = std::bit_width(static_cast<unsigned>(d - 1)); steps > 0; --steps)
    values -= std::min(c, values / 2);
  return values == 1;
}

TEST(Leaves, AreAllThatEveryLeastTreeBears) {
  for (int c = 1; c <= 70; ++c) {
    int most = 1;
    while (bears(most + 1, c)) ++most;
    EXPECT_EQ(leaves_without_congestion(1 << 20, c, 1.0), most) << c;
    EXPECT_EQ(leaves_without_congestion(1 << 20, c + 0.5, 1.0), most) << c;
  }
}

TEST(Leaves, AreNoMoreThanTheRanks) {
  EXPECT_EQ(leaves_without_congestion(4, 3.0, 1.0), 4);
  EXPECT_EQ(leaves_without_congestion(100, 3.0, 1.0),
            7);  // the paper's text has 11, which takes five at once
  EXPECT_EQ(leaves_without_congestion(100, 0.1, 1.0), 3);  // one at a time at least
  EXPECT_EQ(leaves_without_congestion(100, 1.0, 0.0), 100);
  EXPECT_EQ(leaves_without_congestion(1, 1.0, 1.0), 1);
}

TEST(Fold, LeavesRunsWithinGroups) {
  const auto sizes = [](const Fold& frame) { return std::pair(frame.size(), frame.local); };
  EXPECT_EQ(sizes(fold(12, placement::read_levels("numa:0,0,0,0,0,0,1,1,1,1,1,1"))),
            std::pair(8, 4));
  EXPECT_EQ(sizes(fold(8, placement::read_levels("numa:0,1,0,1,0,1,0,1"))), std::pair(8, 4));
  EXPECT_EQ(sizes(fold(3, {})), std::pair(2, 2));
  std::string sevens = "numa:0";
  for (int rank = 1; rank < 21; ++rank) sevens += "," + std::to_string(rank / 7);
  const Fold frame = fold(21, placement::read_levels(sevens));
  EXPECT_EQ(sizes(frame), std::pair(16, 2));
  for (const Fold::Worker& worker : frame.workers) {
    EXPECT_TRUE(worker.folded == nobody || worker.rank / 7 == worker.folded / 7);
  }
}

}  // namespace
}  // namespace tutti::algo
