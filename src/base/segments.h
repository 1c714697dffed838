// A segment size that depends on the message: half of it. Rules, variables and calls may give it
// instead of a number of bytes (exec/executor.h says how the executor treats it). Its value is a
// number of bytes that no message has. Constants; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace tutti {

inline constexpr size_t segment_halves = SIZE_MAX;
inline constexpr std::string_view segment_halves_word = "halves";

// The text that rules and variables have for a segment size.
inline std::string segment_as_written(size_t bytes) {
  return bytes == segment_halves ? std::string(segment_halves_word) : bytes_as_written(bytes);
}

}  // namespace tutti
