// The memory that this process, of one thread, has requested from the allocator. Every `new` is
// counted (memory.cpp).
#pragma once

#include <cstddef>

namespace tutti::bench {

// Bytes allocated now, and the most at one time since begin_most.
size_t held_bytes();
size_t most_held_bytes();
void begin_most();

}  // namespace tutti::bench
