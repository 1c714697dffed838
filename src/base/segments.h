// A size of segments that hangs on the message: halves of it. In the place of a number of bytes,
// wherever a rule, a variable or a call says how long messages are cut (executor.h has what becomes
// of it). A number no message has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace tutti {

inline constexpr size_t segment_halves = SIZE_MAX;
inline constexpr std::string_view segment_halves_word = "halves";

// As rules and variables write it.
inline std::string segment_as_written(size_t bytes) {
  return bytes == segment_halves ? std::string(segment_halves_word) : bytes_as_written(bytes);
}

}  // namespace tutti
