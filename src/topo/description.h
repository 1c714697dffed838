// Descriptions of a machine as users write them in TUTTI_TOPOLOGY and on command lines: levels and
// counts from the outside in, with the words and attributes that hwloc knows, too. Functions of
// their arguments, except that check_given reads the file that it is given; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::topo {

// "core:8(indexes=...)": the whole word, its level ("" where hwloc chooses one) and its count,
// which is 1 for a word in brackets.
struct DescriptionWord {
  std::string text;
  std::string level;
  uint64_t count;
};

// The words of a description. Throws Error(invalid_argument) for a word without a count, and for
// levels that are in the wrong order.
std::vector<DescriptionWord> description_words(const std::string& description);

[[noreturn]] void refuse_description(const std::string& description, const std::string& reason);

// True if a value of TUTTI_TOPOLOGY names a file: it has a slash, or ends in .xml.
bool names_file(const std::string& value);

// Throws Error(invalid_argument), one line with the value and a remedy, unless a value of
// TUTTI_TOPOLOGY is empty, the text of a shape, a description or the name of a recorded tree.
void check_given(const std::string& value);

}  // namespace tutti::topo
