// The circle of places of a symmetric plan. Internal to src/plan.
//
// The blocks that a region of a pattern takes at the different places are an orbit. So facts about
// the blocks of all ranks are kept by orbit. Pure functions of plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/symmetric.h"

namespace tutti::plan {

inline void sort_by_rank(Sources& sources) {
  std::sort(sources.begin(), sources.end(),
            [](const Region& one, const Region& other) { return one.rank < other.rank; });
}

class Circle {
 public:
  explicit Circle(const Plan& plan)
      : ranks_(plan.ranks),
        in_(plan.definition().in_blocks()),
        out_(plan.definition().out_blocks()) {}

  // True for a buffer with a block for each place.
  bool moves_on(Buffer buffer) const {
    return (buffer == Buffer::in && in_ == ranks_) || (buffer == Buffer::out && out_ == ranks_);
  }
  // True if blocks of `in` of one orbit are the same memory as blocks of `out` of one orbit, in
  // calls in place.
  bool aliases_move_on() const { return !moves_on(Buffer::in) || moves_on(Buffer::out); }
  // Expects that. The block of `out` that is the same memory as this block of `in`.
  Region alias(const Region& in) const {
    const bool is_own_part = !moves_on(Buffer::in) && moves_on(Buffer::out);
    return {in.rank, Buffer::out, is_own_part ? in.rank : in.first, 1, 1};
  }

  int32_t place(int32_t at) const {
    if (at >= 0 && at < ranks_) return at;
    const int32_t within = at % ranks_;
    return within < 0 ? within + ranks_ : within;
  }

  Region moved(Region region, int32_t by) const {
    region.rank = place(region.rank + by);
    if (moves_on(region.buffer)) region.first = place(region.first + by);
    return region;
  }
  // The region with ranks in place of places.
  Region of_ranks(Region region, const std::vector<int32_t>& order) const {
    region.rank = order[static_cast<size_t>(region.rank)];
    if (moves_on(region.buffer)) region.first = order[static_cast<size_t>(region.first)];
    return region;
  }

  // The number of a block's orbit; those of tmp come last, in the order of its blocks.
  size_t orbit(const Region& region) const {
    const int32_t block =
        moves_on(region.buffer) ? place(region.first - region.rank) : region.first;
    const int32_t before[] = {0, in_, in_ + out_};  // indexed by buffer
    return static_cast<size_t>(before[static_cast<size_t>(region.buffer)]) +
           static_cast<size_t>(block);
  }
  size_t orbits(int32_t tmp_blocks) const {
    return static_cast<size_t>(in_) + static_cast<size_t>(out_) + static_cast<size_t>(tmp_blocks);
  }

 private:
  int32_t ranks_, in_, out_;
};

}  // namespace tutti::plan
