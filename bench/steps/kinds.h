// The kinds of tutti-threads, and the words of their command lines.
//
// A kind of measurement is a function in a file of its own in this directory, which adds it by a
// constant: const Kind kind("array", measure_array). The function reads its words (argv[0] is its
// name), measures, and adds rows (rows.h). It throws Error(invalid_argument) that names the word at
// fault.
#pragma once

#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti::bench {

// Constants alone are made of it, before main.
struct Kind {
  using Measure = void (*)(int argc, char** argv);
  Kind(const char* name, Measure measure);
};

template <class Number>
Number number_of(std::string_view option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw Error(Code::invalid_argument, std::string(option) + ": '" + std::string(text) +
                                            "' is no number from " + std::to_string(least) +
                                            " to " + std::to_string(most));
  return value;
}

// Numbers with commas between them.
std::vector<size_t> numbers_of(std::string_view option, std::string_view text, size_t least,
                               size_t most);

// Options, each of which must be given once, with a value.
class Options {
 public:
  // `usage` names them, as in "--cores A,B --repetitions N".
  Options(const char* usage, int argc, char** argv);

  const std::string& operator[](const char* option) const { return values_.at(option); }
  // The value of --cores: so many cores at least, each once.
  std::vector<int> cores(size_t least = 1) const;
  // The value of --bytes: the first and the last number.
  std::pair<size_t, size_t> range(size_t least, size_t most) const;
  int number(const char* option, int least, int most) const {
    return number_of(option, values_.at(option), least, most);
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace tutti::bench
