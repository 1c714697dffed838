#include "select/select.h"

#include <gtest/gtest.h>

#include "algo/algo.h"

namespace tutti::select {
namespace {

using plan::Collective;
constexpr Collective collectives[] = {Collective::barrier, Collective::bcast, Collective::reduce, Collective::allreduce};

// Every choice is an algorithm that serves the collective, and its range holds the size that was asked for.
TEST(Choose, AlwaysAnswers) {
  for (Collective collective : collectives) {
    for (bool oversubscribed : {false, true}) {
      for (int ranks : {1, 2, 3, 4, 8, 16, 17, 64, 4096}) {
        for (size_t bytes : {size_t{0}, size_t{8}, size_t{48}, size_t{49}, size_t{2048}, size_t{2049}, size_t{1} << 22, SIZE_MAX}) {
          const Choice choice = choose(collective, bytes, ranks, oversubscribed, {});
          EXPECT_LE(choice.bytes_low, bytes);
          EXPECT_GE(choice.bytes_high, bytes);
          EXPECT_NO_THROW(algo::generate(collective, choice.algorithm, 2, 0)) << choice.algorithm;
        }
      }
    }
  }
}

// A cached answer serves its whole range.
TEST(Choose, IsTheSameWithinItsRange) {
  for (Collective collective : collectives) {
    for (int ranks : {2, 4, 64}) {
      for (size_t bytes = 1; bytes < (size_t{1} << 24); bytes *= 2) {
        const Choice choice = choose(collective, bytes, ranks, true, {});
        for (size_t end : {choice.bytes_low, choice.bytes_high}) {
          const Choice other = choose(collective, end, ranks, true, {});
          EXPECT_EQ(other.algorithm, choice.algorithm);
          EXPECT_EQ(other.segment_bytes, choice.segment_bytes);
          EXPECT_EQ(other.bytes_low, choice.bytes_low);
          EXPECT_EQ(other.bytes_high, choice.bytes_high);
        }
      }
    }
  }
}

TEST(Choose, TheUsersWordBeatsTheTable) {
  Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "binomial";
  overrides.segment_bytes = 4096;
  const Choice choice = choose(Collective::allreduce, 8, 2, false, overrides);
  EXPECT_EQ(choice.algorithm, "binomial");
  EXPECT_EQ(choice.segment_bytes, 4096u);
  EXPECT_EQ(choose(Collective::barrier, 0, 2, false, overrides).algorithm, choose(Collective::barrier, 0, 2, false, {}).algorithm);
}

}  // namespace
}  // namespace tutti::select
