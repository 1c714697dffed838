// The places of a process's groups that are free, at most 63. A plain value, which takes no memory,
// so that places can be given back when memory has run out.
#pragma once

#include <bit>
#include <cstdint>

namespace tutti::mpi {

class FreePlaces {
 public:
  // The places from 0 to count - 1 are free.
  void add(int count) { free_ |= (uint64_t{1} << count) - 1; }
  bool any() const { return free_ != 0; }
  // The lowest one; some must be free.
  int take() {
    const int place = std::countr_zero(free_);
    free_ &= free_ - 1;
    return place;
  }
  // Has no effect if `place` is negative.
  void give(int place) {
    if (place >= 0) free_ |= uint64_t{1} << place;
  }

 private:
  uint64_t free_ = 0;
};

}  // namespace tutti::mpi
