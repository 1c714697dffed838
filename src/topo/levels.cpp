#include "topo/levels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tutti::topo {
namespace {

constexpr int32_t unknown = -1;
constexpr size_t most_ranks = size_t{1} << 20;  // that a text may tell of

// Numbers groups in the order of their first ranks; ranks are together where they are on both
// floors.
Floor within(const Floor& outer, const Floor& found) {
  const std::vector<int32_t> outside = outer.group_of.values();
  std::vector<int32_t> group_of = found.group_of.values();
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers;
  for (size_t rank = 0; rank < group_of.size(); ++rank) {
    const auto key = std::pair(outside[rank], group_of[rank]);
    group_of[rank] = numbers.emplace(key, static_cast<int32_t>(numbers.size())).first->second;
  }
  return {found.name, group_of, static_cast<int32_t>(numbers.size())};
}

// Whether a numa floor tells the same ranks apart as the socket's before it does, and not because
// it is inside.
bool sockets_are_regions(const std::vector<Floor>& floors, const Floor& whole, const Floor& found) {
  if (found.name != "numa" || floors.empty() || floors.back().name != "socket") return false;
  const Floor& outer = floors.size() > 1 ? floors[floors.size() - 2] : whole;
  return within(outer, found).groups == floors.back().groups;
}

std::string text_of(const std::vector<Floor>& floors) {
  std::string text;
  for (const Floor& floor : floors) {
    text.append(text.empty() ? "" : " ")
        .append(floor.name)
        .append(":")
        .append(floor.group_of.text());
  }
  return text;
}

// Where all units of a binding are on one floor.
int32_t common_place(const std::vector<int>& units, const Places& places, size_t floor) {
  int32_t common = unknown;
  for (size_t i = 0; i < units.size(); ++i) {
    const auto found = places.find(units[i]);
    if (found == places.end() || (i > 0 && found->second[floor] != common)) return unknown;
    common = found->second[floor];
  }
  return common;
}

std::string short_name(std::string_view floor) {
  return std::string(floor.substr(0, floor.find(' ')));
}

}  // namespace

Levels::Levels(std::vector<Floor> found) {
  for (Floor& floor : found) {
    const size_t ranks = floor.group_of.size();
    const Floor whole{{}, std::vector<int32_t>(ranks, 0), 1};
    const Floor& outer = floors_.empty() ? whole : floors_.back();
    Floor nested = within(outer, floor);
    if (nested.groups == outer.groups && sockets_are_regions(floors_, whole, floor))
      floors_.back().name = "numa";
    if (nested.groups == outer.groups || nested.groups == static_cast<int32_t>(ranks)) continue;
    floors_.push_back(std::move(nested));
  }
  contents_ = text_of(floors_);
}

int32_t Levels::groups(std::string_view name) const {
  int32_t groups = 1;
  for (const Floor& floor : floors_) {
    if (floor.name == name) groups = floor.groups;
  }
  return groups;
}

bool Levels::in_rank_order() const {
  // Groups are numbered by their first ranks, so in rank order the numbers never fall.
  return std::all_of(floors_.begin(), floors_.end(), [](const Floor& floor) {
    const std::vector<int32_t> group_of = floor.group_of.values();
    return std::is_sorted(group_of.begin(), group_of.end());
  });
}

Levels Levels::of(const std::vector<int>& ranks) const {
  std::vector<Floor> chosen;
  for (const Floor& floor : floors_) {
    std::vector<int32_t> group_of;
    for (const int rank : ranks) group_of.push_back(floor.group_of[static_cast<size_t>(rank)]);
    chosen.push_back({floor.name, group_of, 1});
  }
  return Levels(std::move(chosen));
}

Levels levels_of(const std::vector<std::vector<int>>& bindings, const Places& places) {
  std::vector<Floor> floors;
  for (size_t at = 0; at < floor_names.size(); ++at) {
    std::vector<int32_t> group_of;
    for (const std::vector<int>& units : bindings) {
      const int32_t place = common_place(units, places, at);
      if (place == unknown) return Levels(std::move(floors));
      group_of.push_back(place);
    }
    floors.push_back({short_name(floor_names[at]), group_of, 1});
  }
  return Levels(std::move(floors));
}

Levels read_levels(std::string_view contents) {
  std::vector<Floor> floors;
  const auto refuse = [&] {
    throw Error(Code::invalid_argument,
                "levels " + in_quotes(contents.substr(0, 80)) +
                    ": write each as NAME:GROUP,GROUP,... with a number for every rank");
  };
  for (std::string_view rest = contents; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0) refuse();
    const std::optional<Repeated> group_of = Repeated::read(word.substr(colon + 1), most_ranks);
    if (!group_of || group_of->empty()) refuse();
    const std::vector<int32_t> groups = group_of->values();
    if (*std::min_element(groups.begin(), groups.end()) < 0) refuse();
    if (!floors.empty() && groups.size() != floors.back().group_of.size()) refuse();
    floors.push_back({std::string(word.substr(0, colon)), *group_of, 1});
  }
  return Levels(std::move(floors));
}

}  // namespace tutti::topo
