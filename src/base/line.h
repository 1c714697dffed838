// The sizes of a line, the unit in which the layout, the programs' geometry and the executor count
// shared memory. Constants; any thread.
#pragma once

#include <cstddef>

namespace tutti {

inline constexpr size_t line_size = 128;    // bytes that adjacent-line prefetchers fetch together
inline constexpr size_t line_payload = 48;  // stamp, call and payload share one 64-byte cache line

}  // namespace tutti
