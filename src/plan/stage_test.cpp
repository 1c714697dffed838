// Tests staging and lowering of plans that were not checked, or that are as large as a text can
// make them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string>
#include <utility>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/sanitized.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

// The processor time of this process so far.
std::chrono::duration<double> used() {
  return std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}
// Much longer than needed, and much shorter than work that grows with the square of the plan takes.
constexpr auto patience = std::chrono::seconds(10);

std::vector<int32_t> numbers(std::span<const int32_t> list) { return {list.begin(), list.end()}; }

TEST(Stage, AValueIsCopiedOnceUntilItIsOverwritten) {
  const Plan staged =
      stage(read("tutti-plan 1\ncollective allreduce\nranks 3\nblocks 3\n"
                 "reduce out[0].0+3 <- in[0].0+3, in[1].0+3, in[2].0+3\n"
                 "copy out[1].0+3 <- out[0].0+3\n"  // makes the copy
                 "copy out[2].0+3 <- out[0].0+3\n"  // finds it
                 "copy out[0].2 <- out[1].2\n"      // overwrites one block of it
                 "copy tmp[1].0+3 <- out[0].0+3\n"  // makes a new copy
                 "copy tmp[1].0+2 <- out[0].0+2\n"  // makes a copy of blocks 0 and 1
                 "copy out[0].2 <- out[1].2\n"      // overwrites neither of them
                 "copy tmp[2].0+2 <- out[0].0+2\n"  // finds the copy of blocks 0 and 1
                 "copy tmp[2].0+3 <- out[0].0+3\n"));
  int of_three = 0, of_two = 0;
  for (const Transfer& transfer : staged.transfers) {
    const Region& src = transfer.src.front();
    if (transfer.dst.rank != 0 || src.rank != 0 || src.buffer != Buffer::out) continue;
    of_three += src.count == 3 ? 1 : 0;
    of_two += src.count == 2 ? 1 : 0;
  }
  EXPECT_EQ(of_three, 3);
  EXPECT_EQ(of_two, 1);
}

// Transfers after a token have its stage or a later one, and a token has a later stage than the
// transfers that it waits for.
TEST(Stage, ATokenHoldsBackWhatFollowsIt) {
  const Plan staged =
      stage(read("tutti-plan 1\ncollective bcast\nranks 4\n"
                 "copy out[1] <- in[0]\n"  // stage 1, behind the root's copy into its slot
                 "token 2 <- 1\n"
                 "copy out[2] <- in[0]\n"
                 "copy out[3] <- in[0]\n"));
  std::vector<std::pair<int32_t, int32_t>> found;  // executor and stage
  for (const Transfer& transfer : staged.transfers)
    found.emplace_back(transfer.executor(), transfer.stage);
  const std::vector<std::pair<int32_t, int32_t>> wanted = {{0, 0}, {1, 1}, {3, 1}, {2, 2}, {2, 2}};
  EXPECT_EQ(found, wanted);
}

// If two messages come at one stage, the data of the first is sent on before the second has come.
TEST(Stage, WhatIsSentGoesRightBehindWhatMadeIt) {
  const Plan staged = stage(read("tutti-plan 1\ncollective allreduce\nranks 3\n"
                                 "copy tmp[1].0 <- in[0]\n"
                                 "reduce tmp[1].1 <- tmp[1].0, in[1]\n"
                                 "copy tmp[1].2 <- in[2]\n"
                                 "copy out[0] <- tmp[1].1\n"),
                            placement::Nodes({0, 1, 2}));
  std::vector<TransferKind> found;  // rank 1's kinds of transfers, from its first message on
  for (const Transfer& transfer : staged.transfers) {
    if (transfer.executor() == 1 && transfer.kind != TransferKind::post)
      found.push_back(transfer.kind);
  }
  using K = TransferKind;
  EXPECT_EQ(found, (std::vector<K>{K::receive, K::reduce, K::send, K::receive, K::sent}));
}

// A rank whose message loads the link hands a token on when the message has ended.
TEST(Stage, AMessageEndsBeforeItsSendersToken) {
  const Plan staged = stage(read("tutti-plan 1\ncollective gather\nranks 3\n"
                                 "push out[0].1 <- in[1]\ntoken 2 <- 1\npush out[0].2 <- in[2]\n"
                                 "copy out[0] <- in[0]\n"),
                            placement::Nodes({0, 1, 2}));
  std::vector<TransferKind> found;
  for (const Transfer& transfer : staged.transfers)
    if (transfer.executor() == 1) found.push_back(transfer.kind);
  using K = TransferKind;
  EXPECT_EQ(found, (std::vector<K>{K::send, K::sent, K::send, K::sent})) << "data, then the token";
}

// A token waits for the peer's last transfer before it or, if there is none, for the last one of
// the segment before. The dependences are the same for both carriers.
TEST(Depend, ATokenWaitsForWhatStandsBefore) {
  const Plan staged = stage(
      read("tutti-plan 1\ncollective bcast\nranks 3\n"
           "token @0 1 <- 2\ncopy @0 out[1] <- in[0]\ntoken @0 2 <- 1\ncopy @0 out[2] <- in[0]\n"));
  for (const Carrier carrier : {Carrier::slot, Carrier::line}) {
    const Dependences found = depend(staged, carrier);
    ASSERT_EQ(found.waits.size(), 5u);  // the second is the root's copy into its slot
    EXPECT_TRUE(found.waits[0].empty());
    EXPECT_EQ(numbers(found.segment_before[0]), std::vector<int32_t>{4});
    EXPECT_EQ(numbers(found.waits[3]), std::vector<int32_t>{2});
    EXPECT_TRUE(found.segment_before[3].empty());
    const Program first = lower(staged, found, 1, carrier);
    const auto count = [&](StepKind kind) {
      return std::count_if(first.steps.begin(), first.steps.end(),
                           [&](const Step& step) { return step.kind == kind; });
    };
    EXPECT_EQ(count(StepKind::wait_before), carrier == Carrier::slot ? 1 : 0);
    EXPECT_EQ(count(carrier == Carrier::slot ? StepKind::publish : StepKind::stamp), 1);
  }
}

// There are many copies, each of another block, and each of them becomes stale.
TEST(Stage, OverwritingManyCopiedBlocksIsNotQuadratic) {
  constexpr int32_t blocks = looks_at_memory ? 50000 : 200000;
  Plan plan;
  plan.collective = Collective::bcast;
  plan.ranks = 3;
  plan.blocks = blocks;
  plan.copy(out(1, 0, blocks), in(0, 0, blocks));
  for (int32_t block = 0; block < blocks; ++block) plan.copy(out(2, block), out(1, block));
  for (int32_t block = 0; block < blocks; ++block) plan.copy(out(1, block), in(0, block));
  const auto begin = used();
  EXPECT_GT(stage(plan).transfers.size(), size_t{3} * blocks);
  EXPECT_LT(used() - begin, patience);
}

// A reduce waits for as many readers of its destination as it has sources that arrive.
TEST(Depend, ManyArrivalsBesideManyWaitsAreNotQuadratic) {
  constexpr int32_t ranks = looks_at_memory ? 75000 : 300000;
  Plan plan;
  plan.collective = Collective::reduce;
  plan.ranks = ranks;
  plan.commutative = true;
  plan.copy(tmp(0), in(0));
  std::vector<Region> sources;
  for (int32_t rank = 1; rank < ranks; ++rank) {
    plan.copy(tmp(rank, 1), in(rank));
    plan.copy(tmp(rank, 0), tmp(0));
    sources.push_back(tmp(rank, 1));
  }
  plan.reduce_any(tmp(0), sources);
  const Plan staged = stage(plan);
  const auto begin = used();
  const Dependences dependences = depend(staged, Carrier::slot);
  EXPECT_LT(used() - begin, patience);
  EXPECT_EQ(dependences.waits[staged.transfers.size() - 1].size(), sources.size());
  EXPECT_EQ(dependences.arrivals[staged.transfers.size() - 1].size(), sources.size());
}

TEST(Lower, ALineThatNobodyWritesIsRefused) {
  const Plan unchecked = read(
      "tutti-plan 1\ncollective allreduce\nranks 2\n"
      "copy out[1] <- in[1]\nreduce out[0] <- in[0], tmp[1]\n");
  for (int32_t rank : {0, 1}) {
    try {
      lower(unchecked, rank, Carrier::line);
      EXPECT_NE(rank, 0);
    } catch (const Error& error) {
      EXPECT_EQ(rank, 0);
      EXPECT_EQ(error.code(), Code::invalid_plan);
      EXPECT_STREQ(
          error.what(),
          "line 5: it reads tmp[1], which nobody wrote; check a plan before it is lowered");
    }
  }
}

}  // namespace
}  // namespace tutti::plan
