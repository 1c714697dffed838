// Scratch that outlives a call: kept for the next one, but not where it is large.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::group {

// NUMACol keeps 16 MiB (section 3.2); here only copies of users' buffers are in such memory, never
// a tree's parts.
inline constexpr size_t most_kept_scratch = 256 * 1024;

inline void release_scratch(std::vector<std::byte>& memory) {
  if (memory.size() > most_kept_scratch) std::vector<std::byte>().swap(memory);
}

}  // namespace tutti::group
