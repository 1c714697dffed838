// Sets of ranks as intervals, and their text form in messages. Internal to src/plan.
#pragma once

#include <utility>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti::plan {

struct Interval {
  int32_t low, high;  // ranks [low, high)
};

using Intervals = std::vector<Interval>;  // ascending, with gaps between

// The same set in a form that takes less memory. Most sets are one interval, which needs no
// allocation.
class KeptIntervals {
 public:
  KeptIntervals(Interval one) : one_(one) {}
  KeptIntervals(Intervals intervals) : one_(intervals.front()) {
    if (intervals.size() > 1) many_ = std::make_unique<const Intervals>(std::move(intervals));
  }

  std::span<const Interval> all() const {
    return many_ == nullptr ? std::span(&one_, 1) : std::span(*many_);
  }
  const Interval& front() const { return all().front(); }
  const Interval& back() const { return all().back(); }

 private:
  Interval one_;
  std::unique_ptr<const Intervals> many_;
};

inline std::string range_text(const Interval& interval) {
  const std::string low = std::to_string(interval.low);
  return interval.high == interval.low + 1 ? low : low + ".." + std::to_string(interval.high - 1);
}

inline std::string ranks_text(const Interval& interval) {
  return (interval.high == interval.low + 1 ? "rank " : "ranks ") + range_text(interval);
}

// The ranks that `within` has and `held` lacks.
inline Intervals missing(std::span<const Interval> held, const Interval& within) {
  Intervals result;
  int32_t next = within.low;
  for (const Interval& interval : held) {
    if (interval.low > next) result.push_back({next, std::min(interval.low, within.high)});
    next = std::max(next, interval.high);
    if (next >= within.high) return result;
  }
  result.push_back({next, within.high});
  return result;
}

// {0,1,2,4} or {0..5,8,10..31}: longer runs are written as ranges, and a large set is cut short.
inline std::string set_text(std::span<const Interval> intervals) {
  constexpr int32_t most_items = 8;
  constexpr int32_t longest_listed = 3;
  std::string text;
  int32_t items = 0;
  for (const Interval& interval : intervals) {
    const bool listed = interval.high - interval.low <= longest_listed;
    for (int32_t rank = interval.low; rank < interval.high;
         rank = listed ? rank + 1 : interval.high) {
      if (items++ == most_items) return "{" + text + ",...}";
      text += (text.empty() ? "" : ",") + std::to_string(rank);
      if (!listed) text += ".." + std::to_string(interval.high - 1);
    }
  }
  return "{" + text + "}";
}

}  // namespace tutti::plan
