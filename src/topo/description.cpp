#include "topo/description.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "topo/shape.h"

namespace tutti::topo {
namespace {

// Splits a text into words at blanks outside of brackets; attributes in brackets may hold blanks.
std::vector<std::string> split_words(const std::string& description) {
  std::vector<std::string> words(1);
  int brackets = 0;
  for (const char c : description) {
    if (c == '(' || c == '[') ++brackets;
    if (c == ')' || c == ']') --brackets;
    if (c == ' ' && brackets <= 0) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

// The count in a word such as "core:8(...)" or "8"; 1 for a word without a count, such as "[numa]".
uint64_t word_count(const std::string& description, const std::string& word) {
  if (word.front() == '[') return 1;
  const std::string_view head = std::string_view(word).substr(0, word.find('('));
  const size_t colon = head.find(':');
  const std::string_view digits = colon == std::string_view::npos ? head : head.substr(colon + 1);
  uint64_t count = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  if (error != std::errc() || rest != digits.data() + digits.size() || count == 0) {
    refuse_description(description, in_quotes(word) + " has no count of 1 or more");
  }
  return count;
}

// Checks that Tutti's levels are in order from the outside in, because hwloc accepts any order and
// then makes trees that the user did not mean. Sockets may also be inside numa regions.
void check_order(const std::string& description, const std::vector<DescriptionWord>& words) {
  static const std::map<std::string, int> order = {
      {"node", 0}, {"socket", 1}, {"numa", 1}, {"cache", 2}, {"core", 3}};
  std::string outer = "node";
  for (const DescriptionWord& word : words) {
    const auto place = order.find(word.level);
    if (place == order.end()) continue;
    if (place->second < order.at(outer))
      refuse_description(description, word.level + " stands inside " + outer);
    outer = word.level;
  }
}

// Levels by their whole names, Tutti's and hwloc's. hwloc takes more abbreviations.
bool is_level(std::string level) {
  for (char& c : level)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  static constexpr std::string_view names[] = {"",         "node",  "socket", "package",
                                               "die",      "group", "numa",   "pu",
                                               "numanode", "cache", "core",   "machine"};
  if (std::find(std::begin(names), std::end(names), level) != std::end(names)) return true;
  if (level.size() < 2 || level[0] != 'l' || level[1] < '1' || level[1] > '5') return false;
  const std::string_view rest = std::string_view(level).substr(2);
  return rest.empty() || rest == "d" || rest == "i" || rest == "u" || rest == "cache" ||
         rest == "dcache" || rest == "icache";
}

}  // namespace

void refuse_description(const std::string& description, const std::string& reason) {
  throw Error(Code::invalid_argument,
              "topology " + in_quotes(description) + ": " + reason +
                  "; write levels from the outside in, such as \"socket:2 numa:2 cache:2 core:4\"");
}

std::vector<DescriptionWord> description_words(const std::string& description) {
  std::vector<DescriptionWord> words;
  for (std::string& word : split_words(description)) {
    const uint64_t count = word_count(description, word);
    std::string level = word.substr(0, word.find_first_of(":("));
    if (level.find_first_not_of("0123456789") == std::string::npos) level.clear();
    words.push_back({std::move(word), std::move(level), count});
  }
  check_order(description, words);
  return words;
}

bool names_file(const std::string& value) {
  return value.find('/') != std::string::npos || value.ends_with(".xml");
}

void check_given(const std::string& value) {
  if (value.empty()) return;
  if (names_file(value)) {
    std::string beginning(1000, '\0');
    std::ifstream file(value);
    file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    if (beginning.find("<topology") != std::string::npos) return;
    throw Error(Code::invalid_argument, "topology file " + in_quotes(value) +
                                            " cannot be read; record one with: lstopo FILE.xml");
  }
  if (!given_shape(value).empty()) return;
  for (const DescriptionWord& word : description_words(value))
    if (word.text.front() != '[' && !is_level(word.level))
      refuse_description(value, in_quotes(word.level) + " is no level of a machine");
}

}  // namespace tutti::topo
