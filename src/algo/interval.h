// Trees over intervals of ranks: the index arithmetic of every tree algorithm, apart from any data.
//
// An interval of ranks is cut into at most `degree` parts. The length of each part but the last is
// a power of `degree`. The leaders of the parts report to the interval's leader, and so on within
// each part. Degree 2 gives the binomial tree, degree p the flat one, a degree between them HMPI's
// n-ary tree (section 2.2). Because parts are intervals, partial results combine in rank order
// whichever rank leads, so no algorithm here needs the operation to commute. Values and pure
// functions, for any thread.
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
