#include "group/deposits.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <numeric>

#include "group/test_ranks.h"

namespace tutti::group {
namespace {

using test::with_groups;

uint64_t value(int rank, uint64_t round, size_t at) {
  return static_cast<uint64_t>(rank) << 48 | round << 24 | at;
}

// Rank r gives r + 1 blocks; block b has b + 1 words.
size_t words_of(int rank) {
  const auto blocks = static_cast<size_t>(rank) + 1;
  return blocks * (blocks + 1) / 2;
}

std::vector<Deposits::Announced> announced(int ranks) {
  std::vector<Deposits::Announced> all(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Deposits::Announced& own = all[static_cast<size_t>(rank)];
    own.blocks = static_cast<uint64_t>(rank) + 1;
    own.bytes = words_of(rank) * sizeof(uint64_t);
    own.longest = own.blocks * sizeof(uint64_t);
  }
  return all;
}

void fill_table(Deposits& deposits, int rank) {
  uint64_t at = 0;
  for (size_t block = 0; block <= static_cast<size_t>(rank); ++block) {
    deposits.table()[block] = {at, (block + 1) * sizeof(uint64_t)};
    at += (block + 1) * sizeof(uint64_t);
  }
}

void give(Deposits& deposits, int rank, uint64_t round) {
  auto* const words = reinterpret_cast<uint64_t*>(deposits.buffer(round));
  for (size_t i = 0; i < words_of(rank); ++i) words[i] = value(rank, round, i);
  deposits.publish(round);
}

void expect_blocks_of_all(const Deposits& deposits, int ranks, uint64_t round) {
  for (int rank = 0; rank < ranks; ++rank) {
    while (!deposits.has_started(rank, round)) sched_yield();
    size_t at = 0;
    for (size_t block = 0; block <= static_cast<size_t>(rank); ++block) {
      ASSERT_EQ(deposits.bytes(rank, block), (block + 1) * sizeof(uint64_t));
      const auto* const words =
          reinterpret_cast<const uint64_t*>(deposits.block(rank, block, round));
      for (size_t i = 0; i <= block; ++i, ++at) ASSERT_EQ(words[i], value(rank, round, at));
    }
  }
}

class DepositsOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DepositsOf, testing::Values(1, 2, 3, 5));

// Ranks that are a round ahead must not write a buffer that others still read.
TEST_P(DepositsOf, GiveEveryRankTheBlocksOfEveryRound) {
  const int ranks = GetParam();
  with_groups(ranks, {}, {}, [&](Group& group) {
    Deposits::Segments segments;
    const auto deposits =
        Deposits::make(group, segments, shm::Segment::Kind::memfd, announced(ranks));
    ASSERT_NE(deposits, nullptr);
    fill_table(*deposits, group.rank());
    EXPECT_FALSE(deposits->has_started(group.rank(), 1));
    for (uint64_t round = 1; round <= 50; ++round) {
      give(*deposits, group.rank(), round);
      ASSERT_NO_FATAL_FAILURE(expect_blocks_of_all(*deposits, ranks, round));
    }
  });
}

TEST_P(DepositsOf, OperationsShareSegmentsAndGiveTheirMemoryBack) {
  const int ranks = GetParam();
  with_groups(ranks, {}, {}, [&](Group& group) {
    Deposits::Segments segments;
    std::vector<size_t> free_bytes;
    for (int time = 0; time < 3; ++time) {
      std::vector<std::unique_ptr<Deposits>> made;
      for (int i = 0; i < 10; ++i) {
        made.push_back(
            Deposits::make(group, segments, shm::Segment::Kind::memfd, announced(ranks)));
        ASSERT_NE(made.back(), nullptr);
      }
      EXPECT_EQ(segments.size(), 1u);
      made.clear();
      ASSERT_EQ(group.run({plan::Collective::barrier}), Code::ok);
      free_bytes.push_back(segments.front()->free_bytes());
      ASSERT_EQ(group.run({plan::Collective::barrier}), Code::ok);
    }
    EXPECT_EQ(free_bytes[0], free_bytes[1]);
    EXPECT_EQ(free_bytes[1], free_bytes[2]);
  });
}

TEST(Deposits, TheWholeIsTheSumOfTheRanksAreas) {
  const auto all = announced(3);
  size_t sum = 0;
  for (const Deposits::Announced& one : all) sum += Deposits::needed({one});
  EXPECT_EQ(Deposits::needed(all), sum);
  EXPECT_EQ(sum % shm::line_size, 0u);
}

}  // namespace
}  // namespace tutti::group
