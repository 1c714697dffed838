#include "plan/tree_text.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/test_changed_text.h"
#include "plan/check.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// LAM's logarithmic trees of 8 ranks (PATHS). The reduce tree and the bcast tree differ; in the
// reduction rank 0 takes ranks 1, 2, 4.
constexpr const char* example = R"(tutti-tree 1
collective allreduce
algorithm by hand
ranks 8
shape node:2 core:4
reduce 0: 1 2 4
reduce 2: 3
reduce 4: 5 6
reduce 6: 7
bcast 0: 1 2 4
bcast 1: 3 5
bcast 2: 6
bcast 3: 7
)";

std::string refusal(std::string_view text) {
  try {
    read_tree(text, "my.tree");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

TEST(TreeText, ReadsEveryPart) {
  const Trees trees = read_trees(example);
  EXPECT_EQ(trees.collective, Collective::allreduce);
  EXPECT_EQ(trees.algorithm, "by hand");
  EXPECT_EQ(trees.ranks, 8);
  EXPECT_EQ(trees.root, 0);
  EXPECT_EQ(trees.shape, "node:2 core:4");
  EXPECT_FALSE(trees.any_order);
  EXPECT_EQ(trees.reduce[4], (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(trees.bcast[1], (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(print(trees), example);
}

TEST(TreeText, MeansThisPlan) {
  const Plan plan = read_tree(example, "my.tree");
  EXPECT_EQ(print(plan),
            "tutti-plan 1\ncollective allreduce\nalgorithm by hand\nranks 8\nblocks 1\nshape "
            "node:2 core:4\n"
            "reduce tmp[6] <- in[6], in[7]\n"
            "reduce tmp[4] <- in[4], in[5], tmp[6]\n"
            "reduce tmp[2] <- in[2], in[3]\n"
            "reduce out[0] <- in[0], in[1], tmp[2], tmp[4]\n"
            "copy out[1] <- out[0]\ncopy out[2] <- out[0]\ncopy out[4] <- out[0]\n"
            "copy out[3] <- out[1]\ncopy out[5] <- out[1]\ncopy out[6] <- out[2]\ncopy out[7] <- "
            "out[3]\n");
  EXPECT_EQ(plan.files, std::vector<std::string>{"my.tree"});
  EXPECT_EQ(plan.transfers[0].line, 9);
  EXPECT_EQ(plan.transfers[3].line, 6);
  EXPECT_EQ(plan.transfers[4].line, 10);
  const Verdict verdict = check(plan);
  EXPECT_TRUE(verdict.rank_order);
  EXPECT_TRUE(verdict.uniform);
  EXPECT_TRUE(verdict.in_place);
}

// Without a bcast tree, the result goes back along the reduce tree, to the last child first.
TEST(TreeText, TheBcastTreeIsTheReduceTreeUpsideDown) {
  const Plan plan =
      read_tree("tutti-tree 1\ncollective barrier\nranks 4\nroot 3\nreduce 3: 0 1\nreduce 1: 2\n");
  EXPECT_EQ(print(plan),
            "tutti-plan 1\ncollective barrier\nranks 4\ncommutative yes\nblocks 1\n"
            "reduce tmp[1] <- in[1], in[2]\nreduce out[3] <- in[3], in[0], tmp[1]\n"
            "copy out[1] <- out[3]\ncopy out[0] <- out[3]\ncopy out[2] <- out[1]\n");
  EXPECT_NO_THROW(check(plan));
}

TEST(TreeText, OtherCollectives) {
  EXPECT_EQ(print(read_tree(
                "tutti-tree 1\ncollective bcast\nranks 4\nroot 2\nbcast 2: 0 3\nbcast 0: 1\n")),
            "tutti-plan 1\ncollective bcast\nranks 4\nroot 2\nblocks 1\n"
            "copy out[0] <- in[2]\ncopy out[3] <- in[2]\ncopy out[1] <- out[0]\n");
  EXPECT_EQ(
      print(read_tree(
          "tutti-tree 1\ncollective reduce\nranks 3\nroot 1\nany_order yes\nreduce 1: 0 2\n")),
      "tutti-plan 1\ncollective reduce\nranks 3\nroot 1\ncommutative yes\nblocks 1\n"
      "reduce any out[1] <- in[1], in[0], in[2]\n");
  EXPECT_EQ(print(read_tree("tutti-tree 1\ncollective reduce\nranks 4\nstepwise yes\n"
                            "reduce 0: 1 2\nreduce 2: 3\n")),
            "tutti-plan 1\ncollective reduce\nranks 4\nroot 0\nblocks 1\n"
            "reduce tmp[2] <- in[2], in[3]\nreduce out[0] <- in[0], in[1]\n"
            "reduce out[0] <- out[0], tmp[2]\n");
  for (const char* collective : {"barrier", "bcast", "reduce", "allreduce"}) {
    EXPECT_NO_THROW(
        check(read_tree(std::string("tutti-tree 1\nranks 1\ncollective ") + collective)))
        << collective;
  }
}

// The reader finds out whether the tree keeps rank order. A list may contain the parent, which sets
// the place of the parent's own data.
TEST(TreeText, FindsRankOrder) {
  const auto commutative = [](const char* lists) {
    const Plan plan =
        read_tree(std::string("tutti-tree 1\ncollective reduce\nranks 5\nroot 2\n") + lists);
    EXPECT_EQ(check(plan).rank_order, !plan.commutative) << lists;
    return plan.commutative;
  };
  EXPECT_FALSE(commutative("reduce 2: 0 1 2 3 4\n"));
  EXPECT_FALSE(commutative("reduce 2: 0..4\n"));
  EXPECT_FALSE(commutative("reduce 2: 1 2 3\nreduce 1: 0 1\nreduce 3: 4\n"));
  EXPECT_TRUE(commutative("reduce 2: 0 1 3 4\n"));
  EXPECT_TRUE(commutative("reduce 2: 1 2 3\nreduce 1: 0\nreduce 3: 4\n"));
  EXPECT_TRUE(commutative("reduce 2: 0 2 1 3 4\n"));
  EXPECT_TRUE(commutative("reduce 2: 2 3 0\nreduce 3: 4\nreduce 0: 1\n"));
}

TEST(TreeText, ReadsAndPrintsRanges) {
  const std::string text =
      "tutti-tree 1\ncollective bcast\nranks 40\nroot 0\n"
      "bcast 0: 1 2 4 8..32/8 3\nbcast 8: 5..7 9..15 17..23 25..31 33..39\n";
  EXPECT_EQ(print(read_trees(text)), text);
  const Trees spaced = read_trees(
      "tutti-tree 1\ncollective bcast\nranks 9\nbcast 0 : 1 .. 7 / 3 2..3#x\nbcast 1: 5 6 8\n");
  EXPECT_EQ(spaced.bcast[0], (std::vector<int32_t>{1, 4, 7, 2, 3}));
}

TEST(TreeText, TreesOfCodeMeanTheSame) {
  EXPECT_EQ(print(plan_of(read_trees(example))), print(read_tree(example)));
  Trees trees = read_trees(example);
  const auto fault = [&] {
    try {
      plan_of(trees);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  trees.reduce[6] = {};
  EXPECT_EQ(fault(),
            "tree: rank 7 has no parent in the reduce tree; name it in a list that begins with "
            "'reduce PARENT:'");
  trees.reduce[5] = {6};
  EXPECT_EQ(fault(), "tree: rank 6 has rank 4 as its parent already; name it once");
  trees.reduce = {};
  EXPECT_EQ(fault(),
            "tree: rank 1 has no parent in the reduce tree; name it in a list that begins with "
            "'reduce PARENT:'");
  trees.shape = "big";
  EXPECT_TRUE(fault().starts_with("tree: the machine's shape must be words"));
  trees.root = 8;
  EXPECT_EQ(fault(), "tree: there is no rank 8 to be the root; ranks are 0 to 7");
  trees.ranks = 0;
  EXPECT_EQ(fault(), "tree: the number of ranks is 0; it is 1 to 1048576");
}

struct Malformed {
  const char* text;
  const char* message;  // the start of it
};

TEST(TreeText, RefusesMalformedHeaders) {
  const std::vector<Malformed> table = {
      {"", "my.tree:1: the text is empty; a tree begins with 'tutti-tree 1'"},
      {"tutti-plan 1\n", "my.tree:1: not a tree: expected 'tutti-tree 1', found 'tutti-plan 1'"},
      {"tutti-tree\n", "my.tree:1: not a tree"},
      {"tutti-tree 2\n", "my.tree:1: version 2 of the tree format; this Tutti reads version 1"},
      {"tutti-tree 1 x\n", "my.tree:1: unexpected 'x' at the end of the line"},
      {"tutti-tree 1\n", "my.tree:1: the tree does not say its 'collective'"},
      {"tutti-tree 1\ncollective bcast\n", "my.tree:2: the tree does not say its 'ranks'"},
      {"tutti-tree 1\ncollective bcast\nbcast 0: 1\n",
       "my.tree:3: the tree does not say its 'ranks'"},
      {"tutti-tree 1\ncollective gather\n", "my.tree:2: there are no trees of 'gather'"},
      {"tutti-tree 1\ncolective bcast\n",
       "my.tree:2: unknown word 'colective'; is it 'collective'?"},
      {"tutti-tree 1\nblocks 2\n", "my.tree:2: unknown word 'blocks'; a line is a setting"},
      {"tutti-tree 1\n17\n", "my.tree:2: unknown word '17'"},
      {"tutti-tree 1\nranks\n", "my.tree:2: 'ranks' without a value"},
      {"tutti-tree 1\nranks 0\n", "my.tree:2: the number of ranks is 0; it is 1 to 1048576"},
      {"tutti-tree 1\nranks 9999999\n", "my.tree:2: the number of ranks is 9999999"},
      {"tutti-tree 1\nranks 2\nranks 2\n",
       "my.tree:3: 'ranks' a second time; the first is at my.tree:2, keep one"},
      {"tutti-tree 1\nranks 2 2\n", "my.tree:2: unexpected '2' at the end of the line"},
      {"tutti-tree 1\nany_order maybe\n", "my.tree:2: any_order is yes or no, not 'maybe'"},
      {"tutti-tree 1\nstepwise yes\nany_order yes\nranks 2\ncollective reduce\nreduce 0: 1\n",
       "my.tree:2: any_order and stepwise exclude each other; remove one of the two lines"},
      {"tutti-tree 1\nshape four nodes\n",
       "my.tree:2: the machine's shape must be words such as 'node:4 numa:2 core:8'"},
      {"tutti-tree 1\nalgorithm caf\xc3\xa9\n", "my.tree:2: the algorithm's label"},
      {"tutti-tree 1\nroot 2\nranks 2\ncollective bcast\nbcast 0: 1\n",
       "my.tree:2: there is no rank 2 to be the root; ranks are 0 to 1"},
      {"tutti-tree 1\nany_order yes\nranks 2\ncollective bcast\n",
       "my.tree:2: a bcast combines nothing; remove the line"},
  };
  for (const Malformed& malformed : table) {
    EXPECT_TRUE(refusal(malformed.text).starts_with(malformed.message))
        << malformed.text << "\n"
        << refusal(malformed.text) << "\n"
        << malformed.message;
  }
}

TEST(TreeText, RefusesMalformedTrees) {
  // Lists begin at line 4.
  const std::string head = "tutti-tree 1\ncollective allreduce\nranks 6\n";
  const std::vector<Malformed> table = {
      {"",
       "my.tree:4: rank 1 has no parent in the reduce tree; name it in a list that begins with "
       "'reduce PARENT:'"},
      {"reduce",
       "my.tree:4: expected the parent's rank, a whole number of at least 0, found the end of the "
       "line"},
      {"reduce 0 1 2", "my.tree:4: expected ':' after the parent, found '1 2'"},
      {"reduce 0: one",
       "my.tree:4: expected a child's rank, a whole number of at least 0, found 'one'"},
      {"reduce 0: 1, 2",
       "my.tree:4: expected a child's rank, a whole number of at least 0, found ', 2'"},
      {"reduce 0:", "my.tree:4: rank 0 has no children here; name one, or remove the line"},
      {"reduce 0: 0", "my.tree:4: rank 0 has no children here"},
      {"reduce 6: 1", "my.tree:4: there is no rank 6; ranks are 0 to 5"},
      {"reduce 0: 6", "my.tree:4: there is no rank 6; ranks are 0 to 5"},
      {"reduce 0: 1..6", "my.tree:4: there is no rank 6"},
      {"reduce 0: 99999999999", "my.tree:4: a child's rank '99999999999' is too large"},
      {"reduce 0: 3..1",
       "my.tree:4: an empty range; write FIRST..LAST or FIRST..LAST/STEP, upwards"},
      {"reduce 0: 1..3/0", "my.tree:4: an empty range"},
      {"reduce 0: 1..", "my.tree:4: expected the last rank of the range"},
      {"reduce 0: 1..5\nreduce 1: 0",
       "my.tree:5: rank 0 is the root and has no parent; leave it out, or set another root"},
      {"reduce 0: 1 2 1",
       "my.tree:4: rank 1 has rank 0 as its parent already (line 4); name it once"},
      {"reduce 0: 1..5\n\nreduce 1: 5",
       "my.tree:6: rank 5 has rank 0 as its parent already (line 4); name it once"},
      {"reduce 1: 1 2 1", "my.tree:4: rank 1 a second time in its own list"},
      {"reduce 0: 1\nreduce 0: 2",
       "my.tree:5: rank 0 has its reduce list already (line 4); write its children in one"},
      {"reduce 0: 1..4", "my.tree:4: rank 5 has no parent in the reduce tree"},
      {"reduce 0: 1 2 5\nreduce 3: 4\nreduce 4: 3",
       "my.tree:6: ranks 3 and 4 are in a circle of the reduce tree, each above "
       "the other; give one a parent that leads to the root, rank 0"},
      {"reduce 0: 1..5\nbcast 0: 1..3",
       "my.tree:5: rank 4 has no parent in the bcast tree; name it in a list that begins "
       "with 'bcast PARENT:'"},
      {"reduce 0: 1..5\nbcast 1: 1",
       "my.tree:5: rank 1 in its own list, but a rank does not broadcast to itself; leave it out"},
      {"reduce 0: 1..5\nranks 6",
       "my.tree:5: 'ranks' after the first list; move it before the lists"},
      {"reduse 0: 1..5", "my.tree:4: unknown word 'reduse'; is it 'reduce'?"},
  };
  for (const Malformed& malformed : table) {
    const std::string message = refusal(head + malformed.text + "\n");
    EXPECT_TRUE(message.starts_with(malformed.message)) << malformed.text << "\n"
                                                        << message << "\n"
                                                        << malformed.message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(refusal("tutti-tree 1\ncollective bcast\nranks 2\nreduce 0: 1\n"),
            "my.tree:4: a bcast has no reduce tree; remove the line");
  EXPECT_EQ(refusal("tutti-tree 1\ncollective reduce\nranks 2\nreduce 0: 1\nbcast 0: 1\n"),
            "my.tree:5: a reduce has no bcast tree; remove the line");
}

// The reader does not recurse, so neither long chains nor wide trees exhaust the stack.
TEST(TreeText, BearsTheLargestTrees) {
  std::string chain = "tutti-tree 1\ncollective reduce\nranks 100000\n";
  for (int rank = 0; rank + 1 < 100000; ++rank)
    chain += "reduce " + std::to_string(rank) + ": " + std::to_string(rank + 1) + "\n";
  const Plan plan = read_tree(chain);
  EXPECT_EQ(plan.transfers.size(), 99999u);
  EXPECT_FALSE(plan.commutative);
  EXPECT_EQ(read_tree("tutti-tree 1\ncollective bcast\nranks 1048576\nbcast 0: 1..1048575\n")
                .transfers.size(),
            1048575u);
}

// Any text is either read or refused with its line. A text that was read gives a right plan, prints
// and reads again.
TEST(TreeText, ChangedBytesAreReadOrRefused) {
  ChangedText changed(example, "0123456789:. /#\n\r\treducbastyno_\xff\x01", 5);
  changed.expect_read_or_refused("my.tree", 200, [](const std::string& text) {
    const Trees trees = read_trees(text, "my.tree");
    ASSERT_EQ(read_trees(print(trees)), trees) << text;
    ASSERT_NO_THROW(check(read_tree(text))) << text;
  });
}

}  // namespace
}  // namespace tutti::plan
