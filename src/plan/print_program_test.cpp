#include <gtest/gtest.h>

#include <string>

#include "plan/lower.h"
#include "plan/program.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

const Plan two_ranks = read(
    "tutti-plan 1\ncollective allreduce\nalgorithm example\nranks 2\n"
    "reduce out[0] <- in[0], in[1]\ncopy out[1] <- out[0]\n");

TEST(Lower, OfSeveralRanksIsThatOfEachInTheOrderAsked) {
  const Plan staged =
      stage(read("tutti-plan 1\ncollective allreduce\nranks 4\ncommutative yes\n"
                 "reduce any tmp[2] <- in[2], in[3]\nreduce any out[0] <- in[1], tmp[2], in[0]\n"
                 "copy out[2] <- out[0]\ncopy out[1] <- out[0]\ncopy out[3] <- out[2]\n"),
            placement::Nodes({0, 0, 1, 1}));
  for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
    const Dependences dependences = depend(staged, carrier);
    const std::vector<int32_t> ranks{3, 0, 2};
    const std::vector<Program> programs = lower(staged, dependences, ranks, carrier);
    ASSERT_EQ(programs.size(), ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(programs[i].rank, ranks[i]);
      EXPECT_EQ(print(programs[i]), print(lower(staged, dependences, ranks[i], carrier)));
    }
  }
}

TEST(Lower, PlansTooLargeToFollowGoBetweenNodesToo) {
  const int32_t ranks = 1100;  // more than clocks are kept for
  std::string text = "tutti-plan 1\ncollective bcast\nranks 1100\n";
  std::vector<int32_t> nodes;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    nodes.push_back(rank / 4);
    if (rank > 0)
      text += "copy out[" + std::to_string(rank) + "] <- " +
              (rank < 4 ? "in[0]" : "out[" + std::to_string(rank - 4) + "]") + "\n";
  }
  const Plan staged = stage(read(text), placement::Nodes(nodes));
  for (const Carrier carrier : {Carrier::line, Carrier::slot}) {
    const Program program = lower(staged, depend(staged, carrier), ranks - 1, carrier);
    EXPECT_EQ(program.messages.size(), 1u);
    for (const Step& step : program.steps)
      EXPECT_NE(step.kind, StepKind::wait_word) << print(program);
  }
}

// A line that others have read is in their caches.
TEST(Lower, ARankTakesWhatItCopiedToALineFromWhereItCopiedIt) {
  const std::string exchange =
      "tutti-plan 1\ncollective allreduce\nranks 2\ncommutative yes\n"
      "copy tmp[0] <- in[0]\ncopy tmp[1] <- in[1]\n";
  const std::string text = print(lower(read(exchange + "reduce out[0] <- tmp[0], tmp[1]\n"
                                                       "reduce out[1] <- tmp[1], tmp[0]\n"),
                                       1, Carrier::line));
  EXPECT_NE(text.find("reduce     out[1].0 <- in[1].0, line[0].0"), std::string::npos) << text;
  // Not after `out` has changed, which may be the same buffer.
  const std::string later =
      print(lower(read(exchange + "reduce out[0] <- tmp[0], tmp[1]\n"
                                  "copy out[1] <- tmp[0]\nreduce out[1] <- out[1], tmp[1]\n"),
                  1, Carrier::line));
  EXPECT_NE(later.find("reduce     out[1].0 <- out[1].0, line[1].0"), std::string::npos) << later;
}

TEST(PrintProgram, OverSlots) {
  EXPECT_EQ(print(lower(two_ranks, 1, Carrier::slot)),
            "program of rank 1 of 2: allreduce example, 1 slot blocks in at least 2 positions, 3 "
            "stages, 4 transfers\n"
            "   0  stage 0   wait_reuse rank 0, transfer 2 at stage 1\n"
            "   1  stage 0   copy       slot[1].0 <- in[1].0  (lengths of block 0; elidable)\n"
            "   2  stage 0   publish    transfer 1 at stage 0\n"
            "   3  stage 2   wait_word  rank 0, transfer 3 at stage 1\n"
            "   4  stage 2   copy       out[1].0 <- slot[0].0 or out[0].0  (lengths of block 0)\n"
            "   5  stage 2   publish    transfer 4 at stage 2\n");
}

TEST(PrintProgram, WhatWaitsForReaders) {
  const Plan plan = read("tutti-plan 1\ncollective bcast\nranks 2\nroot 1\ncopy out[0] <- in[1]\n");
  EXPECT_EQ(print(lower(plan, 1, Carrier::slot)),
            "program of rank 1 of 2: bcast, root 1, 1 slot blocks in at least 2 positions, 2 "
            "stages, 2 transfers\n"
            "   0  stage 0   wait_reuse rank 0, transfer 2 at stage 1\n"
            "   1  stage 0   copy       slot[1].0 <- in[1].0  (lengths of block 0; elidable)\n"
            "   2  stage 0   publish    transfer 1 at stage 0\n"
            "   3  stage 1   wait_return rank 0, transfer 2 at stage 1\n");
}

TEST(PrintProgram, OverLines) {
  EXPECT_EQ(print(lower(two_ranks, 1, Carrier::line)),
            "program of rank 1 of 2: allreduce example, 1 lines, 3 stages, 4 transfers\n"
            "   0  stage 0   copy       line[1].0 <- in[1].0  (lengths of block 0)\n"
            "   1  stage 0   stamp      line[1].0, transfer 1 at stage 0\n"
            "   2  stage 2   wait_line  line[0].0, transfer 3 at stage 1\n"
            "   3  stage 2   copy       out[1].0 <- line[0].0  (lengths of block 0)\n");
}

TEST(PrintProgram, InTheOrderOfArrival) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nranks 3\ncommutative yes\nreduce any out[0] <- in[0], "
      "in[1], in[2]\n");
  EXPECT_EQ(print(lower(plan, 0, Carrier::slot)),
            "program of rank 0 of 3: reduce, root 0, 1 slot blocks in at least 2 positions, 2 "
            "stages, 3 transfers\n"
            "   0  stage 1   reduce_any out[0].0 <- in[0].0, slot[1].0 (after rank 1, transfer 1 "
            "at stage 0), "
            "slot[2].0 (after rank 2, transfer 2 at stage 0)  (lengths of block 0)\n"
            "   1  stage 1   publish    transfer 3 at stage 1\n");
  EXPECT_EQ(
      print(lower(plan, 0, Carrier::line)),
      "program of rank 0 of 3: reduce, root 0, 1 lines, 2 stages, 3 transfers\n"
      "   0  stage 1   reduce_any out[0].0 <- in[0].0, line[1].0 (after transfer 1 at stage 0), "
      "line[2].0 (after transfer 2 at stage 0)  (lengths of block 0)\n");
}

TEST(PrintProgram, RunsOfBlocks) {
  Program program;
  program.collective = Collective::bcast;
  program.ranks = 3;
  program.root = 2;
  Step step;
  step.extent_first = 1;
  step.extent_count = 3;
  step.operand_count = 2;
  program.steps = {step};
  program.operands = {{Space::slot, 1, 0, 4}, {Space::in, 0, 0, 1}};
  EXPECT_EQ(print(program),
            "program of rank 0 of 3: bcast, root 2, 0 slot blocks in at least 1 positions, 1 "
            "stages, 0 transfers\n"
            "   0  stage 0   copy       slot[1].4+3 <- in[0].1+3  (lengths of block 1..3)\n");
}

}  // namespace
}  // namespace tutti::plan
