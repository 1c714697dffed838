// Maps: a map that can be read is printed and read back the same, and no rule names a file outside
// the map's directory.
#include <cstdint>
#include <filesystem>

#include "algo/algo.h"
#include "fuzz.h"
#include "select/map.h"

namespace tutti::fuzz {
namespace {

using select::Map;
using select::Rule;

void check_rule(const Rule& rule) {
  const std::string text = select::print(rule);
  require(text.find('\n') == std::string::npos, "a rule is one line", text);
  require(1 <= rule.ranks_low && rule.ranks_low <= rule.ranks_high &&
              rule.ranks_high <= plan::max_ranks,
          "a rule's ranks are a range within the bounds", text);
  require(rule.bytes_low <= rule.bytes_high, "a rule's sizes are a range", text);
  if (rule.builtin) {
    must_succeed([&] { return algo::generate(rule.collective, rule.target, 2, 0); },
                 "a built-in algorithm serves its rule", text);
    return;
  }
  require(std::none_of(rule.target.begin(), rule.target.end(), is_control),
          "a file's name can be printed", text);
  const std::filesystem::path path = std::filesystem::path(rule.target).lexically_normal();
  require(path.is_relative() && *path.begin() != "..",
          "a file is in the map's directory or below it", text);
}

void run(std::string_view text) {
  const auto map = if_accepted([&] { return select::read_map(text, "fuzzed.map"); });
  if (!map) return;
  require(map->rules.size() <= select::max_rules, "the number of rules is bounded");
  for (const Rule& rule : map->rules) check_rule(rule);
  const std::string printed = select::print(*map);
  const Map again = must_succeed([&] { return select::read_map(printed); },
                                 "a printed text can be read back", printed);
  require(again.rules.size() == map->rules.size(), "a printed map has as many rules", printed);
  for (size_t i = 0; i < again.rules.size(); ++i) {
    Rule rule = again.rules[i];
    rule.line = map->rules[i].line;
    require(rule == map->rules[i], "a printed text reads back the same", printed);
  }
}

}  // namespace
}  // namespace tutti::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tutti::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
