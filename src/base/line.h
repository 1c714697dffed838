// The sizes of a line, the unit in which the layout, the programs' geometry and the executor count
// shared memory, and how a size is rounded up to a unit. Pure; any thread.
#pragma once

#include <cstddef>

namespace tutti {

inline constexpr size_t line_size = 128;    // bytes that adjacent-line prefetchers fetch together
inline constexpr size_t line_payload = 48;  // stamp, call and payload share one 64-byte cache line

inline constexpr size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace tutti
