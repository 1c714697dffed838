#include "select/map.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "algo/algo.h"
#include "base/error.h"
#include "base/segments.h"
#include "base/text.h"

namespace tutti::select {
namespace {

constexpr std::string_view first_line = "tutti-map 1";
constexpr std::string_view builtin_prefix = "builtin:";
constexpr size_t longest_name = 255;
constexpr std::string_view conditions[] = {"ranks",    "oversubscribed", "reached", "shape",
                                           "clusters", "nodes",          "socket",  "numa",
                                           "cache",    "known",          "sizes",   "root"};

// Earlier maps say `crowded`.
std::string_view standard_word(std::string_view word) {
  return word == "crowded" ? "oversubscribed" : word;
}

constexpr std::pair<std::string_view, ReachChoice> reach_words[] = {{"staged", ReachChoice::staged},
                                                                    {"direct", ReachChoice::direct},
                                                                    {"cma", ReachChoice::cma},
                                                                    {"net", ReachChoice::net}};

// The beginning of an untrusted text, so that it fits into a message.
std::string shown(std::string_view text) { return in_quotes(text.substr(0, 80)); }

// The words of one line, which are taken from left to right.
class Words {
 public:
  Words(std::string_view text, std::string_view name, int32_t line) : name_(name), line_(line) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    for (auto end = text.begin(); end != text.end();) {
      const auto begin = std::find_if_not(end, text.end(), is_space);
      end = std::find_if(begin, text.end(), is_space);
      if (begin != end) words_.emplace_back(begin, end);
    }
  }

  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(Code::invalid_plan,
                std::string(name_) + ":" + std::to_string(line_) + ": " + message);
  }
  bool at_end() const { return next_ == words_.size(); }
  std::string_view peek() const { return at_end() ? std::string_view{} : words_[next_]; }
  std::string_view take(std::string_view what) {
    if (at_end()) refuse("expected " + std::string(what) + ", found the end of the line");
    return words_[next_++];
  }
  void expect_end() const {
    if (!at_end()) refuse("unexpected " + shown(peek()) + " at the end of the line; remove it");
  }

 private:
  std::string_view name_;
  int32_t line_;
  std::vector<std::string_view> words_;
  size_t next_ = 0;
};

std::optional<uint64_t> number_of(std::string_view text, bool with_unit) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number > uint64_t{1} << 62) return std::nullopt;
  if (rest == end) return number;
  const size_t power = std::string_view("KMGkmg").find(*rest);
  if (!with_unit || end - rest != 1 || power == std::string_view::npos) return std::nullopt;
  const uint64_t unit = uint64_t{1} << (10 * (power % 3 + 1));
  if (number > (uint64_t{1} << 62) / unit) return std::nullopt;
  return number * unit;
}

struct Range {
  uint64_t low, high;
};

// "N", "LOW..HIGH", "LOW..", "..HIGH" or "*", within the bounds.
Range range_of(Words& words, std::string_view what, Range bounds, bool with_unit) {
  const auto form = [&] {
    return std::string(what) + (with_unit ? " as 8, 8..64K, 1M.. or *" : " as 8, 2..16, 8.. or *");
  };
  if (words.at_end()) words.take(form());
  const std::string_view text = words.take(what);
  if (text == "*") return bounds;
  const size_t dots = text.find("..");
  const std::string_view low = text.substr(0, dots);
  const std::string_view high = dots == std::string_view::npos ? low : text.substr(dots + 2);
  const bool alone = dots != std::string_view::npos && low.empty() && high.empty();
  Range range = bounds;
  for (const auto& [part, into] : {std::pair(low, &range.low), std::pair(high, &range.high)}) {
    if (part.empty() && dots != std::string_view::npos && !alone) continue;
    const std::optional<uint64_t> number = number_of(part, with_unit);
    if (!number || *number < bounds.low || *number > bounds.high)
      words.refuse("expected " + form() + ", found " + shown(text));
    *into = *number;
  }
  if (range.low > range.high)
    words.refuse("the range " + shown(text) + " is empty; write LOW..HIGH");
  return range;
}

plan::Collective collective_of(Words& words) {
  const std::string_view word = words.take("a collective");
  for (int i = 0; i < plan::collective_count; ++i) {
    if (plan::name(static_cast<plan::Collective>(i)) == word)
      return static_cast<plan::Collective>(i);
  }
  words.refuse("there is no collective " + shown(word) + "; a rule begins with one of " +
               plan::collective_names());
}

topo::Shape shape_of(Words& words) {
  if (words.peek() == "*") {
    words.take("a shape");
    return {};
  }
  std::string text;
  while (words.peek().find(':') != std::string_view::npos)
    text.append(words.take("a shape")).append(" ");
  if (text.empty()) words.refuse("expected a shape such as node:2 core:4, or *, behind shape");
  try {
    return topo::parse_shape(text);
  } catch (const Error& error) {
    words.refuse(error.what());
  }
}

int32_t root_of(Words& words, plan::Collective collective) {
  if (!plan::rooted(collective)) {
    words.refuse("a root, which " + std::string(plan::name(collective)) + " has not; leave it out");
  }
  const std::string_view text = words.take("a root");
  if (text == "*") return any_root;
  const std::optional<uint64_t> root = number_of(text, false);
  if (!root || *root >= plan::max_ranks)
    words.refuse("expected a root, a rank's number or *, found " + shown(text));
  return static_cast<int32_t>(*root);
}

YesNo yes_no_of(Words& words, std::string_view condition) {
  const std::string form = "yes, no or * behind " + std::string(condition);
  const std::string_view text = words.take(form);
  if (text == "*") return YesNo::any;
  if (text != "yes" && text != "no") words.refuse("expected " + form + ", found " + shown(text));
  return text == "yes" ? YesNo::yes : YesNo::no;
}

void count_of(Words& words, std::string_view what, int32_t& low, int32_t& high) {
  const Range range = range_of(words, what, {1, plan::max_ranks}, false);
  low = static_cast<int32_t>(range.low);
  high = static_cast<int32_t>(range.high);
}

void condition(Words& words, Rule& rule) {
  const std::string_view word = words.take("a condition");
  if (word == "ranks") {
    count_of(words, "a number of ranks", rule.ranks_low, rule.ranks_high);
  } else if (word == "clusters") {
    count_of(words, "a number of clusters", rule.clusters_low, rule.clusters_high);
  } else if (word == "nodes") {
    count_of(words, "a number of nodes", rule.nodes_low, rule.nodes_high);
  } else if (word == "socket") {
    count_of(words, "a number of sockets", rule.sockets_low, rule.sockets_high);
  } else if (word == "numa") {
    count_of(words, "a number of numa regions", rule.numa_low, rule.numa_high);
  } else if (word == "cache") {
    count_of(words, "a number of shared caches", rule.caches_low, rule.caches_high);
  } else if (standard_word(word) == "oversubscribed") {
    rule.oversubscribed = yes_no_of(words, word);
  } else if (word == "reached") {
    rule.reached = yes_no_of(words, word);
  } else if (word == "known") {
    rule.known = yes_no_of(words, word);
  } else if (word == "shape") {
    rule.shape = shape_of(words);
  } else if (word == "sizes") {
    if (!plan::has_data(rule.collective)) words.refuse("a barrier has no bytes; leave sizes out");
    const Range range = range_of(words, "sizes", {0, SIZE_MAX}, true);
    rule.bytes_low = range.low;
    rule.bytes_high = range.high;
  } else {
    rule.root = root_of(words, rule.collective);
  }
}

// A name that stays beside the map or below it.
void check_file_name(const Words& words, std::string_view name) {
  const bool kind = name.ends_with(".plan") || name.ends_with(".tree");
  if (!kind) {
    words.refuse(shown(name) +
                 " is no plan; give the name of a .plan or .tree file, or builtin:ALGORITHM");
  }
  const std::string slashed = "/" + std::string(name) + "/";
  if (name.starts_with("/") || slashed.find("/../") != std::string::npos) {
    words.refuse(
        shown(name) +
        " leads out of the map's directory; put the file beside the map and give its name");
  }
}

// Names of algorithms that serve their collective, as earlier rules of the map have shown.
using Served = std::set<std::pair<plan::Collective, std::string_view>>;

void check_algorithm(const Words& words, const Rule& rule, std::string_view name, Served& served) {
  if (!served.emplace(rule.collective, name).second) return;
  try {
    algo::generate(rule.collective, rule.target, 2, 0);
  } catch (const Error& error) {
    words.refuse(error.what());
  }
}

void target(Words& words, Rule& rule, Served& served) {
  const std::string_view name =
      words.take("the name of a .plan or .tree file, or builtin:ALGORITHM, behind ->");
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 127; };
  if (name.size() > longest_name || std::any_of(name.begin(), name.end(), is_control)) {
    words.refuse(shown(name) + " is no name of a plan; it has at most " +
                 std::to_string(longest_name) + " characters, all of which can be printed");
  }
  rule.builtin = name.starts_with(builtin_prefix);
  rule.target = rule.builtin ? name.substr(builtin_prefix.size()) : name;
  if (rule.builtin)
    check_algorithm(words, rule, name, served);
  else
    check_file_name(words, name);
  if (words.peek() == "segment") {
    words.take("segment");
    const std::string_view size = words.take("a number of bytes or halves behind segment");
    const std::optional<uint64_t> bytes = size == segment_halves_word
                                              ? std::optional<uint64_t>(segment_halves)
                                              : number_of(size, true);
    if (!bytes || *bytes < 1)
      words.refuse("expected a number of bytes such as 32K, or halves, behind segment, found " +
                   shown(size));
    rule.segment_bytes = *bytes;
  }
  if (words.peek() == "reach") {
    words.take("reach");
    const std::string_view word = words.take("staged, direct or cma behind reach");
    const auto found = std::find_if(std::begin(reach_words), std::end(reach_words),
                                    [&](const auto& one) { return one.first == word; });
    const bool of_rules = found != std::end(reach_words) && found->second != ReachChoice::net;
    if (!of_rules)
      words.refuse("expected staged, direct or cma behind reach, found " + shown(word));
    rule.reach = found->second;
  }
  words.expect_end();
}

Rule rule_of(Words& words, int32_t line, Served& served) {
  Rule rule;
  rule.line = line;
  rule.collective = collective_of(words);
  std::vector<std::string_view> seen;
  while (words.peek() != "->") {
    const std::string_view word = standard_word(words.peek());
    if (word.empty()) words.refuse("the rule ends without -> and the plan that serves it");
    if (std::find(std::begin(conditions), std::end(conditions), word) == std::end(conditions)) {
      words.refuse("unknown word " + shown(word) +
                   "; conditions are ranks, oversubscribed, reached, shape, clusters, nodes, "
                   "socket, numa, cache, known, sizes and root, then comes ->");
    }
    if (std::find(seen.begin(), seen.end(), word) != seen.end()) {
      words.refuse(shown(word) + " a second time; keep one");
    }
    seen.push_back(word);
    condition(words, rule);
  }
  words.take("->");
  target(words, rule, served);
  return rule;
}

void check_version(Words& words, std::string_view whole) {
  if (words.take("the version") != "tutti-map" || words.at_end()) {
    words.refuse("not a map: expected '" + std::string(first_line) + "', found " + shown(whole));
  }
  const std::string_view version = words.take("the version");
  if (version != "1")
    words.refuse("version " + shown(version) + " of the map format; this Tutti reads version 1");
  words.expect_end();
}

std::string range_text(uint64_t low, uint64_t high, Range bounds) {
  const auto number = [&](uint64_t value) {
    return bounds.low == 0 ? bytes_as_written(value) : std::to_string(value);
  };
  if (low == high) return number(low);
  return (low == bounds.low ? "" : number(low)) + ".." + (high == bounds.high ? "" : number(high));
}

}  // namespace

Map read_map(std::string_view text, std::string_view name) {
  Map map;
  map.name = std::string(name);
  Served served;
  int32_t line = 0;
  bool has_version = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view current = text.substr(0, end);
    current = current.substr(0, current.find('#'));
    text.remove_prefix(std::min(end + 1, text.size()));
    Words words(current, map.name, ++line);
    if (words.at_end()) continue;
    if (!has_version) {
      check_version(words, current);
      has_version = true;
      continue;
    }
    if (map.rules.size() == max_rules)
      words.refuse("more than " + std::to_string(max_rules) + " rules; use fewer, wider ones");
    map.rules.push_back(rule_of(words, line, served));
  }
  if (!has_version) {
    throw Error(Code::invalid_plan, map.name + ":" + std::to_string(std::max(line, 1)) +
                                        ": the text is empty; a map begins with '" +
                                        std::string(first_line) + "'");
  }
  return map;
}

std::string_view reach_word(ReachChoice reach) {
  const auto found = std::find_if(std::begin(reach_words), std::end(reach_words),
                                  [&](const auto& one) { return one.second == reach; });
  return found != std::end(reach_words) ? found->first : std::string_view{};
}

std::string print(const Rule& rule) {
  std::string text{plan::name(rule.collective)};
  const auto count = [&](const char* word, int32_t low, int32_t high) {
    if (low != 1 || high != plan::max_ranks)
      text += word + range_text(low, high, {1, plan::max_ranks});
  };
  const auto yes_no = [&](const char* word, YesNo asked) {
    if (asked != YesNo::any) text.append(word).append(asked == YesNo::yes ? "yes" : "no");
  };
  count(" ranks ", rule.ranks_low, rule.ranks_high);
  yes_no(" oversubscribed ", rule.oversubscribed);
  yes_no(" reached ", rule.reached);
  if (!rule.shape.empty()) text += " shape " + topo::print(rule.shape);
  count(" clusters ", rule.clusters_low, rule.clusters_high);
  count(" nodes ", rule.nodes_low, rule.nodes_high);
  count(" socket ", rule.sockets_low, rule.sockets_high);
  count(" numa ", rule.numa_low, rule.numa_high);
  count(" cache ", rule.caches_low, rule.caches_high);
  yes_no(" known ", rule.known);
  if (rule.bytes_low != 0 || rule.bytes_high != SIZE_MAX) {
    text += " sizes " + range_text(rule.bytes_low, rule.bytes_high, {0, SIZE_MAX});
  }
  if (rule.root != any_root) text += " root " + std::to_string(rule.root);
  text += " -> " + std::string(rule.builtin ? builtin_prefix : "") + rule.target;
  if (rule.segment_bytes != 0) text += " segment " + segment_as_written(rule.segment_bytes);
  if (rule.reach != ReachChoice::automatic) text.append(" reach ").append(reach_word(rule.reach));
  return text;
}

std::string print(const Map& map) {
  std::string text = std::string(first_line) + "\n";
  for (const Rule& rule : map.rules) text += print(rule) + "\n";
  return text;
}

}  // namespace tutti::select
