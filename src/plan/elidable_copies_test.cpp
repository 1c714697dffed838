// Tests which copies into slots readers may bypass, and for which reads an owner waits before it
// returns.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/lower.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

struct Found {
  Plan staged;
  ElidableCopies elidable;
  size_t count() const {
    return static_cast<size_t>(std::count(elidable.copies.begin(), elidable.copies.end(), true));
  }
};

Found find(const std::string& text) {
  const Plan staged = stage(read("tutti-plan 1\n" + text));
  return {staged, depend(staged, Carrier::slot).elidable};
}

TEST(ElidableCopies, EveryReadOfAnothersBuffer) {
  const Found found =
      find("collective bcast\nranks 3\nroot 1\ncopy out[0] <- in[1]\ncopy out[2] <- in[1]\n");
  EXPECT_TRUE(found.elidable.any);
  EXPECT_EQ(found.count(), 1u);  // one copy serves both
  EXPECT_EQ(found.elidable.returns[1].size(), 2u);
  EXPECT_TRUE(found.elidable.returns[0].empty());
}

TEST(ElidableCopies, WhoKnowsOfItsReadersNeedNotWaitForThem) {
  const Found found =
      find("collective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[1] <- out[0]\n");
  EXPECT_EQ(found.count(), 2u);
  EXPECT_TRUE(found.elidable.returns[1].empty());  // it waits for a transfer after the read
  EXPECT_EQ(found.elidable.returns[0].size(), 1u);
}

TEST(ElidableCopies, NotWhatIsOverwrittenBeforeItHasBeenRead) {
  const std::string begin =
      "collective allreduce\nranks 2\ncopy out[0] <- in[0]\ncopy tmp[0] <- out[0]\n";
  const std::string end = "reduce out[1] <- tmp[0], in[1]\n";
  // The copy of in[1].
  EXPECT_EQ(find(begin + "reduce out[0] <- in[0], in[1]\n" + end).count(), 1u);
  EXPECT_EQ(find(begin + end + "copy out[0] <- out[1]\n").count(), 2u);
}

TEST(ElidableCopies, NotWhatItsOwnInputIsCopiedOverAgain) {
  // In place, the second copy to out[0] moves nothing. With two buffers it writes a block that rank
  // 1 reads.
  const std::string begin =
      "collective allgather\nranks 2\ncopy out[0].0 <- in[0]\ncopy out[0].1 <- in[1]\n";
  const std::string read = "copy out[1].0+2 <- out[0].0+2\n";
  EXPECT_EQ(find(begin + read).count(), 2u);
  EXPECT_EQ(find(begin + read + "copy out[0].0 <- in[0]\n").count(), 1u);
}

TEST(ElidableCopies, InPlaceWhereReadersComeFirst) {
  const Found ordered =
      find("collective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[1] <- out[0]\n");
  EXPECT_TRUE(ordered.elidable.in_place[1]);
  const Found exchanged = find(
      "collective allreduce\nranks 2\ncopy tmp[0] <- in[0]\ncopy tmp[1] <- in[1]\n"
      "reduce out[0] <- in[0], tmp[1]\nreduce out[1] <- tmp[0], in[1]\n");
  EXPECT_FALSE(exchanged.elidable.in_place[0]);
  EXPECT_EQ(exchanged.count(), 2u);
}

TEST(ElidableCopies, NotWhatIsTakenAsItArrives) {
  const Found found =
      find("collective reduce\nranks 2\ncommutative yes\nreduce any out[0] <- in[0], in[1]\n");
  EXPECT_FALSE(found.elidable.any);
}

TEST(ElidableCopies, NotWhatIsReadTogetherWithAnotherRanksBlocks) {
  const Found found = find(
      "collective bcast\nranks 2\nblocks 2\npush tmp[1].0 <- in[0].0\ncopy tmp[0].1 <- in[0].1\n"
      "push tmp[1].1 <- tmp[0].1\ncopy out[1].0+2 <- tmp[1].0+2\n");
  EXPECT_EQ(found.count(), 1u);  // tmp[0].1, which the push reads alone
}

TEST(ElidableCopies, NotRunsThatAreNoRunsWhereTheyCameFrom) {
  const Found found = find(
      "collective bcast\nranks 2\nblocks 4\ncopy tmp[0].0+2 <- in[0].0+2/2\ncopy tmp[0].2+2 <- "
      "in[0].1+2/2\n"
      "copy out[1].0+2/2 <- tmp[0].0+2\ncopy out[1].1+2/2 <- tmp[0].2+2\n");
  EXPECT_EQ(found.count(), 0u);
}

TEST(ElidableCopies, NoneInABarrierAndOverLines) {
  EXPECT_FALSE(find("collective barrier\nranks 2\ncopy out[0] <- in[1]\ncopy out[1] <- in[0]\n")
                   .elidable.any);
  const Plan staged =
      stage(read("tutti-plan 1\ncollective bcast\nranks 2\ncopy out[1] <- in[0]\n"));
  EXPECT_FALSE(depend(staged, Carrier::line).elidable.any);
}

}  // namespace
}  // namespace tutti::plan
