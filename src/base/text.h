// Small pure functions on text that messages need: quoting, numbers of bytes, which name is
// nearest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

// What a user wrote, in quotes, fit for a message of one line: cut when long, control characters as
// '?'.
std::string in_quotes(std::string_view text);

// The fewest insertions, removals and replacements of characters that turn one text into the other.
size_t edit_distance(std::string_view a, std::string_view b);

// As a user writes it for an option: "256K", "1G", "1000".
std::string bytes_as_written(uint64_t bytes);

// As a reader likes it: "32 KiB", "4.9 GiB"; at most one decimal.
std::string readable_bytes(uint64_t bytes);

}  // namespace tutti
