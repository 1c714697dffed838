#include "placement/gathering.h"

#include <gtest/gtest.h>

namespace tutti::placement {
namespace {

// Executes the rounds of all ranks and compares their shares.
void check_gathering(int32_t ranks) {
  std::vector<std::vector<int32_t>> held(static_cast<size_t>(ranks));
  for (int32_t rank = 0; rank < ranks; ++rank) held[static_cast<size_t>(rank)] = {rank};
  std::vector<std::vector<GatheringRound>> rounds;
  for (int32_t rank = 0; rank < ranks; ++rank) rounds.push_back(gathering_rounds(rank, ranks));
  for (size_t round = 0; round < rounds.front().size(); ++round) {
    const std::vector<std::vector<int32_t>> before = held;
    for (size_t rank = 0; rank < held.size(); ++rank) {
      const GatheringRound& own = rounds[rank][round];
      const auto from = static_cast<size_t>(own.from);
      ASSERT_EQ(rounds[from][round].to, static_cast<int32_t>(rank));
      ASSERT_EQ(rounds[from][round].shares, own.shares);
      held[rank].insert(held[rank].end(), before[from].begin(), before[from].begin() + own.shares);
    }
  }
  int32_t bits = 0;
  while ((int64_t{1} << bits) < ranks) ++bits;
  for (size_t rank = 0; rank < held.size(); ++rank) {
    ASSERT_EQ(rounds[rank].size(), static_cast<size_t>(bits)) << ranks;
    ASSERT_EQ(held[rank].size(), static_cast<size_t>(ranks));  // nothing came twice
    for (size_t i = 0; i < held[rank].size(); ++i) {
      ASSERT_EQ(held[rank][i], static_cast<int32_t>((rank + i) % held.size()));
    }
  }
}

TEST(Gathering, AllHaveAllAfterAsManyRoundsAsBits) {
  for (int32_t ranks = 1; ranks <= 70; ++ranks) ASSERT_NO_FATAL_FAILURE(check_gathering(ranks));
  for (const int32_t ranks : {127, 128, 129, 512, 600})
    ASSERT_NO_FATAL_FAILURE(check_gathering(ranks));
}

}  // namespace
}  // namespace tutti::placement
