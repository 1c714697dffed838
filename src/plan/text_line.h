// A reader of one line of a plan's text, from left to right. It holds the line's place in the text,
// for messages. Internal to src/plan. It views the text, which must outlive it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/fault.h"

namespace tutti::plan {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Untrusted text for a message: shortened, and on one line.
inline std::string quoted(std::string_view text) {
  constexpr size_t shown = 40;
  std::string result = "'";
  for (char c : text.substr(0, shown)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > shown ? "...'" : "'");
}

class Line {
 public:
  Line(std::string_view text, std::string place) : rest_(text), place_(std::move(place)) {
    skip_spaces();
  }

  [[noreturn]] void refuse(const std::string& message) const {
    tutti::plan::refuse(place_, message);
  }

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  const std::string& place() const { return place_; }

  std::string_view word() {
    size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    skip_spaces();
    return found;
  }

  // Takes `symbol` if it comes next.
  bool take(std::string_view symbol) {
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    skip_spaces();
    return true;
  }

  // Takes the next word if it is `expected`.
  bool take_word(std::string_view expected) {
    const bool longer = rest_.size() > expected.size() && is_word(rest_[expected.size()]);
    return !longer && take(expected);
  }

  void expect(std::string_view symbol, std::string_view after) {
    if (take(symbol)) return;
    refuse("expected '" + std::string(symbol) + "' after " + std::string(after) + ", found " +
           what_is_next());
  }

  int32_t number(std::string_view what) {
    size_t length = 0;
    while (length < rest_.size() && is_digit(rest_[length])) ++length;
    if (length == 0) {
      refuse("expected " + std::string(what) + ", a whole number of at least 0, found " +
             what_is_next());
    }
    int32_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + length, value);
    if (error != std::errc()) {
      refuse(std::string(what) + " " + quoted(rest_.substr(0, length)) +
             " is too large; at most 2147483647");
    }
    rest_.remove_prefix(length);
    skip_spaces();
    return value;
  }

  void expect_end() const {
    if (!at_end()) refuse("unexpected " + quoted(rest_) + " at the end of the line; remove it");
  }

  std::string what_is_next() const { return at_end() ? "the end of the line" : quoted(rest_); }

 private:
  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string place_;
};

// The lines of a text, without comments and without blanks at their ends. It views the text and its
// name.
class Lines {
 public:
  Lines(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool next() {
    if (text_.empty()) return false;
    const size_t end = std::min(text_.find('\n'), text_.size());
    current_ = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    current_ = current_.substr(0, current_.find('#'));
    while (!current_.empty() && is_space(current_.back())) current_.remove_suffix(1);
    ++number_;
    return true;
  }

  std::string_view name() const { return name_; }
  int32_t number() const { return number_; }  // the number, from 1, of the line that next() found
  Line line() const { return Line(current_, place()); }
  std::string place() const { return place(number_); }
  std::string place(int32_t number) const {
    return std::string(name_) + ":" + std::to_string(std::max(number, 1));
  }

 private:
  std::string_view text_, name_, current_;
  int32_t number_ = 0;
};

// The first line of a text of this kind, "tutti-KIND 1".
inline void expect_version(Line& line, const std::string& kind) {
  const std::string first_word = "tutti-" + kind;
  const std::string_view whole = line.rest();
  const bool is_kind = line.word() == first_word && !line.at_end();
  if (!is_kind)
    line.refuse("not a " + kind + ": expected '" + first_word + " 1', found " + quoted(whole));
  const int32_t number = line.number("the version");
  if (number != 1) {
    line.refuse("version " + std::to_string(number) + " of the " + kind +
                " format; this Tutti reads version 1");
  }
  line.expect_end();
}

}  // namespace tutti::plan
