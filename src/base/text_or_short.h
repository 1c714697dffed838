// A text for the user at a place that must not fail: a short one if memory has run out.
#pragma once

#include <new>
#include <string>
#include <utility>

namespace tutti {

// make() returns the text, and may throw bad_alloc. The short text fits into the string itself.
template <class Make>
std::string text_or_short(Make&& make) noexcept {
  try {
    return std::forward<Make>(make)();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

}  // namespace tutti
