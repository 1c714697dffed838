// Plans as parts of others: which blocks they move, in how many transfers, and through whose `tmp`.
#include "algo/compose.h"

#include <gtest/gtest.h>

#include "algo/algo.h"
#include "plan/check.h"
#include "plan/text.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

Plan whole_of(Collective collective, int32_t ranks, int32_t blocks) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = blocks;
  return plan;
}

std::vector<std::string> texts(const Plan& plan) {
  std::vector<std::string> result;
  for (const plan::Transfer& transfer : plan.transfers) result.push_back(plan::print(transfer));
  return result;
}

using Texts = std::vector<std::string>;

TEST(Regions, NeighboursBecomeOne) {
  Regions list;
  for (const int32_t block : {3, 5, 7, 8, 9}) append(list, plan::in(0, block));
  append(list, plan::in(0, 10, 0));
  append(list, plan::in(0, 10, 4));
  append(list, plan::out(0, 14));
  append(list, plan::out(1, 15));
  append(list, plan::out(1, 15));
  const Regions expected{{0, plan::Buffer::in, 3, 3, 2},
                         plan::in(0, 8, 6),
                         plan::out(0, 14),
                         plan::out(1, 15),
                         plan::out(1, 15)};
  EXPECT_EQ(list, expected);
  EXPECT_EQ(blocks_of(list), 12);
  Regions slice;
  append_slice(slice, list, 1, 4);
  EXPECT_EQ(slice, (Regions{{0, plan::Buffer::in, 5, 2, 2}, plan::in(0, 8, 2)}));
}

TEST(Composer, ListsAreMovedInAsFewTransfersAsPossible) {
  Plan plan = whole_of(Collective::bcast, 2, 16);
  Composer composer(plan);
  // Both are runs of blocks where they have the same steps: 0 2 4 | 5 6 and 8 9 10 | 12 13.
  composer.copy({plan::out(1, 0), plan::out(1, 2), plan::out(1, 4), plan::out(1, 5, 2)},
                {plan::in(0, 8, 3), plan::in(0, 12, 2)});
  EXPECT_EQ(texts(plan),
            (Texts{"copy out[1].0+3/2 <- in[0].8+3", "copy out[1].5+2 <- in[0].12+2"}));
  plan.transfers.clear();
  composer.copy({plan::out(0, 3, 2), plan::out(0, 9)}, {plan::out(0, 3, 3)});
  EXPECT_EQ(texts(plan), (Texts{"copy out[0].9 <- out[0].5"}))
      << "blocks that are in place already are not moved";
}

TEST(Composer, PartsShareNoScratch) {
  const Plan part = generate(Collective::allreduce, "binomial", 4, 0);
  Plan plan = whole_of(Collective::allreduce, 4, 2);
  Composer composer(plan);
  const std::vector<int32_t> ranks{2, 0, 1, 3};
  for (int32_t half = 0; half < 2; ++half) {
    std::vector<Regions> in, out;
    for (const int32_t rank : ranks) {
      in.push_back({plan::in(rank, half)});
      out.push_back({plan::out(rank, half)});
    }
    composer.embed({part, ranks, cut(in, 1), cut(out, 1)});
  }
  plan.commutative = true;  // the part takes 2 before 0
  EXPECT_NO_THROW(plan::check(plan));
  std::vector<Region> written;
  for (const plan::Transfer& transfer : plan.transfers) {
    if (transfer.dst.buffer != plan::Buffer::tmp) continue;
    for (const Region& other : written) EXPECT_FALSE(plan::overlap(other, transfer.dst));
    written.push_back(transfer.dst);
  }
  EXPECT_EQ(written.size(), 2u);
  EXPECT_EQ(composer.scratch(1, 3).first, plan.tmp_blocks(1));
}

// An allgather of what three nodes of 1, 3 and 2 ranks have, by a ring among their leaders.
TEST(Composer, ItemsMayDifferInLength) {
  const std::vector<int32_t> leaders{0, 1, 4}, sizes{1, 3, 2};
  const Plan part = generate(Collective::allgather, "ring", 3, 0);
  Plan plan = whole_of(Collective::allgather, 6, 6);
  const auto locate = [&](int32_t rank, int64_t item, Regions& regions) {
    const auto node = static_cast<size_t>(item);
    append(regions, plan::out(leaders[static_cast<size_t>(rank)], leaders[node], sizes[node]));
  };
  Composer(plan).embed({part, leaders, locate, locate, true, true});
  EXPECT_EQ(texts(plan), (Texts{"copy out[0].4+2 <- out[4].4+2", "copy out[1] <- out[0]",
                                "copy out[4].1+3 <- out[1].1+3", "copy out[0].1+3 <- out[4].1+3",
                                "copy out[1].4+2 <- out[0].4+2", "copy out[4] <- out[1]"}));
}

TEST(Composer, ItemsOfNoBlocksAreNotMoved) {
  const Plan part = generate(Collective::gather, "binomial", 4, 0);
  Plan plan = whole_of(Collective::gather, 4, 4);
  const std::vector<int32_t> ranks{0, 1, 2, 3};
  const auto in = [](int32_t rank, int64_t, Regions& regions) {
    append(regions, plan::in(rank, 0, rank % 2));
  };
  const auto out = [](int32_t, int64_t item, Regions& regions) {
    append(regions, plan::out(0, static_cast<int32_t>(item), static_cast<int32_t>(item % 2)));
  };
  Composer(plan).embed({part, ranks, in, out});
  EXPECT_EQ(texts(plan),
            (Texts{"copy tmp[1] <- in[1]", "copy out[0].1 <- tmp[1]", "copy tmp[3] <- in[3]",
                   "copy tmp[2] <- tmp[3]", "copy out[0].3 <- tmp[2]"}));
}

// The parts of node {1, 3, 4} go to rank 0 as one message, whose places at the root are no run.
TEST(Composer, SeveralRegionsArePackedBetweenNodes) {
  const Plan part = generate(Collective::gather, "flat", 2, 0);
  for (const bool one_message : {false, true}) {
    Plan plan = whole_of(Collective::gather, 5, 5);
    const std::vector<int32_t> ranks{0, 1};
    Composer composer(plan);
    const Region collected = composer.scratch(1, 3);
    const auto out = [](int32_t, int64_t item, Regions& regions) {
      const auto places = item == 1 ? std::vector<int32_t>{1, 3, 4} : std::vector<int32_t>{0, 2};
      for (const int32_t place : places) append(regions, plan::out(0, place));
    };
    const auto in = [&](int32_t rank, int64_t item, Regions& regions) {
      rank == 1 ? append(regions, collected) : out(0, item, regions);
    };
    composer.embed({part, ranks, in, out, true, one_message});
    if (one_message) {
      EXPECT_EQ(texts(plan),
                (Texts{"copy tmp[0].0+3 <- tmp[1].0+3", "copy out[0].1+2/2 <- tmp[0].0+2",
                       "copy out[0].4 <- tmp[0].2"}));
    } else {
      EXPECT_EQ(texts(plan),
                (Texts{"copy out[0].1+2/2 <- tmp[1].0+2", "copy out[0].4 <- tmp[1].2"}));
    }
  }
}

TEST(Composer, AnInputThatIsNotWrittenIsReadInPlace) {
  const Plan part = generate(Collective::allreduce, "all_read_all", 2, 0);
  Plan plan = whole_of(Collective::allreduce, 2, 1);
  const std::vector<int32_t> ranks{0, 1};
  Composer composer(plan);
  std::vector<Regions> in{{composer.scratch(0, 1)}, {plan::in(1)}},
      out{{plan::out(0)}, {plan::out(1)}};
  composer.embed({part, ranks, cut(in, 1), cut(out, 1)});
  // A user's `in` may be the same memory as the `out` that is written; `tmp` is never.
  EXPECT_EQ(texts(plan), (Texts{"copy tmp[1] <- in[1]", "reduce out[0] <- tmp[0], tmp[1]",
                                "reduce out[1] <- tmp[0], in[1]"}));
}

TEST(Composer, KeepsPushesAndTokens) {
  const Plan part = generate(Collective::gather, "token_ring:1:within", 3, 0);
  Plan plan = whole_of(Collective::gather, 6, 6);
  const std::vector<int32_t> ranks{5, 3, 1};
  const auto in = [&](int32_t rank, int64_t, Regions& regions) {
    append(regions, plan::in(ranks[static_cast<size_t>(rank)]));
  };
  const auto out = [&](int32_t, int64_t item, Regions& regions) {
    append(regions, plan::out(5, ranks[static_cast<size_t>(item)]));
  };
  Composer(plan).embed({part, ranks, in, out});
  EXPECT_EQ(texts(plan), (Texts{"token 3 <- 1", "push tmp[5] <- in[3]", "token 1 <- 3",
                                "push tmp[5].1 <- in[1]", "copy out[5].3 <- tmp[5]",
                                "copy out[5].1 <- tmp[5].1", "copy out[5].5 <- in[5]"}));
}

}  // namespace
}  // namespace tutti::algo
