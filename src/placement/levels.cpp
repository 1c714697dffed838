#include "placement/levels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tutti::placement {
namespace {

constexpr int32_t unknown = -1;
constexpr size_t most_ranks = size_t{1} << 20;  // the most ranks that a text may describe
constexpr std::string_view known_word = "known";

// One level inside another. Ranks are together if they are together on both; groups are numbered in
// the order of their first ranks.
SharedLevel within(const SharedLevel& outer, const SharedLevel& found) {
  const std::vector<int32_t> outside = outer.group_of.values();
  std::vector<int32_t> group_of = found.group_of.values();
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers;
  for (size_t rank = 0; rank < group_of.size(); ++rank) {
    const auto key = std::pair(outside[rank], group_of[rank]);
    group_of[rank] = numbers.emplace(key, static_cast<int32_t>(numbers.size())).first->second;
  }
  return {found.name, std::move(group_of), static_cast<int32_t>(numbers.size())};
}

// True if the numa level divides the ranks as the socket level before it does, by its own groups
// and not only because it is inside that level.
bool sockets_are_regions(const std::vector<SharedLevel>& levels, const SharedLevel& whole,
                         const SharedLevel& found) {
  if (found.name != "numa" || levels.empty() || levels.back().name != "socket") return false;
  const SharedLevel& outer = levels.size() > 1 ? levels[levels.size() - 2] : whole;
  return within(outer, found).groups == levels.back().groups;
}

std::string text_of(const std::vector<SharedLevel>& levels) {
  std::string text;
  for (const SharedLevel& level : levels) {
    text.append(text.empty() ? "" : " ")
        .append(level.name)
        .append(":")
        .append(level.group_of.text());
  }
  return text;
}

// Ranks of a world whose levels are unknown count as being in one group of each.
bool go_down_to_cores(const std::vector<SharedLevel>& found) {
  if (found.empty() || found.back().name != "core") return false;
  const std::vector<int32_t> cores = found.back().group_of.values();
  return std::adjacent_find(cores.begin(), cores.end(), std::not_equal_to<>()) != cores.end();
}

// The group in which all units of a binding are on one level; `unknown` if they are in several.
int32_t common_group(const std::vector<int>& bound, const topo::MachineUnits& units, size_t level) {
  int32_t common = unknown;
  for (size_t i = 0; i < bound.size(); ++i) {
    const auto found = units.find(bound[i]);
    if (found == units.end() || (i > 0 && found->second[level] != common)) return unknown;
    common = found->second[level];
  }
  return common;
}

// True if the units of all bindings are in one socket, and no cache inside it is smaller than a
// numa region. Then one link serves all ranks, wherever they run.
bool share_one_link(const std::vector<std::vector<int>>& bindings,
                    const topo::MachineUnits& units) {
  std::array<std::set<int32_t>, topo::unit_level_names.size()> groups;
  for (size_t rank = 0; rank < bindings.size(); ++rank) {
    if (rank > 0 && bindings[rank] == bindings[rank - 1]) continue;
    for (const int unit : bindings[rank]) {
      const auto found = units.find(unit);
      if (found == units.end()) return false;
      for (size_t level = 0; level < groups.size(); ++level)
        groups[level].insert(found->second[level]);
    }
  }
  using topo::LevelAt;
  const size_t regions = groups[LevelAt::at_numa].size();
  return groups[LevelAt::at_socket].size() == 1 && groups[LevelAt::at_core].size() > 1 &&
         groups[LevelAt::at_inner_socket].size() <= regions &&
         groups[LevelAt::at_l3].size() <= regions && groups[LevelAt::at_l2].size() <= regions;
}

}  // namespace

Levels::Levels(std::vector<SharedLevel> found) : Levels(std::move(found), false) {}

Levels::Levels(std::vector<SharedLevel> found, bool known)
    : known_(known || go_down_to_cores(found)) {
  for (SharedLevel& level : found) {
    const size_t ranks = level.group_of.size();
    const SharedLevel whole{{}, std::vector<int32_t>(ranks, 0), 1};
    const SharedLevel& outer = levels_.empty() ? whole : levels_.back();
    SharedLevel nested = within(outer, level);
    if (nested.groups == outer.groups && sockets_are_regions(levels_, whole, level))
      levels_.back().name = "numa";
    if (nested.groups == outer.groups || nested.groups == static_cast<int32_t>(ranks)) continue;
    levels_.push_back(std::move(nested));
  }
  contents_ = text_of(levels_);
}

std::string Levels::text() const {
  if (!known_) return contents_;
  return (contents_.empty() ? "" : contents_ + " ") + std::string(known_word);
}

int32_t Levels::groups(std::string_view name) const {
  int32_t groups = 1;
  for (const SharedLevel& level : levels_) {
    if (level.name == name) groups = level.groups;
  }
  return groups;
}

bool Levels::in_rank_order() const {
  // Groups are numbered by their first ranks, so in rank order the numbers never fall.
  return std::all_of(levels_.begin(), levels_.end(), [](const SharedLevel& level) {
    const std::vector<int32_t> group_of = level.group_of.values();
    return std::is_sorted(group_of.begin(), group_of.end());
  });
}

Levels Levels::of(const std::vector<int>& ranks) const {
  std::vector<SharedLevel> chosen;
  for (const SharedLevel& level : levels_) {
    std::vector<int32_t> group_of;
    for (const int rank : ranks) group_of.push_back(level.group_of[static_cast<size_t>(rank)]);
    chosen.push_back({level.name, std::move(group_of), 1});
  }
  return {std::move(chosen), known_};
}

Levels levels_of(const std::vector<std::vector<int>>& bindings, const topo::MachineUnits& units) {
  std::vector<SharedLevel> levels;
  for (size_t at = 0; at < topo::unit_level_names.size(); ++at) {
    std::vector<int32_t> group_of;
    for (const std::vector<int>& bound : bindings) {
      const int32_t group = common_group(bound, units, at);
      if (group == unknown) return {std::move(levels), share_one_link(bindings, units)};
      group_of.push_back(group);
    }
    levels.push_back({topo::short_level_name(at), std::move(group_of), 1});
  }
  return Levels(std::move(levels));
}

Levels levels_of_bound(const std::vector<std::vector<int>>& bindings, const std::string& given,
                       const std::string& system) {
  if (bindings.size() > 1 &&
      std::adjacent_find(bindings.begin(), bindings.end(), std::not_equal_to<>()) == bindings.end())
    return levels_of_bound({bindings.front()}, given, system);
  const topo::Shape shape = topo::given_shape(given);
  if (!shape.empty()) return levels_of(bindings, topo::machine_units(shape));
  std::set<int> units;
  for (const std::vector<int>& bound : bindings) units.insert(bound.begin(), bound.end());
  return levels_of(bindings, topo::machine_units_of_system({units.begin(), units.end()}, system));
}

Levels read_levels(std::string_view text) {
  std::vector<SharedLevel> levels;
  const auto refuse = [&] {
    throw Error(Code::invalid_argument,
                "levels " + in_quotes(text.substr(0, 80)) +
                    ": write each as NAME:GROUP,GROUP,... with a number for every rank");
  };
  bool known = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word == known_word && rest.empty()) {
      known = true;
      break;
    }
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0) refuse();
    const std::optional<PeriodicRow> group_of =
        PeriodicRow::read(word.substr(colon + 1), most_ranks);
    if (!group_of || group_of->empty()) refuse();
    const std::vector<int32_t> groups = group_of->values();
    if (*std::min_element(groups.begin(), groups.end()) < 0) refuse();
    if (!levels.empty() && groups.size() != levels.back().group_of.size()) refuse();
    levels.push_back({std::string(word.substr(0, colon)), *group_of, 1});
  }
  return {std::move(levels), known};
}

}  // namespace tutti::placement
