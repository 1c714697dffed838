// Tests which copies staging leaves out because only messages read them, and that the programs with
// these messages are right.
#include "plan/direct_sends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/check.h"
#include "plan/simulate.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

Plan read_plan(const std::string& head, const std::string& transfers) {
  return read("tutti-plan 1\ncollective " + head + "\n" + transfers);
}

// The plan in which two ranks exchange vectors of which each combines its part.
Plan exchange(const std::string& between = "") {
  return read_plan("reduce_scatter\nranks 2",
                   "copy tmp[0].0 <- in[0].1\ncopy tmp[1].0 <- in[1].0\n" + between +
                       "reduce out[0] <- in[0], tmp[1]\nreduce out[1] <- tmp[0], in[1].1\n");
}

const placement::Nodes apart({0, 1}), three_apart({0, 1, 2});

int copies_of(const Plan& staged) {
  return static_cast<int>(
      std::count_if(staged.transfers.begin(), staged.transfers.end(),
                    [](const Transfer& transfer) { return transfer.kind == TransferKind::copy; }));
}

// Runs the plan's programs in simulated orders, which finds results that are not the plan's.
void simulated(const Plan& plan, const placement::Nodes& nodes, Buffers buffers) {
  const Plan staged = stage(plan, nodes, buffers);
  std::vector<int32_t> ranks;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) ranks.push_back(rank);
  std::vector<Program> programs =
      lower(staged, depend(staged, Carrier::slot), ranks, Carrier::slot);
  for (Program& program : programs)
    program.in_place = buffers == Buffers::maybe_one && check(plan).in_place;
  Simulation how;
  how.nodes = nodes;
  how.segments = 5;
  simulate(plan, programs, how);
}

TEST(DirectSends, WhatOnlyOtherNodesReadIsSentFromTheUsersBlocks) {
  const Plan plan = exchange();
  const DirectSends direct = direct_sends(plan, apart, Buffers::maybe_one);
  ASSERT_EQ(direct.readers.size(), 2u);
  EXPECT_EQ(direct.readers.at(0), (std::vector<int32_t>{3}));
  EXPECT_EQ(direct.readers.at(1), (std::vector<int32_t>{2}));
  EXPECT_EQ(direct.copies.at(2), (std::vector<int32_t>{-1, 1}));
  EXPECT_EQ(direct.copies.at(3), (std::vector<int32_t>{0, -1}));
  const Plan staged = stage(plan, apart);
  EXPECT_EQ(copies_of(staged), 0);
  EXPECT_EQ(staged.largest_tmp(), 1) << "the place where the other's vector arrives";
  for (const Transfer& transfer : staged.transfers) {
    if (transfer.kind != TransferKind::send) continue;
    EXPECT_EQ(transfer.src.front().buffer, Buffer::in);
  }
  for (const Buffers buffers : {Buffers::maybe_one, Buffers::two}) simulated(plan, apart, buffers);
}

// A block of `out` may be the block of `in` that leaves.
TEST(DirectSends, NothingIsWrittenToWhatIsLeaving) {
  const Plan staged = stage(exchange(), apart);
  bool has_ended = false;
  for (const Transfer& transfer : staged.transfers) {
    // Rank 1 sends block 0, which its result replaces if it passes one buffer.
    if (transfer.executor() != 1) continue;
    has_ended |= transfer.kind == TransferKind::sent;
    if (transfer.kind != TransferKind::reduce) continue;
    EXPECT_TRUE(has_ended);
  }
}

TEST(DirectSends, OneMessageServesAllReadsOfARank) {
  const Plan plan = read_plan("allreduce\nranks 3",
                              "copy tmp[0].0 <- in[0]\n"
                              "reduce tmp[1].1 <- tmp[0].0, in[1]\n"
                              "reduce out[1] <- tmp[1].1, in[2]\n"
                              "reduce tmp[1].2 <- tmp[0].0, in[1]\n"
                              "reduce out[0] <- tmp[1].2, in[2]\n"
                              "reduce tmp[2].0 <- tmp[0].0, in[1]\n"
                              "reduce out[2] <- tmp[2].0, in[2]\n");
  const DirectSends direct = direct_sends(plan, three_apart, Buffers::two);
  EXPECT_EQ(direct.readers.at(0), (std::vector<int32_t>{1, 3, 5}));
  const Plan staged = stage(plan, three_apart, Buffers::two);
  EXPECT_EQ(std::count_if(staged.transfers.begin(), staged.transfers.end(),
                          [](const Transfer& transfer) {
                            return transfer.kind == TransferKind::send &&
                                   transfer.src.front() == in(0);
                          }),
            2);
  simulated(plan, three_apart, Buffers::two);
}

TEST(DirectSends, ACopyArrivesAtItsDestination) {
  const Plan plan = read_plan("gather\nranks 2\nroot 0",
                              "copy tmp[1] <- in[1]\ncopy out[0].1 <- tmp[1]\n"
                              "copy out[0] <- in[0]\n");
  const Plan staged = stage(plan, apart);
  EXPECT_EQ(copies_of(staged), 1) << "the root's own";
  EXPECT_EQ(staged.largest_tmp(), 0);
  simulated(plan, apart, Buffers::maybe_one);
}

TEST(DirectSends, CopiesStayWhereOthersReadThem) {
  const auto direct = [](const Plan& plan, const placement::Nodes& nodes,
                         Buffers buffers = Buffers::maybe_one) {
    return direct_sends(plan, nodes, buffers).readers.size();
  };
  EXPECT_EQ(direct(exchange(), {}), 0u) << "on one node";
  EXPECT_EQ(direct(exchange(), placement::Nodes({0, 0})), 0u);
  EXPECT_EQ(direct(exchange("copy tmp[0].1 <- tmp[0].0\n"), apart), 1u) << "read by its owner";
  EXPECT_EQ(direct(exchange("token 0 <- 1\n"), apart), 0u) << "a token says when to send";
  // A part of what was copied, and what is no longer all of it.
  EXPECT_EQ(direct(read_plan("reduce_scatter\nranks 2",
                             "copy tmp[0].0+2 <- in[0].0+2\nreduce out[1] <- tmp[0].1, in[1].1\n"
                             "reduce out[0] <- in[0], in[1]\n"),
                   apart),
            0u);
  EXPECT_EQ(direct(exchange("copy tmp[0].0 <- in[0].1\n"), apart), 2u) << "the later copy counts";
  // Explicit stages say when data is sent.
  EXPECT_EQ(direct(read_plan("gather\nranks 2\nroot 0",
                             "copy @0 tmp[1] <- in[1]\ncopy @0 out[0].1 <- tmp[1]\n"
                             "copy @0 out[0] <- in[0]\n"),
                   apart),
            0u);
}

// If ranks may pass one buffer, the parts of an alltoall arrive in blocks from which others leave.
TEST(DirectSends, APostNeverWaitsForWhatLeavesFromItsBlocks) {
  const Plan plan = read_plan("alltoall\nranks 2",
                              "copy tmp[0] <- in[0].1\ncopy tmp[1] <- in[1]\n"
                              "copy out[0].1 <- tmp[1]\ncopy out[1] <- tmp[0]\n"
                              "copy out[0] <- in[0]\ncopy out[1].1 <- in[1].1\n");
  EXPECT_TRUE(direct_sends(plan, apart, Buffers::maybe_one).readers.empty());
  EXPECT_EQ(direct_sends(plan, apart, Buffers::two).readers.size(), 2u);
  for (const Buffers buffers : {Buffers::maybe_one, Buffers::two}) simulated(plan, apart, buffers);
}

// A message that arrives at once would be overwritten, or would overwrite what is still read.
TEST(DirectSends, ACopyStaysIfItsDestinationIsInUse) {
  const std::string copy = "copy tmp[1] <- in[1]\n", arrives = "copy out[0].1 <- tmp[1]\n";
  const auto direct = [&](const std::string& between) {
    return direct_sends(read_plan("allgather\nranks 2", copy + between + arrives), apart,
                        Buffers::two)
        .readers.size();
  };
  EXPECT_EQ(direct(""), 1u);
  EXPECT_EQ(direct("copy out[0].1 <- in[0]\n"), 0u);
  EXPECT_EQ(direct("copy tmp[0] <- out[0].1\n"), 0u);
  EXPECT_EQ(direct("copy out[0].0 <- in[0]\n"), 1u);
}

}  // namespace
}  // namespace tutti::plan
