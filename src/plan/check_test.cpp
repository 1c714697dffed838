// Tests the verdict of the check about right plans.
#include "plan/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "plan/lower.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

Verdict verdict(const std::string& lines) { return check(read("tutti-plan 1\n" + lines)); }

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
      "reduce out[0] <- tmp[0], in[2]\nreduce out[1] <- in[0], tmp[1]\nreduce out[2] <- in[0], "
      "in[1], in[2]\n");
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
      "reduce out[0].0+2/2 <- in[0].0+2/2, in[1].0+2/2\nreduce tmp[1].0+2 <- in[0].1+2/2, "
      "in[1].1+2/2\n"
      "copy out[1].0+2/2 <- out[0].0+2/2\ncopy out[0].1+2/2 <- tmp[1].0+2\ncopy out[1].1+2/2 <- "
      "tmp[1].0+2\n");
  EXPECT_TRUE(found.rank_order && found.uniform && found.in_place);
}

TEST(Check, CommutativePlansMayLoseTheOrder) {
  const std::string ring =
      "collective reduce\nranks 3\nroot 1\ncommutative yes\n"
      "reduce tmp[0] <- in[2], in[0]\nreduce out[1] <- tmp[0], in[1]\n";
  EXPECT_FALSE(verdict(ring).rank_order);
  EXPECT_TRUE(
      verdict("collective reduce\nranks 2\ncommutative yes\nreduce out[0] <- in[0], in[1]\n")
          .rank_order);
}

TEST(Check, BarriersMayHearOfAnArrivalTwice) {
  const Verdict dissemination = verdict(
      "collective barrier\nranks 3\n"
      "reduce tmp[0] <- in[0], in[2]\nreduce tmp[1] <- in[1], in[0]\nreduce tmp[2] <- in[2], "
      "in[1]\n"
      "reduce out[0] <- tmp[0], tmp[1]\nreduce out[1] <- tmp[1], tmp[2]\nreduce out[2] <- tmp[2], "
      "tmp[0]\n");
  EXPECT_TRUE(dissemination.uniform && dissemination.rank_order && dissemination.in_place);
}

TEST(Check, TheRootOfABcastHasItsData) {
  EXPECT_TRUE(verdict("collective bcast\nranks 2\nroot 1\ncopy out[0] <- in[1]\n").in_place);
  EXPECT_TRUE(verdict("collective bcast\nranks 2\nroot 1\ncopy out[0] <- out[1]\n").in_place);
  EXPECT_TRUE(
      verdict("collective bcast\nranks 2\nroot 1\ncopy out[1] <- in[1]\ncopy out[0] <- out[1]\n")
          .in_place);
}

TEST(Check, InPlaceIsFoundOut) {
  const std::string start = "collective allreduce\nranks 2\nblocks 2\n";
  // Rank 0's `in` is read after its `out` holds something else.
  EXPECT_FALSE(
      verdict(
          start +
          "reduce out[0].0+2 <- in[0].0+2, in[1].0+2\nreduce out[1].0+2 <- in[0].0+2, in[1].0+2\n")
          .in_place);
  // Writing another block of `out`, or the same data again, does no harm.
  EXPECT_TRUE(verdict(start +
                      "reduce out[0].0 <- in[0].0, in[1].0\nreduce out[0].1 <- in[0].1, in[1].1\n"
                      "copy out[1].0+2 <- out[0].0+2\n")
                  .in_place);
  EXPECT_TRUE(verdict(start +
                      "copy out[0].0+2 <- in[0].0+2\nreduce tmp[0].0+2 <- in[0].0+2, in[1].0+2\n"
                      "copy out[0].0+2 <- tmp[0].0+2\ncopy out[1].0+2 <- tmp[0].0+2\n")
                  .in_place);
  EXPECT_FALSE(verdict(start +
                       "copy out[0].0+2 <- in[1].0+2\nreduce tmp[0].0+2 <- in[0].0+2, out[0].0+2\n"
                       "copy out[0].0+2 <- tmp[0].0+2\ncopy out[1].0+2 <- tmp[0].0+2\n")
                   .in_place);
  // Only the root of a reduce has an `out`.
  EXPECT_TRUE(
      verdict("collective reduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy tmp[1] <- in[1]\n")
          .in_place);
}

TEST(Check, ReductionsInAnyOrderAreTheirOwnExpression) {
  const std::string start = "collective allreduce\nranks 2\ncommutative yes\n";
  const Verdict copied =
      verdict(start + "reduce any out[0] <- in[0], in[1]\ncopy out[1] <- out[0]\n");
  EXPECT_TRUE(copied.uniform && copied.in_place && copied.arrival);
  EXPECT_FALSE(copied.rank_order);
  const Verdict twice =
      verdict(start + "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n");
  EXPECT_FALSE(twice.uniform);
  EXPECT_FALSE(verdict(start + "reduce any out[0] <- in[0], in[1]\nreduce out[1] <- in[0], in[1]\n")
                   .uniform);
  const Verdict in_order = check(in_fixed_order(
      read("tutti-plan 1\n" + start +
           "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n")));
  EXPECT_TRUE(in_order.uniform && in_order.rank_order);
  EXPECT_FALSE(in_order.arrival);
}

TEST(Check, TilesInAnyOrderAreUniform) {
  // Each rank alone computes its tile.
  EXPECT_TRUE(
      verdict("collective allreduce\nranks 2\nblocks 2\ncommutative yes\n"
              "reduce any out[0].0 <- in[0].0, in[1].0\nreduce any out[1].1 <- in[0].1, in[1].1\n"
              "copy out[1].0 <- out[0].0\ncopy out[0].1 <- out[1].1\n")
          .uniform);
}

TEST(Check, WhatAPartialResultInAnyOrderMakesIsNotInRankOrder) {
  const Verdict found = verdict(
      "collective reduce\nranks 3\ncommutative yes\n"
      "reduce any tmp[0] <- in[0], in[1]\nreduce out[0] <- tmp[0], in[2]\n");
  EXPECT_FALSE(found.rank_order);
  EXPECT_TRUE(found.uniform && found.arrival);
}

TEST(Check, ABarrierKnowsNoOrder) {
  const Verdict found = verdict(
      "collective barrier\nranks 2\ncommutative yes\n"
      "reduce any out[0] <- in[0], in[1]\nreduce any out[1] <- in[0], in[1]\n");
  EXPECT_TRUE(found.uniform && found.rank_order);
  EXPECT_FALSE(found.arrival);
}

TEST(Check, TheExamplesOfTheReferencePageAreRight) {
  const auto page = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() /
                    "docs/plan-format.md";
  std::ifstream file(page);
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
  int examples = 0;
  for (size_t at = text.find("```\ntutti-plan"); at != std::string::npos;
       at = text.find("```\ntutti-plan", at + 1)) {
    const size_t start = at + 4;
    EXPECT_NO_THROW(check(read(text.substr(start, text.find("```", start) - start), "example")))
        << text.substr(start, 80);
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
  for (int32_t rank = 0; rank < plan.ranks; ++rank)
    programs.push_back(lower(staged, dependences, rank, Carrier::slot));
  // The simulation checks that every step moves the length of the block.
  EXPECT_NO_THROW(simulate(plan, programs, {3, 0, 2, 4, 1}));
}

}  // namespace
}  // namespace tutti::plan
