#include "topo/levels.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tutti::topo {
namespace {

constexpr int32_t unknown = -1;

// Numbers groups in the order of their first ranks; ranks are together where they are on both floors.
Floor within(const Floor& outer, const Floor& found) {
  Floor floor{found.name, std::vector<int32_t>(found.group_of.size()), 0};
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers;
  for (size_t rank = 0; rank < found.group_of.size(); ++rank) {
    const auto key = std::pair(outer.group_of[rank], found.group_of[rank]);
    floor.group_of[rank] = numbers.emplace(key, static_cast<int32_t>(numbers.size())).first->second;
  }
  floor.groups = static_cast<int32_t>(numbers.size());
  return floor;
}

// Whether a numa floor tells the same ranks apart as the socket's before it does, and not because it is inside.
bool sockets_are_regions(const std::vector<Floor>& floors, const Floor& whole, const Floor& found) {
  if (found.name != "numa" || floors.empty() || floors.back().name != "socket") return false;
  const Floor& outer = floors.size() > 1 ? floors[floors.size() - 2] : whole;
  return within(outer, found).groups == floors.back().groups;
}

std::string text_of(const std::vector<Floor>& floors) {
  std::string text;
  for (const Floor& floor : floors) {
    text.append(text.empty() ? "" : " ").append(floor.name);
    for (size_t rank = 0; rank < floor.group_of.size(); ++rank) {
      text.append(rank == 0 ? ":" : ",").append(std::to_string(floor.group_of[rank]));
    }
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

std::string short_name(std::string_view floor) { return std::string(floor.substr(0, floor.find(' '))); }

}  // namespace

Levels::Levels(std::vector<Floor> found) {
  for (Floor& floor : found) {
    const size_t ranks = floor.group_of.size();
    const Floor whole{{}, std::vector<int32_t>(ranks, 0), 1};
    const Floor& outer = floors_.empty() ? whole : floors_.back();
    Floor nested = within(outer, floor);
    if (nested.groups == outer.groups && sockets_are_regions(floors_, whole, floor)) floors_.back().name = "numa";
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
  return std::all_of(floors_.begin(), floors_.end(),
                     [](const Floor& floor) { return std::is_sorted(floor.group_of.begin(), floor.group_of.end()); });
}

Levels Levels::of(const std::vector<int>& ranks) const {
  std::vector<Floor> chosen;
  for (const Floor& floor : floors_) {
    Floor& part = chosen.emplace_back(Floor{floor.name, {}, 1});
    for (const int rank : ranks) part.group_of.push_back(floor.group_of.at(static_cast<size_t>(rank)));
  }
  return Levels(std::move(chosen));
}

Levels levels_of(const std::vector<std::vector<int>>& bindings, const Places& places) {
  std::vector<Floor> floors;
  for (size_t at = 0; at < floor_names.size(); ++at) {
    Floor floor{short_name(floor_names[at]), {}, 1};
    for (const std::vector<int>& units : bindings) {
      const int32_t place = common_place(units, places, at);
      if (place == unknown) return Levels(std::move(floors));
      floor.group_of.push_back(place);
    }
    floors.push_back(std::move(floor));
  }
  return Levels(std::move(floors));
}

Levels read_levels(std::string_view contents) {
  std::vector<Floor> floors;
  const auto refuse = [&] {
    throw Error(Code::invalid_argument, "levels " + in_quotes(contents.substr(0, 80)) +
                                            ": write each as NAME:GROUP,GROUP,... with a number for every rank");
  };
  for (std::string_view rest = contents; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0) refuse();
    Floor floor{std::string(word.substr(0, colon)), {}, 1};
    const char* at = word.data() + colon;
    const char* const end = word.data() + word.size();
    while (at != end) {
      int32_t group = 0;
      const auto [next, error] = std::from_chars(at + 1, end, group);
      if (error != std::errc() || group < 0 || (next != end && *next != ',')) refuse();
      floor.group_of.push_back(group);
      at = next;
    }
    if (!floors.empty() && floor.group_of.size() != floors.back().group_of.size()) refuse();
    floors.push_back(std::move(floor));
  }
  return Levels(std::move(floors));
}

}  // namespace tutti::topo
