// The limits from which a writer's plain stores into a slot count as slow (exec/slot_stores.h).
// Constants, which the model asks, too.
#pragma once

#include <cstddef>

namespace tutti::exec {

// A plain copy that takes longer a line is slow. A line that goes past the cache costs about as
// much in all: at the writer, and at the reader, which fetches it from memory.
inline constexpr double slow_nanoseconds = 10;
inline constexpr size_t stored_line = 64;    // bytes
inline constexpr size_t least_timed = 4096;  // bytes of a plain copy that is timed

}  // namespace tutti::exec
