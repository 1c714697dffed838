// Tests checks of plans of many ranks, blocks and transfers.
#include "plan/check.h"

#include <gtest/gtest.h>

#include <utility>

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

// Everything that is done to the whole plan when it is compiled and loaded.
TEST(Check, LargePlansAreCheckedAndStaged) {
  for (const auto& [algorithm, ranks] :
       {std::pair{"binomial", 4096}, std::pair{"nary:8", 4096}, std::pair{"tiled", 64}}) {
    SCOPED_TRACE(algorithm);
    const Plan plan = algo::generate(Collective::allreduce, algorithm, ranks, 0);
    validate(plan);
    EXPECT_TRUE(check(plan).uniform);
    const Plan staged = stage(plan);
    EXPECT_EQ(depend(staged, Carrier::slot).waits.size(), staged.transfers.size());
  }
}

}  // namespace
}  // namespace tutti::plan
