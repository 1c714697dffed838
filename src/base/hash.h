// A hash of texts that is the same in every process, so that ranks can compare the texts that they
// have read. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

inline constexpr uint64_t hash_of_nothing = 0xcbf29ce484222325u;

// Adds a text to the hash of the texts before it (FNV-1a).
inline uint64_t hashed(uint64_t hash, std::string_view text) {
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return (hash ^ 0xff) * 0x100000001b3u;
}

}  // namespace tutti
