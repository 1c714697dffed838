#include "plan/check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "algo/algo.h"
#include "base/error.h"
#include "plan/lower.h"
#include "plan/simulate.h"
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
       "block 0 of out[0] holds ranks {0,1}; the reduce needs 0..2; last written at line 4 by 'reduce out[0] <- in[0], in[1]', "
       "without {2}"},
      {"the first leaf is missing",
       "\ncollective allreduce\nranks 3\nreduce out[0] <- in[1], in[2]\n",
       "block 0 of out[0] holds ranks {1,2}; the allreduce needs 0..2; last written at line 4"},
      {"a result is overwritten",
       "\ncollective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[0] <- in[1]\n",
       "block 0 of out[0] holds ranks {1}; the reduce needs 0..1; last written at line 5 by 'copy out[0] <- in[1]'"},
      {"another block in `out`",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[1].0 <- in[0].1\ncopy out[1].1 <- in[0].1\n",
       "line 5: copy out[1] <- in[0].1: it writes block 1 of the vector where block 0 of `out` belongs; use `tmp` for"},
      {"another block in `out` for a while",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[1].0 <- in[0].1\ncopy out[1].0+2 <- in[0].0+2\n",
       "line 5: copy out[1] <- in[0].1: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"another block at the root of a bcast",
       "\ncollective bcast\nranks 2\nblocks 2\ncopy out[0].0 <- in[0].1\ncopy out[1].0+2 <- in[0].0+2\n",
       "line 5: copy out[0] <- in[0].1: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"another block by way of `tmp`",
       "\ncollective bcast\nranks 3\nblocks 2\ncopy tmp[1].0 <- in[0].1\ncopy tmp[2].7 <- tmp[1].0\ncopy out[2].0 <- tmp[2].7\n",
       "line 7: copy out[2] <- tmp[2].7: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"another block by a push",
       "\ncollective bcast\nranks 2\nblocks 3\npush out[1].0+2 <- in[0].1+2\n",
       "line 5: push out[1].0+2 <- in[0].1+2: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"another block by strides",
       "\ncollective bcast\nranks 2\nblocks 4\ncopy out[1].0+2/2 <- in[0].0+2\n",
       "line 5: copy out[1].0+2/2 <- in[0].0+2: it writes block 1 of the vector where block 2 of `out` belongs"},
      {"another block of a result",
       "\ncollective allreduce\nranks 2\nblocks 2\nreduce out[0].0 <- in[0].1, in[1].1\n",
       "line 5: reduce out[0] <- in[0].1, in[1].1: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"shifted blocks of one transfer",
       "\ncollective allreduce\nranks 2\nblocks 3\ncopy out[0].0+2 <- in[0].1+2\n",
       "line 5: copy out[0].0+2 <- in[0].1+2: it writes block 1 of the vector where block 0 of `out` belongs"},
      {"an out is never written",
       "\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\n",
       "block 0 of out[1] holds nothing; the allreduce needs 0..1; no transfer writes it"},
      {"nothing at all",
       "\ncollective barrier\nranks 2\n",
       "block 0 of out[0] holds nothing; the barrier needs 0..1; no transfer writes it"},
      {"an exit that does not hang on every arrival",
       "\ncollective barrier\nranks 3\nreduce out[0] <- in[0], in[1], in[2]\ncopy out[1] <- out[0]\nreduce out[2] <- in[2], in[1]\n",
       "block 0 of out[2] holds ranks {1,2}; the barrier needs 0..2; last written at line 6"},
  };
  for (const Broken& broken : table) {
    const std::string message = refusal(broken.lines);
    EXPECT_TRUE(message.starts_with(broken.message)) << broken.what << "\n" << message << "\n" << broken.message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << broken.what;
  }
}

TEST(Check, ReductionsInAnyOrderAreTheirOwnExpression) {
  const std::string start = "collective allreduce\nranks 2\ncommutative yes\n";
  const Verdict copied = verdict(start + "reduce any out[0] <- in[0], in[1]\ncopy out[1] <- out[0]\n");
  EXPECT_TRUE(copied.uniform && copied.in_place && copied.arrival);
  EXPECT_FALSE(copied.rank_order);
  const Verdict twice = verdict(start + "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n");
  EXPECT_FALSE(twice.uniform);
  EXPECT_FALSE(verdict(start + "reduce any out[0] <- in[0], in[1]\nreduce out[1] <- in[0], in[1]\n").uniform);
  const Verdict in_order = check(in_fixed_order(read(
      "tutti-plan 1\n" + start + "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n")));
  EXPECT_TRUE(in_order.uniform && in_order.rank_order);
  EXPECT_FALSE(in_order.arrival);
}

TEST(Check, TilesInAnyOrderAreUniform) {
  // Each rank alone computes its tile.
  EXPECT_TRUE(verdict("collective allreduce\nranks 2\nblocks 2\ncommutative yes\n"
                      "reduce any out[0].0 <- in[0].0, in[1].0\nreduce any out[1].1 <- in[0].1, in[1].1\n"
                      "copy out[1].0 <- out[0].0\ncopy out[0].1 <- out[1].1\n").uniform);
}

TEST(Check, WhatAPartialResultInAnyOrderMakesIsNotInRankOrder) {
  const Verdict found = verdict(
      "collective reduce\nranks 3\ncommutative yes\n"
      "reduce any tmp[0] <- in[0], in[1]\nreduce out[0] <- tmp[0], in[2]\n");
  EXPECT_FALSE(found.rank_order);
  EXPECT_TRUE(found.uniform && found.arrival);
}

TEST(Check, ABarrierKnowsNoOrder) {
  const Verdict found = verdict("collective barrier\nranks 2\ncommutative yes\n"
                                "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n");
  EXPECT_TRUE(found.uniform && found.rank_order);
  EXPECT_FALSE(found.arrival);
}

TEST(Check, MessagesNameTheFile) {
  Plan plan = read("tutti-plan 1\ncollective allreduce\nranks 8\nblocks 4\n"
                   "reduce out[5].3 <- in[0].3, in[1].3, in[2].3, in[3].3\n");
  plan.transfers.clear();
  plan.commutative = true;
  for (int32_t rank = 0; rank < 8; ++rank) {
    plan.reduce(out(rank, 0, 4), {in(0, 0, 4), in(1, 0, 4), in(2, 0, 4), in(3, 0, 4), in(4, 0, 4), in(5, 0, 4),
                                  in(6, 0, 4), in(7, 0, 4)});
  }
  plan.reduce(out(5, 3), {in(0, 3), in(1, 3), in(2, 3), in(4, 3)});
  plan.files = {"library.py", "my_plan.py"};
  plan.transfers.back().file = 1;
  plan.transfers.back().line = 14;
  try {
    check(plan);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "block 3 of out[5] holds ranks {0,1,2,4}; the allreduce needs 0..7; last written at my_plan.py:14 by "
                 "'reduce out[5].3 <- in[0].3, in[1].3, in[2].3, in[4].3', without {3,5,6,7}");
  }
}

TEST(Check, LargeSetsOfRanksAreCut) {
  std::string text = "\ncollective reduce\nranks 4096\ncommutative yes\nreduce out[0] <- in[0]";
  for (int rank = 2; rank < 4096; rank += rank < 100 ? 3 : 1) text += ", in[" + std::to_string(rank) + "]";
  const std::string message = refusal(text + "\n");
  EXPECT_NE(message.find("holds ranks {0,2,5,8,11,14,17,20,...}; the reduce needs 0..4095"), std::string::npos) << message;
  EXPECT_NE(message.find(", without {1,3,4,6,7,9,10,12,...}"), std::string::npos) << message;
  EXPECT_LT(message.size(), 300u);
}

TEST(Check, LongRunsOfRanksAreRanges) {
  EXPECT_NE(refusal("\ncollective reduce\nranks 9\nreduce out[0] <- in[3], in[4], in[5], in[6]\n")
                .find("holds ranks {3..6}; the reduce needs 0..8; last written at line 4 by 'reduce out[0] <- in[3], in[4], "
                      "in[5], in[6]', without {0,1,2,7,8}"),
            std::string::npos);
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
  EXPECT_EQ(examples, 5);
}

// A block of the vector has its own length wherever it is; `tmp` holds any block at any place.
TEST(Check, AnyBlockMayLieAnywhereInTmp) {
  const Plan plan = read(
      "tutti-plan 1\ncollective bcast\nranks 3\nblocks 3\n"
      "copy tmp[1].0+2 <- in[0].1+2\ncopy tmp[1].2 <- in[0].0\n"
      "copy tmp[2].4+2/2 <- tmp[1].0+2\ncopy tmp[2].0 <- tmp[1].2\n"
      "copy out[1].1+2 <- tmp[1].0+2\ncopy out[1].0 <- tmp[1].2\n"
      "copy out[2].1+2 <- tmp[2].4+2/2\ncopy out[2].0 <- tmp[2].0\n");
  EXPECT_NO_THROW(check(plan));
  const Plan staged = stage(plan);
  const Dependences dependences = depend(staged, Carrier::slot);
  std::vector<Program> programs;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) programs.push_back(lower(staged, dependences, rank, Carrier::slot));
  // The simulation holds every movement to the length of the block that is moved.
  EXPECT_NO_THROW(simulate(plan, programs, {3, 0, 2, 4, 1}));
}

// A text of few lines: what it would take to execute is refused before any of it is taken.
TEST(Check, RefusesMoreBlocksThanCanBeChecked) {
  std::string text = "\ncollective bcast\nranks 2\nblocks 1048576\n";
  for (int i = 0; i < 9; ++i) text += "copy out[1].0+1048576 <- in[0].0+1048576\n";
  EXPECT_TRUE(refusal(text).starts_with("the plan moves 18874368 blocks, more than the 17825792 that ")) << refusal(text);
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

// Few lines that name blocks far apart: tables by block must not be as large as the numbers.
TEST(Check, LargeNumbersTakeLittleMemory) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nranks 1048576\nroot 7\nblocks 1048576\n"
      "copy tmp[1048575].1048575 <- in[1048575].1048575\ncopy tmp[0] <- tmp[1048575].1048575\n");
  EXPECT_THROW(check(plan), Error);
  EXPECT_EQ(depend(stage(plan), Carrier::slot).waits[1].size(), 1u);
  const Plan bcast = read("tutti-plan 1\ncollective bcast\nranks 1048576\nroot 1048575\ncopy out[3] <- in[1048575]\n");
  EXPECT_THROW(check(bcast), Error);
}

TEST(Check, WhatIsCheckedIsFewEnoughToBeLowered) {
  std::string text = "tutti-plan 1\ncollective bcast\nranks 2\nblocks 1048576\n";
  for (int i = 0; i < 8; ++i) text += "copy out[1].0+1048576 <- in[0].0+1048576\n";
  EXPECT_NO_THROW(check(read(text)));
  EXPECT_NO_THROW(stage(read(text)));
  text += "copy out[1].0+1048576 <- in[0].0+1048576\n";
  EXPECT_THROW(check(read(text)), Error);
  EXPECT_THROW(stage(read(text)), Error);
}

// The built-in plan that moves most.
TEST(Check, AllMayReadAllOf4096Ranks) {
  const Plan plan = algo::generate(Collective::allreduce, "all_read_all", 4096, 0);
  EXPECT_TRUE(check(plan).rank_order);
}

// What a user waits for when a plan is compiled and loaded: all that is done to the whole plan. The goals are 1 s for
// trees of 4096 ranks and 50 ms for tiles of 64; times hang on the machine, so they are printed and not held.
TEST(Speed, OfCheckingAndLowering) {
  struct Case {
    const char* algorithm;
    int ranks;
    double goal;  // ms
  };
  for (const Case& what : {Case{"binomial", 4096, 1000}, Case{"nary:8", 4096, 1000}, Case{"tiled", 64, 50}}) {
    const Plan plan = algo::generate(Collective::allreduce, what.algorithm, what.ranks, 0);
    const auto begin = std::chrono::steady_clock::now();
    validate(plan);
    const Verdict found = check(plan);
    const Plan staged = stage(plan);
    const Dependences dependences = depend(staged, Carrier::slot);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(found.uniform);
    EXPECT_EQ(dependences.waits.size(), staged.transfers.size());
    std::printf("%s allreduce of %d ranks: %.1f ms (goal %.0f)\n", what.algorithm, what.ranks, took.count(), what.goal);
  }
}

}  // namespace
}  // namespace tutti::plan
