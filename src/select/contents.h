// Reads users' files, up to a bound. Stateless; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::select {

inline constexpr size_t max_file_bytes = size_t{64} << 20;

// Returns the text of a regular file. Throws Error with the file's name and what is wrong; if the
// file is missing, also with `remedy`.
std::string read_file(const std::string& path, std::string_view remedy);

}  // namespace tutti::select
