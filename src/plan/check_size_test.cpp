// Tests the time and memory for checking plans of many ranks, blocks and transfers.
#include "plan/check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "algo/algo.h"
#include "base/error.h"
#include "plan/lower.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// Few lines that name blocks far apart: tables by block must not be as large as the numbers.
TEST(Check, LargeNumbersTakeLittleMemory) {
  const Plan plan = read(
      "tutti-plan 1\ncollective reduce\nranks 1048576\nroot 7\nblocks 1048576\n"
      "copy tmp[1048575].1048575 <- in[1048575].1048575\ncopy tmp[0] <- tmp[1048575].1048575\n");
  EXPECT_THROW(check(plan), Error);
  EXPECT_EQ(depend(stage(plan), Carrier::slot).waits[1].size(), 1u);
  const Plan bcast = read(
      "tutti-plan 1\ncollective bcast\nranks 1048576\nroot 1048575\ncopy out[3] <- in[1048575]\n");
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

// The time that a user waits when a plan is compiled and loaded: everything that is done to the
// whole plan. The goals are 1 s for trees of 4096 ranks and 50 ms for tiles of 64. Times depend on
// the machine, so the test prints them and does not compare them with the goals.
TEST(Speed, OfCheckingAndLowering) {
  struct Case {
    const char* algorithm;
    int ranks;
    double goal;  // ms
  };
  for (const Case& what :
       {Case{"binomial", 4096, 1000}, Case{"nary:8", 4096, 1000}, Case{"tiled", 64, 50}}) {
    const Plan plan = algo::generate(Collective::allreduce, what.algorithm, what.ranks, 0);
    const auto begin = std::chrono::steady_clock::now();
    validate(plan);
    const Verdict found = check(plan);
    const Plan staged = stage(plan);
    const Dependences dependences = depend(staged, Carrier::slot);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(found.uniform);
    EXPECT_EQ(dependences.waits.size(), staged.transfers.size());
    std::printf("%s allreduce of %d ranks: %.1f ms (goal %.0f)\n", what.algorithm, what.ranks,
                took.count(), what.goal);
  }
}

}  // namespace
}  // namespace tutti::plan
