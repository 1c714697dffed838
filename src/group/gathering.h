// Everybody's share to everybody, in as many rounds as the number of places has bits: who sends
// what to whom.
//
// Each place holds its own share first, then those of the places behind it, in their order, round
// the corner. In every round it sends the first of them to a place before it and takes in as many
// from one behind it, at twice the distance each time; so a round doubles what all hold, and the
// last brings what is missing. Pure. Source: Bruck et al., Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems, 1997, the concatenation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti::group {

struct GatheringRound {
  int32_t to = 0, from = 0;  // places
  int32_t shares = 0;        // the first of those held are sent, and as many come
};

inline std::vector<GatheringRound> gathering_rounds(int32_t place, int32_t places) {
  std::vector<GatheringRound> rounds;
  for (int64_t held = 1; held < places; held *= 2) {
    const auto distance = static_cast<int32_t>(held);
    rounds.push_back({(place + places - distance) % places, (place + distance) % places,
                      std::min(distance, places - distance)});
  }
  return rounds;
}

}  // namespace tutti::group
