// An allgather in log2(ranks) rounds, rounded up: which shares each rank sends to which rank.
//
// Each rank first holds its own share, and later also the shares of the ranks behind it, in their
// order; rank 0 is behind the last rank. In every round a rank sends the first of its shares to a
// rank before it and receives as many from a rank behind it, at twice the distance each time. So
// every round except the last doubles the shares that a rank holds, and the last round brings the
// missing ones. Pure; any thread.
// Source: Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems, 1997, the concatenation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti::placement {

struct GatheringRound {
  int32_t to = 0, from = 0;  // ranks
  int32_t shares = 0;        // the first shares that are sent, and as many that are received
};

inline std::vector<GatheringRound> gathering_rounds(int32_t rank, int32_t ranks) {
  std::vector<GatheringRound> rounds;
  for (int64_t held = 1; held < ranks; held *= 2) {
    const auto distance = static_cast<int32_t>(held);
    rounds.push_back({(rank + ranks - distance) % ranks, (rank + distance) % ranks,
                      std::min(distance, ranks - distance)});
  }
  return rounds;
}

}  // namespace tutti::placement
