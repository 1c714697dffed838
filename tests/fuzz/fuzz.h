// What the fuzz targets share. A target is a program that libFuzzer feeds with texts, changed at
// random and kept where they reach new code. It reads each as the library would read a user's file,
// and holds what came of it against the promises of the reader's header.
//
// The one thing that a reader may throw is tutti::Error, one line fit for a terminal. Anything else
// ends the program, and libFuzzer writes down the text that did it: another exception, a crash, a
// finding of a sanitizer, a promise not held, too much time or memory. Nothing here outlives one
// input; one thread.
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

inline void hold(bool promise, std::string_view what, std::string_view shown = {}) {
  if (promise) return;
  fprintf(stderr, "not held: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
          static_cast<int>(shown.size()), shown.data());
  abort();
}

inline bool is_control(char c) { return (c >= 0 && c < ' ') || c == 127; }

// Messages quote the text that they refuse, which must neither take over the terminal nor fill it.
inline void hold_message(const Error& error) {
  constexpr size_t longest = 1024;
  const std::string_view message = error.what();
  hold(error.code() != Code::internal, "no text breaks an invariant of the library", message);
  hold(!message.empty() && message.size() <= longest, "a message is one line of a bearable length",
       message);
  hold(std::none_of(message.begin(), message.end(), is_control),
       "a message has no control characters", message);
}

// What the library makes of the text; nothing where it refuses.
template <class Make>
auto taken(Make make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const Error& error) {
    hold_message(error);
    return std::nullopt;
  }
}

// Of what the library wrote or proved itself, which it must not refuse.
template <class Make>
auto surely(Make make, std::string_view what, std::string_view shown) {
  try {
    return make();
  } catch (const Error& error) {
    hold(false, std::string(what) + ": " + error.what(), shown);
    abort();
  }
}

// Whether two plans are one, but for the lines and files that their transfers were written in.
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
