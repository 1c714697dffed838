// Tests the counts of inter-node traffic on plans that are small enough to count by hand.
#include "plan/inter_node_traffic.h"

#include <gtest/gtest.h>

namespace tutti::plan {
namespace {

Plan of(Collective collective, int32_t ranks, int32_t blocks = 1) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = blocks;
  return plan;
}

const std::vector<int32_t> pairs = {0, 0, 1, 1};

TEST(InterNodeTraffic, NothingIsSentWithinANode) {
  Plan plan = of(Collective::bcast, 4);
  plan.copy(out(1), in(0));
  plan.copy(out(2), out(1));
  plan.token(3, 0);
  plan.copy(out(3), out(2));
  EXPECT_EQ(inter_node_traffic(plan, {5, 5, 5, 5}), InterNodeTraffic{});
}

TEST(InterNodeTraffic, ATransferIsOneMessageOfAllItsBlocks) {
  Plan plan = of(Collective::bcast, 4, 6);
  plan.copy(out(2, 0, 6), in(0, 0, 6));
  plan.copy(out(3, 0, 6), out(2, 0, 6));
  EXPECT_EQ(inter_node_traffic(plan, pairs),
            (InterNodeTraffic{.messages = 1, .blocks = 6, .delays = 1, .most_messages = 1}));
}

TEST(InterNodeTraffic, EachRemoteSourceOfAReduceIsAMessage) {
  Plan plan = of(Collective::reduce, 4);
  plan.reduce(out(0), {in(0), in(1), in(2), in(3)});
  EXPECT_EQ(inter_node_traffic(plan, pairs),
            (InterNodeTraffic{.messages = 2, .blocks = 2, .delays = 1, .most_messages = 1}));
  EXPECT_EQ(inter_node_traffic(plan, {0, 1, 2, 3}),
            (InterNodeTraffic{.messages = 3, .blocks = 3, .delays = 1, .most_messages = 1}));
}

TEST(InterNodeTraffic, DelaysAreOfWhatHangsTogether) {
  Plan plan = of(Collective::bcast, 4, 2);
  plan.copy(out(1, 0), in(0, 0));
  plan.copy(out(2, 0), out(1, 0));
  plan.copy(out(3, 1), in(0, 1));  // depends on nothing before it
  const std::vector<int32_t> apart = {0, 1, 2, 3};
  EXPECT_EQ(inter_node_traffic(plan, apart).delays, 2);
  plan.copy(out(3, 0), out(2, 0));
  EXPECT_EQ(inter_node_traffic(plan, apart).delays, 3);
  // A block that came to rank 3 after one delay comes to rank 2 after two, although rank 3 has
  // another block that came later.
  plan.copy(tmp(2), out(3, 1));
  EXPECT_EQ(inter_node_traffic(plan, apart),
            (InterNodeTraffic{.messages = 5, .blocks = 5, .delays = 3, .most_messages = 2}));
}

TEST(InterNodeTraffic, AMessageOfManyBlocksWaitsForTheLast) {
  Plan plan = of(Collective::bcast, 4, 2);
  plan.copy(out(1, 0), in(0, 0));
  plan.copy(tmp(2, 0), out(1, 0));
  plan.copy(tmp(2, 1), in(0, 1));
  plan.copy(out(3, 0, 2), tmp(2, 0, 2));
  EXPECT_EQ(inter_node_traffic(plan, {0, 1, 2, 3}).delays, 3);
}

TEST(InterNodeTraffic, WritingAPlaceAgainIsNoDelay) {
  Plan plan = of(Collective::bcast, 4, 2);
  plan.copy(tmp(1), in(0, 0));
  plan.copy(tmp(2), tmp(1));
  plan.copy(tmp(1), in(0, 1));
  plan.copy(tmp(3), tmp(1));
  EXPECT_EQ(inter_node_traffic(plan, {0, 1, 2, 3}).delays, 2);
}

// The root's `out` is its `in`, so a message from it depends on no other message.
TEST(InterNodeTraffic, TheRootOfABcastHasOneBuffer) {
  Plan plan = of(Collective::bcast, 2);
  plan.root = 1;
  plan.copy(out(1), in(1));
  plan.copy(out(0), out(1));
  EXPECT_EQ(inter_node_traffic(plan, {0, 1}).delays, 1);
}

TEST(InterNodeTraffic, TokensAreMessagesAndHoldWhatFollows) {
  Plan plan = of(Collective::gather, 3, 3);
  const std::vector<int32_t> apart = {0, 1, 2};
  plan.copy(out(0, 1), in(1));
  plan.transfers.back().push = true;
  plan.token(2, 1);
  plan.copy(out(0, 2), in(2));
  plan.transfers.back().push = true;
  // One after another: the part of rank 1, the token behind it, the part of rank 2.
  EXPECT_EQ(inter_node_traffic(plan, apart),
            (InterNodeTraffic{.messages = 3, .blocks = 2, .delays = 3, .most_messages = 2}));
  EXPECT_EQ(inter_node_traffic(plan, {0, 1, 1}).delays, 2);
}

}  // namespace
}  // namespace tutti::plan
