// Small pure functions on text that messages need: quotes, numbers of bytes, the nearest name. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace tutti {

// A user's text for a message of one line: control characters, and bytes that are no UTF-8, become
// '?'.
std::string printable(std::string_view text);

// The same in quotes; a long text is cut.
std::string in_quotes(std::string_view text);

// The least number of insertions, removals and replacements of characters that turn one text into
// the other.
size_t edit_distance(std::string_view a, std::string_view b);

// The numbers of a list such as "0-3,8", at least 0; empty if the list is malformed.
std::set<int> numbers_of(std::string_view list);

// The same list of some numbers, which are ascending: "0-3,8".
std::string list_of(const std::set<int>& numbers);

// A number of bytes in the form of an option's value: "256K", "1G", "1000".
std::string bytes_as_written(uint64_t bytes);

// A number of bytes for readers: "32 KiB", "4.9 GiB"; at most one decimal.
std::string readable_bytes(uint64_t bytes);

}  // namespace tutti
