// The numbers that the tests of the C API pass around. They are pure functions, so any thread can
// compute what any rank must have sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::test {

// Element counts that long runs of calls take in turn.
inline constexpr size_t counts_in_turn[] = {1, 300, 6};

// A value that differs by operation, rank and element, small enough that sums over ranks stay
// exact.
inline int64_t value(int operation, int rank, size_t element) {
  return static_cast<int64_t>((static_cast<uint64_t>(operation) * 1000003u +
                               static_cast<uint64_t>(rank) * 8191u + element * 31u) %
                              100000u);
}

inline int64_t sum(int operation, int ranks, size_t element) {
  int64_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += value(operation, rank, element);
  return total;
}

inline std::vector<int64_t> contribution(int operation, int rank, size_t count) {
  std::vector<int64_t> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(operation, rank, i);
  return data;
}

}  // namespace tutti::test
