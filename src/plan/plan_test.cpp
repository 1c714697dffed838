#include "plan/plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "plan/text.h"

namespace tutti::plan {
namespace {

std::string refusal(const Plan& plan) {
  try {
    validate(plan);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_plan);
    return error.what();
  }
  return {};
}

// Four ranks, two blocks, well formed.
Plan example() {
  Plan plan;
  plan.collective = Collective::allreduce;
  plan.ranks = 4;
  plan.blocks = 2;
  plan.reduce(tmp(0, 0, 2), {in(0, 0, 2), in(1, 0, 2)});
  plan.copy(out(0, 0, 2), tmp(0, 0, 2));
  return plan;
}

TEST(Collectives, NamesRoundTrip) {
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(collective_named(name(collective)), collective);
  }
  try {
    collective_named("gossip");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_STREQ(error.what(),
                 "there is no collective 'gossip'; it is one of "
                 "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, "
                 "reduce_scatter, scan, exscan");
  }
}

TEST(Collectives, Roots) {
  EXPECT_TRUE(rooted(Collective::bcast));
  EXPECT_TRUE(rooted(Collective::reduce));
  EXPECT_FALSE(rooted(Collective::barrier));
  EXPECT_FALSE(rooted(Collective::allreduce));
}

TEST(Overlap, AgreesWithEnumeration) {
  const auto shares_a_block = [](const Region& one, const Region& other) {
    for (int32_t i = 0; i < one.count; ++i) {
      for (int32_t j = 0; j < other.count; ++j) {
        if (one.first + i * one.stride == other.first + j * other.stride) return true;
      }
    }
    return false;
  };
  std::vector<Region> regions;
  for (int32_t first = 0; first < 8; ++first) {
    for (int32_t count = 1; count < 6; ++count) {
      for (int32_t stride = 1; stride < 7; ++stride)
        regions.push_back({0, Buffer::tmp, first, count, stride});
    }
  }
  for (const Region& one : regions) {
    for (const Region& other : regions) {
      ASSERT_EQ(overlap(one, other), shares_a_block(one, other))
          << print(one) << " " << print(other);
    }
  }
}

TEST(Overlap, OnlyWithinOneBufferOfOneRank) {
  EXPECT_TRUE(overlap(in(1), in(1)));
  EXPECT_FALSE(overlap(in(1), in(2)));
  EXPECT_FALSE(overlap(in(1), out(1)));
}

TEST(Overlap, LargeStrides) {
  const Region by_large{0, Buffer::tmp, 3, 50000, 20};
  EXPECT_TRUE(overlap(by_large, {0, Buffer::tmp, 4, 40000, 19}));
  EXPECT_FALSE(overlap(by_large, {0, Buffer::tmp, 4, 40000, 20}));
  EXPECT_TRUE(
      overlap({0, Buffer::tmp, 0, 2, 1048573}, {0, Buffer::tmp, 1, 3, 524286}));  // 1048573 in both
  EXPECT_FALSE(overlap({0, Buffer::tmp, 0, 2, 1048573}, {0, Buffer::tmp, 2, 3, 524286}));
}

TEST(TmpBlocks, LargestOfEveryTransfer) {
  Plan plan = example();
  plan.copy({2, Buffer::tmp, 1, 2, 3}, in(2, 0, 2));
  plan.copy(out(3), tmp(1, 6));
  EXPECT_EQ(plan.tmp_blocks(0), 2);
  EXPECT_EQ(plan.tmp_blocks(1), 7);
  EXPECT_EQ(plan.tmp_blocks(2), 5);
  EXPECT_EQ(plan.tmp_blocks(3), 0);
  EXPECT_EQ(plan.largest_tmp(), 7);
}

TEST(Transfers, WhoExecutes) {
  Transfer transfer{TransferKind::copy, false, stage_automatic, 0, out(2), {in(1)}};
  EXPECT_EQ(transfer.executor(), 2);
  transfer.push = true;
  EXPECT_EQ(transfer.executor(), 1);
}

TEST(Transfers, AReduceOfOneSourceIsACopy) {
  Plan plan;
  plan.reduce(out(0), {in(0)});
  EXPECT_EQ(plan.transfers.front().kind, TransferKind::copy);
}

TEST(Transfers, InAnyOrderAndBack) {
  Plan plan;
  plan.reduce_any(out(0), {in(0)});
  plan.reduce_any(out(0), {in(0), in(1)});
  EXPECT_FALSE(plan.transfers[0].any_order);  // a copy
  EXPECT_TRUE(plan.transfers[1].any_order);
  const Plan fixed = in_fixed_order(plan);
  ASSERT_EQ(fixed.transfers.size(), 2u);
  EXPECT_FALSE(fixed.transfers[1].any_order);
  EXPECT_EQ(fixed.transfers[1].src, plan.transfers[1].src);
}

struct Refusal {
  const char* what;
  std::function<void(Plan&)> break_it;
  const char* message;  // a part of it
};

TEST(Validate, RefusesWhatIsNotWellFormed) {
  const std::vector<Refusal> refusals = {
      {"no ranks", [](Plan& p) { p.ranks = 0; }, "0 ranks; a plan has 1 to"},
      {"too many ranks", [](Plan& p) { p.ranks = max_ranks + 1; }, "ranks; a plan has 1 to"},
      {"no blocks", [](Plan& p) { p.blocks = 0; }, "0 blocks; a plan has 1 to"},
      {"too many blocks", [](Plan& p) { p.blocks = max_blocks + 1; }, "blocks; a plan has 1 to"},
      {"blocks of a barrier", [](Plan& p) { p.collective = Collective::barrier; },
       "a barrier has 1 block"},
      {"root of none", [](Plan& p) { p.root = 1; }, "root 1 of a collective that has none"},
      {"root out of range", [](Plan& p) { p.collective = Collective::reduce, p.root = 4; },
       "no rank 4 to be the root"},
      {"negative root", [](Plan& p) { p.collective = Collective::reduce, p.root = -1; },
       "no rank -1 to be the root"},
      {"label", [](Plan& p) { p.algorithm = "two\nlines"; }, "the algorithm's label"},
      {"long label", [](Plan& p) { p.algorithm.assign(200, 'a'); }, "the algorithm's label"},
      {"rank", [](Plan& p) { p.transfers[1].dst.rank = 4; },
       "transfer 2: copy out[4].0+2 <- tmp[0].0+2: there is no rank 4"},
      {"negative rank", [](Plan& p) { p.transfers[0].src[1].rank = -1; }, "there is no rank -1"},
      {"count", [](Plan& p) { p.transfers[1].dst.count = 0; }, "a region of 0 blocks"},
      {"stride", [](Plan& p) { p.transfers[1].dst.stride = 0; }, "a stride of 0"},
      {"block", [](Plan& p) { p.transfers[1].dst.first = 1; },
       "there is no block 2 in out[0].1+2; blocks are 0..1"},
      {"negative block", [](Plan& p) { p.transfers[1].dst.first = -1; }, "there is no block -1"},
      {"block of tmp", [](Plan& p) { p.transfers[0].dst.first = max_blocks; }, "there is no block"},
      {"numbers that overflow", [](Plan& p) { p.transfers[1].dst.stride = INT32_MAX; },
       "there is no block 2147483647"},
      {"counts that differ", [](Plan& p) { p.transfers[0].src[1].count = 1; },
       "they must be as many"},
      {"reduce of one", [](Plan& p) { p.transfers[0].src.pop_back(); }, "a reduce of 1 sources"},
      {"copy of two", [](Plan& p) { p.transfers[1].src.push_back(in(0, 0, 2)); },
       "a copy of 2 sources"},
      {"copy of none", [](Plan& p) { p.transfers[1].src.clear(); }, "a copy of 0 sources"},
      {"push from two", [](Plan& p) { p.transfers[0].push = true; }, "pushed from ranks 0 and 1"},
      {"writes in", [](Plan& p) { p.transfers[1].dst = in(0, 0, 2); }, "it writes `in`"},
      {"shifted overlap", [](Plan& p) { p.copy(tmp(0, 1, 2), tmp(0, 0, 2)); },
       "the destination overlaps tmp[0].0+2"},
      {"some stages", [](Plan& p) { p.transfers[1].stage = 0; }, "it has a stage where"},
      {"some stages missing", [](Plan& p) { p.transfers[0].stage = 0; }, "it has no stage where"},
      {"stages that decrease", [](Plan& p) { p.transfers[0].stage = 2, p.transfers[1].stage = 1; },
       "stage 1 after stage 2"},
      {"negative stage", [](Plan& p) { p.transfers[0].stage = -2; }, "stage -2; stages are"},
      {"any order where rank order is kept", [](Plan& p) { p.transfers[0].any_order = true; },
       "a reduce in any order in a plan that keeps rank order"},
      {"any order of a copy", [](Plan& p) { p.commutative = p.transfers[1].any_order = true; },
       "copy any out[0].0+2 <- tmp[0].0+2: a copy has one source"},
      {"any order of a push",
       [](Plan& p) {
         p.commutative = true;
         p.reduce_any(out(1), {in(0), tmp(0)});
         p.transfers.back().push = true;
       },
       "transfer 3: push any out[1] <- in[0], tmp[0]: a pushed reduce"},
      {"shape", [](Plan& p) { p.shape = "node:4 numa"; }, "the machine's shape"},
      {"too many files", [](Plan& p) { p.files.resize(max_files + 1); },
       "its transfers are from 65537 files"},
      {"large stage", [](Plan& p) { p.transfers[0].stage = INT32_MAX; }, "stages are 0.."},
      {"one buffer at the root of a bcast",
       [](Plan& p) {
         p.collective = Collective::bcast, p.blocks = 4, p.copy(out(0, 1, 2), in(0, 0, 2));
       },
       "the destination overlaps in[0].0+2"},
  };
  for (const Refusal& refused : refusals) {
    Plan plan = example();
    ASSERT_EQ(refusal(plan), "");
    refused.break_it(plan);
    const std::string message = refusal(plan);
    EXPECT_NE(message.find(refused.message), std::string::npos) << refused.what << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << refused.what;
  }
}

TEST(Validate, NamesTheLineWhereThereIsOne) {
  Plan plan = example();
  plan.transfers[1].line = 12;
  plan.transfers[1].dst.rank = 9;
  EXPECT_EQ(refusal(plan),
            "line 12: copy out[9].0+2 <- tmp[0].0+2: there is no rank 9; ranks are 0..3");
}

TEST(Validate, NamesTheFileWhereThereIsOne) {
  Plan plan = example();
  plan.files = {"one.py", "two.py"};
  plan.transfers[1].line = 12;
  plan.transfers[1].file = 1;
  plan.transfers[1].dst.rank = 9;
  EXPECT_TRUE(refusal(plan).starts_with("two.py:12: ")) << refusal(plan);
  plan.transfers[1].file = 2;  // there is no such file
  EXPECT_TRUE(refusal(plan).starts_with("line 12: ")) << refusal(plan);
  plan.transfers[1].line = 0;
  EXPECT_TRUE(refusal(plan).starts_with("transfer 2: ")) << refusal(plan);
}

TEST(Validate, TakesShapesOfAnyLevels) {
  Plan plan = example();
  for (const char* shape : {"", "node:4", "cluster:2 node:4 numa:2 cache:2 core:8"}) {
    plan.shape = shape;
    EXPECT_EQ(refusal(plan), "");
  }
  for (const char* shape : {" ", "node:4 ", " node:4", "node:4  core:2", "node", "node:", ":4",
                            "node:four", "Node:4", "node:-1"}) {
    plan.shape = shape;
    EXPECT_NE(refusal(plan), "") << "'" << shape << "'";
  }
}

TEST(Validate, LongTransfersAreShortened) {
  Plan plan;
  plan.collective = Collective::allreduce;
  plan.ranks = 1000;
  std::vector<Region> sources;
  for (int32_t rank = 0; rank <= 1000; ++rank) sources.push_back(in(rank));
  plan.reduce(out(0), sources);
  EXPECT_LT(refusal(plan).size(), 200u);
}

TEST(Validate, ADestinationMayBeASourceAtItsOwnPlace) {
  Plan plan = example();
  plan.reduce(tmp(0, 0, 2), {tmp(0, 0, 2), in(2, 0, 2)});
  plan.reduce({0, Buffer::tmp, 0, 1, 7}, {tmp(0), in(3)});  // a stride of one block means nothing
  EXPECT_EQ(refusal(plan), "");
}

}  // namespace
}  // namespace tutti::plan
