// Scratch memory that outlives a call: it is kept for the next call unless it is large. No state.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::group {

// NUMACol keeps 16 MiB (section 3.2). Less is enough here, because this memory holds only copies of
// users' buffers and never the parts of a tree.
inline constexpr size_t most_kept_scratch = 256 * 1024;

inline void release_scratch(std::vector<std::byte>& memory) {
  if (memory.size() > most_kept_scratch) std::vector<std::byte>().swap(memory);
}

}  // namespace tutti::group
