#include "plan/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

Verdict verdict(const std::string& lines) { return check(read("tutti-plan 1\n" + lines)); }

// The message of the refusal; lines count from 1 behind "tutti-plan 1", as in the texts below.
std::string refusal(const std::string& lines) {
  const Plan plan = read("tutti-plan 1" + lines);
  try {
    check(plan);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

TEST(Check, FlatAllreduce) {
  const Verdict found = verdict(
      "collective allreduce\nranks 3\n"
      "reduce out[0] <- in[0], in[1], in[2]\ncopy out[1] <- out[0]\npush out[2] <- out[0]\n");
  EXPECT_TRUE(found.rank_order);
  EXPECT_TRUE(found.uniform);
  EXPECT_TRUE(found.in_place);
}

TEST(Check, OneRank) {
  EXPECT_TRUE(verdict("collective allreduce\nranks 1\ncopy out[0] <- in[0]\n").in_place);
  EXPECT_TRUE(verdict("collective reduce\nranks 1\ncopy out[0] <- in[0]\n").uniform);
  EXPECT_TRUE(verdict("collective bcast\nranks 1\n").uniform);
  EXPECT_TRUE(verdict("collective barrier\nranks 1\ncopy out[0] <- in[0]\n").uniform);
}

TEST(Check, EveryRankItsOwnExpressionIsNotUniform) {
  const Verdict found = verdict(
      "collective allreduce\nranks 3\n"
      "reduce tmp[0] <- in[0], in[1]\nreduce tmp[1] <- in[1], in[2]\n"
      "reduce out[0] <- tmp[0], in[2]\nreduce out[1] <- in[0], tmp[1]\nreduce out[2] <- in[0], in[1], in[2]\n");
  EXPECT_TRUE(found.rank_order);
  EXPECT_FALSE(found.uniform);
}

TEST(Check, TheSameExpressionMadeTwiceIsUniform) {
  const Verdict found = verdict(
      "collective allreduce\nranks 2\nblocks 2\n"
      "reduce out[0].0+2 <- in[0].0+2, in[1].0+2\n"
      "reduce out[1].0 <- in[0].0, in[1].0\nreduce out[1].1 <- in[0].1, in[1].1\n");
  EXPECT_TRUE(found.uniform);
}

TEST(Check, TiledWithStrides) {
  const Verdict found = verdict(
      "collective allreduce\nranks 2\nblocks 4\n"
      "reduce out[0].0+2/2 <- in[0].0+2/2, in[1].0+2/2\nreduce tmp[1].0+2 <- in[0].1+2/2, in[1].1+2/2\n"
      "copy out[1].0+2/2 <- out[0].0+2/2\ncopy out[0].1+2/2 <- tmp[1].0+2\ncopy out[1].1+2/2 <- tmp[1].0+2\n");
  EXPECT_TRUE(found.rank_order && found.uniform && found.in_place);
}

TEST(Check, CommutativePlansMayLoseTheOrder) {
  const std::string ring =
      "collective reduce\nranks 3\nroot 1\ncommutative yes\n"
      "reduce tmp[0] <- in[2], in[0]\nreduce out[1] <- tmp[0], in[1]\n";
  EXPECT_FALSE(verdict(ring).rank_order);
  EXPECT_TRUE(verdict("collective reduce\nranks 2\ncommutative yes\nreduce out[0] <- in[0], in[1]\n").rank_order);
}

TEST(Check, BarriersMayHearOfAnArrivalTwice) {
  const Verdict dissemination = verdict(
      "collective barrier\nranks 3\n"
      "reduce tmp[0] <- in[0], in[2]\nreduce tmp[1] <- in[1], in[0]\nreduce tmp[2] <- in[2], in[1]\n"
      "reduce out[0] <- tmp[0], tmp[1]\nreduce out[1] <- tmp[1], tmp[2]\nreduce out[2] <- tmp[2], tmp[0]\n");
  EXPECT_TRUE(dissemination.uniform && dissemination.rank_order && dissemination.in_place);
}

TEST(Check, TheRootOfABcastHasItsData) {
  EXPECT_TRUE(verdict("collective bcast\nranks 2\nroot 1\ncopy out[0] <- in[1]\n").in_place);
  EXPECT_TRUE(verdict("collective bcast\nranks 2\nroot 1\ncopy out[0] <- out[1]\n").in_place);
  EXPECT_TRUE(verdict("collective bcast\nranks 2\nroot 1\ncopy out[1] <- in[1]\ncopy out[0] <- out[1]\n").in_place);
}

TEST(Check, InPlaceIsFoundOut) {
  const std::string start = "collective allreduce\nranks 2\nblocks 2\n";
  // Rank 0's `in` is read after its `out` holds something else.
  EXPECT_FALSE(verdict(start + "reduce out[0].0+2 <- in[0].0+2, in[1].0+2\nreduce out[1].0+2 <- in[0].0+2, in[1].0+2\n").in_place);
  // Another block of `out` is no harm, nor is the same data again.
  EXPECT_TRUE(verdict(start +
                      "reduce out[0].0 <- in[0].0, in[1].0\nreduce out[0].1 <- in[0].1, in[1].1\n"
                      "copy out[1].0+2 <- out[0].0+2\n").in_place);
  EXPECT_TRUE(verdict(start +
                      "copy out[0].0+2 <- in[0].0+2\nreduce tmp[0].0+2 <- in[0].0+2, in[1].0+2\n"
                      "copy out[0].0+2 <- tmp[0].0+2\ncopy out[1].0+2 <- tmp[0].0+2\n").in_place);
  EXPECT_FALSE(verdict(start +
                       "copy out[0].0+2 <- in[1].0+2\nreduce tmp[0].0+2 <- in[0].0+2, out[0].0+2\n"
                       "copy out[0].0+2 <- tmp[0].0+2\ncopy out[1].0+2 <- tmp[0].0+2\n").in_place);
  // Only the root of a reduce has an `out`.
  EXPECT_TRUE(verdict("collective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy tmp[1] <- in[1]\n").in_place);
}

TEST(Check, InPlaceSuffersFromShiftedBlocksOfOneTransfer) {
  // Blocks of one transfer move at once: in place, block 1 might be written before it is read.
  const std::string shifted =
      "collective allreduce\nranks 2\nblocks 3\n"
      "copy out[0].0+2 <- in[0].1+2\n"
      "reduce tmp[1].0+3 <- in[0].0+3, in[1].0+3\n"
      "copy out[0].0+3 <- tmp[1].0+3\ncopy out[1].0+3 <- tmp[1].0+3\n";
  EXPECT_FALSE(verdict(shifted).in_place);
}

struct Broken {
  const char* what;
  const char* lines;    // from line 2 of the text
  const char* message;  // the start
};

TEST(Check, RefusesEachKindOfBreakageWithItsLine) {
  const std::vector<Broken> table = {
      {"unwritten tmp",
       "\ncollective reduce\nranks 2\nreduce out[0] <- in[0], tmp[1]\ncopy tmp[1] <- in[1]\n",
       "line 4: reduce out[0] <- in[0], tmp[1]: it reads tmp[1], which nobody wrote"},
      {"unwritten block",
       "\ncollective bcast\nranks 2\nblocks 3\ncopy tmp[0].0+2 <- in[0].0+2\ncopy out[1].0+3 <- tmp[0].0+3\n",
       "line 6: copy out[1].0+3 <- tmp[0].0+3: it reads tmp[0].2, which nobody wrote"},
      {"unwritten out",
       "\ncollective allreduce\nranks 2\ncopy out[1] <- out[0]\n",
       "line 4: copy out[1] <- out[0]: it reads out[0], which nobody wrote"},
      {"in of another rank than the root of a bcast",
       "\ncollective bcast\nranks 2\ncopy out[1] <- in[1]\n",
       "line 4: copy out[1] <- in[1]: in[1] holds nothing: only the root of a bcast has an `in`"},
      {"reduce in a bcast",
       "\ncollective bcast\nranks 2\nreduce out[1] <- in[0], in[0]\n",
       "line 4: reduce out[1] <- in[0], in[0]: a bcast has no operation"},
      {"out of another rank than the root of a reduce",
       "\ncollective reduce\nranks 2\nroot 1\nreduce out[1] <- in[0], in[1]\ncopy out[0] <- out[1]\n",
       "line 6: copy out[0] <- out[1]: only the root, rank 1, has an `out` in a reduce"},
      {"twice in one reduce",
       "\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1], in[1]\n",
       "line 4: reduce out[0] <- in[0], in[1], in[1]: it combines the data of rank 1 twice"},
      {"twice by two ways",
       "\ncollective reduce\nranks 4\ncommutative yes\nreduce tmp[1] <- in[0], in[1], in[2]\nreduce out[0] <- in[3], tmp[1], in[2]\n",
       "line 6: reduce out[0] <- in[3], tmp[1], in[2]: it combines the data of rank 2 twice"},
      {"order lost",
       "\ncollective reduce\nranks 3\nreduce tmp[1] <- in[1], in[0]\nreduce out[0] <- tmp[1], in[2]\n",
       "line 4: reduce tmp[1] <- in[1], in[0]: rank order is lost: rank 0 after rank 1; combine neighbours in rank order, or say"},
      {"order lost by a gap",
       "\ncollective reduce\nranks 4\nreduce tmp[0] <- in[0], in[1]\nreduce tmp[0] <- tmp[0], in[3]\n",
       "line 5: reduce tmp[0] <- tmp[0], in[3]: rank order is lost: rank 3 after ranks 0..1"},
      {"blocks mixed",
       "\ncollective reduce\nranks 2\nblocks 2\ncopy tmp[0] <- in[1].1\nreduce out[0] <- in[0], tmp[0]\n",
       "line 6: reduce out[0] <- in[0], tmp[0]: it combines block 0 with block 1 of the vector"},
      {"a leaf is missing",
       "\ncollective reduce\nranks 3\nreduce out[0] <- in[0], in[1]\n",
       "line 4: reduce out[0] <- in[0], in[1]: at the end out[0] lacks the data of rank 2"},
      {"the first leaf is missing",
       "\ncollective allreduce\nranks 3\nreduce out[0] <- in[1], in[2]\n",
       "line 4: reduce out[0] <- in[1], in[2]: at the end out[0] lacks the data of rank 0"},
      {"a result is overwritten",
       "\ncollective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[0] <- in[1]\n",
       "line 5: copy out[0] <- in[1]: at the end out[0] lacks the data of rank 0"},
      {"another block at the end",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[1].0 <- in[0].1\ncopy out[1].1 <- in[0].1\n",
       "line 5: copy out[1] <- in[0].1: at the end out[1] holds block 1 of the vector; it must hold block 0"},
      {"the root of a bcast is overwritten",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[0].0 <- in[0].1\ncopy out[1].0+2 <- in[0].0+2\n",
       "line 5: copy out[0] <- in[0].1: at the end out[0] holds block 1"},
      {"an out is never written",
       "\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\n",
       "the plan ends without a transfer to out[1]; allreduce needs one"},
      {"nothing at all",
       "\ncollective barrier\nranks 2\n",
       "the plan ends without a transfer to out[0]; barrier needs one"},
      {"an exit that does not hang on every arrival",
       "\ncollective barrier\nranks 3\nreduce out[0] <- in[0], in[1], in[2]\ncopy out[1] <- out[0]\nreduce out[2] <- in[2], in[1]\n",
       "line 6: reduce out[2] <- in[2], in[1]: at the end out[2] lacks the arrival of rank 0"},
  };
  for (const Broken& broken : table) {
    const std::string message = refusal(broken.lines);
    EXPECT_TRUE(message.starts_with(broken.message)) << broken.what << "\n" << message << "\n" << broken.message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << broken.what;
  }
}

TEST(Check, PlansFromCodeAreNamedByTransfer) {
  Plan plan;
  plan.collective = Collective::allreduce;
  plan.ranks = 2;
  plan.copy(out(0), in(0));
  plan.copy(out(1), tmp(0));
  try {
    check(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("transfer 2: ")) << error.what();
  }
}

TEST(Check, TheExamplesOfTheReferencePageAreRight) {
  const auto page = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "docs/plan-format.md";
  std::ifstream file(page);
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
  int examples = 0;
  for (size_t at = text.find("```\ntutti-plan"); at != std::string::npos; at = text.find("```\ntutti-plan", at + 1)) {
    const size_t start = at + 4;
    EXPECT_NO_THROW(check(read(text.substr(start, text.find("```", start) - start), "example"))) << text.substr(start, 80);
    ++examples;
  }
  EXPECT_EQ(examples, 4);
}

TEST(Check, RefusesMoreBlocksThanCanBeChecked) {
  std::string text = "\ncollective bcast\nranks 2\nblocks 1048576\n";
  for (int i = 0; i < 200; ++i) text += "copy out[1].0+1048576 <- in[0].0+1048576\n";
  EXPECT_TRUE(refusal(text).starts_with("the plan moves 419430400 blocks")) << refusal(text);
}

TEST(Check, RefusesPartialResultsInTooManyPieces) {
  std::string every_second;
  constexpr int ranks = 200000;
  for (int rank = 0; rank < ranks; rank += 2) every_second += (rank == 0 ? "in[" : ", in[") + std::to_string(rank) + "]";
  std::string text = "\ncollective reduce\ncommutative yes\nranks " + std::to_string(ranks) + "\nreduce tmp[0] <- " +
                     every_second + "\n";
  for (int i = 0; i < 1000; ++i) text += "reduce tmp[1] <- tmp[0], in[1]\n";
  const std::string message = refusal(text);
  EXPECT_NE(message.find("more than 33554432 pieces; combine neighbours"), std::string::npos) << message;
}

}  // namespace
}  // namespace tutti::plan
