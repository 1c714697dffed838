// What this process, of one thread, has asked of the allocator: every `new` is counted
// (memory.cpp).
#pragma once

#include <cstddef>

namespace tutti::bench {

// Bytes now, and the most at one time since begin_most.
size_t held_bytes();
size_t most_held_bytes();
void begin_most();

}  // namespace tutti::bench
