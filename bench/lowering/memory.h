// The memory of this process, which has one thread. Every `new` is counted (memory.cpp); the most
// memory at one time is what Linux tells, because large vectors are not from the allocator.
#pragma once

#include <cstddef>

namespace tutti::bench {

// Bytes allocated now.
size_t held_bytes();

// The most resident bytes since begin_most, beyond those at that time; 0 if Linux does not tell.
void begin_most();
size_t most_more_bytes();

}  // namespace tutti::bench
