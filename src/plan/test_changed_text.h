// A text with bytes changed at random, for tests of readers of untrusted text. The same seed gives
// the same changes.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"

namespace tutti::plan {

class ChangedText {
 public:
  // Changes, inserts and removes bytes of the example; new bytes are of the alphabet.
  ChangedText(std::string example, std::string alphabet, uint64_t seed)
      : example_(std::move(example)), alphabet_(std::move(alphabet)), random_(seed) {}

  std::string next() {
    std::string text = example_;
    for (uint64_t changes = 1 + random_() % 4; changes > 0; --changes) {
      const size_t at = random_() % text.size();
      switch (random_() % 3) {
        case 0: text[at] = letter(); break;
        case 1: text.erase(at, 1 + random_() % 5); break;
        case 2: text.insert(at, 1, letter()); break;
      }
    }
    return text;
  }

  // Passes 20000 changed texts to `read`, which either reads the text and asserts the properties of
  // the result, or throws Error. Expects that the message of each Error is one line that starts
  // with the name and the number of a line, and that more than `more_than` texts are read.
  template <class Read>
  void expect_read_or_refused(const std::string& name, int more_than, Read read) {
    int read_well = 0;
    for (int round = 0; round < 20000; ++round) {
      const std::string text = next();
      try {
        read(text);
        ++read_well;
      } catch (const Error& error) {
        const std::string message = error.what();
        ASSERT_TRUE(message.starts_with(name + ":")) << message << "\n" << text;
        ASSERT_TRUE(std::isdigit(static_cast<unsigned char>(message[name.size() + 1])))
            << message << "\n"
            << text;
        ASSERT_EQ(message.find('\n'), std::string::npos);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(read_well, more_than);
  }

 private:
  char letter() { return alphabet_[random_() % alphabet_.size()]; }

  const std::string example_;
  const std::string alphabet_;
  std::mt19937_64 random_;
};

}  // namespace tutti::plan
