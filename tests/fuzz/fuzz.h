// Functions that the fuzz targets share. A target is a program that libFuzzer feeds with texts,
// which it changes at random and keeps if they reach new code. The target reads each text as the
// library would read a user's file, and checks the result against the promises of the reader's
// header.
//
// A reader may throw only tutti::Error, one line fit for a terminal. Anything else ends the
// program, and libFuzzer writes the text to a file: another exception, a crash, a finding of a
// sanitizer, a broken promise, too much time or memory. No state outlives one input; one thread.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "plan/plan.h"

namespace tutti::fuzz {

// Ends the program if a promise is broken. `what` states the promise, `shown` is the text at fault.
inline void require(bool promise, std::string_view what, std::string_view shown = {}) {
  if (promise) return;
  fprintf(stderr, "broken promise: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
          static_cast<int>(shown.size()), shown.data());
  abort();
}

inline bool is_control(char c) { return (c >= 0 && c < ' ') || c == 127; }

// Messages quote the text that they refuse; it must not control the terminal or fill it.
inline void check_message(const Error& error) {
  constexpr size_t longest = 1024;
  const std::string_view message = error.what();
  require(error.code() != Code::internal, "no text breaks an invariant of the library", message);
  require(!message.empty() && message.size() <= longest,
          "a message is one line of at most 1024 bytes", message);
  require(std::none_of(message.begin(), message.end(), is_control),
          "a message has no control characters", message);
}

// Calls `make`, which reads a text; nothing if the library refuses the text.
template <class Make>
auto if_accepted(Make make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const Error& error) {
    check_message(error);
    return std::nullopt;
  }
}

// Calls `make`, which must not fail: it uses a text that the library has written or a plan that it
// has proved correct.
template <class Make>
auto must_succeed(Make make, std::string_view what, std::string_view shown) {
  try {
    return make();
  } catch (const Error& error) {
    require(false, std::string(what) + ": " + error.what(), shown);
    abort();
  }
}

// True if two plans are the same, apart from the files and lines of their transfers.
inline bool same(const plan::Plan& one, const plan::Plan& other) {
  const auto same_transfer = [](const plan::Transfer& a, const plan::Transfer& b) {
    return a.kind == b.kind && a.push == b.push && a.stage == b.stage && a.dst == b.dst &&
           a.src == b.src && a.any_order == b.any_order;
  };
  return one.collective == other.collective && one.algorithm == other.algorithm &&
         one.ranks == other.ranks && one.root == other.root &&
         one.commutative == other.commutative && one.blocks == other.blocks &&
         one.shape == other.shape &&
         std::equal(one.transfers.begin(), one.transfers.end(), other.transfers.begin(),
                    other.transfers.end(), same_transfer);
}

}  // namespace tutti::fuzz
