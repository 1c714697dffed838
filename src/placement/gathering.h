// An allgather in as many rounds as the number of ranks has bits: who sends what to whom.
//
// Each rank first holds its own share, and later also the shares of the ranks behind it, in their
// order; rank 0 is behind the last rank. In every round a rank sends the first of its shares to a
// rank before it and receives as many from a rank behind it, at twice the distance each time. So
// every round but the last doubles what all ranks hold, and the last brings what is missing. Pure.
// Source: Bruck et al., Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems, 1997, the concatenation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti::placement {

struct GatheringRound {
  int32_t to = 0, from = 0;  // ranks
  int32_t shares = 0;        // so many of the first are sent, and as many come
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
