// The contents of users' files: read with a bound, and hashed so that ranks can tell whether they
// read the same.
//
// Stateless; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::select {

inline constexpr size_t max_file_bytes = size_t{64} << 20;
inline constexpr uint64_t hash_of_nothing = 0xcbf29ce484222325u;

// The text of a regular file. Throws Error naming the file, what is wrong and, where it is not
// there, `remedy`.
std::string read_file(const std::string& path, std::string_view remedy);

// `hash`, and this text behind what it was of: the same in every process.
uint64_t hashed(uint64_t hash, std::string_view text);

}  // namespace tutti::select
