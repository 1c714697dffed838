// Trees over intervals of ranks: the index arithmetic of every tree algorithm, apart from any data.
//
// An interval of ranks is cut into at most `degree` parts, each but the last a power of `degree`
// long; the leaders of the parts report to the interval's leader, and so on within each part. With
// degree 2 this is the binomial tree, with degree p the flat one, in between HMPI's n-ary tree
// (section 2.2). Because parts are intervals, partial results combine in rank order whatever rank
// leads, so no algorithm here needs the operation to commute.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::algo {

struct Interval {
  int32_t low = 0;   // first rank
  int32_t high = 0;  // one past the last
  int32_t size() const { return high - low; }
  bool contains(int32_t rank) const { return low <= rank && rank < high; }
};

// The parts of an interval of at least two ranks, in rank order.
std::vector<Interval> parts(Interval interval, int32_t degree);

}  // namespace tutti::algo
