#include "placement/world.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tutti::placement {
namespace {

constexpr size_t most_ranks = size_t{1} << 24;  // the most ranks that a text may describe

}  // namespace

// If a node has one cache level, its groups are in the place of the outer of the two caches.
GroupsOnNode groups_on_node(const Levels& levels, int rank) {
  GroupsOnNode groups{};
  size_t next = 0;
  for (const SharedLevel& level : levels.all()) {
    while (next < groups.size() && topo::short_level_name(next) != level.name) ++next;
    if (next == groups.size()) break;
    groups[next++] = level.group_of[static_cast<size_t>(rank)];
  }
  return groups;
}

WorldPlacement::WorldPlacement(std::vector<RankLocation> locations) {
  std::sort(
      locations.begin(), locations.end(),
      [](const RankLocation& one, const RankLocation& other) { return one.rank < other.rank; });
  const auto keep = [&](size_t attribute, auto&& number_of) {
    std::vector<int32_t> numbers;
    numbers.reserve(locations.size());
    for (const RankLocation& location : locations) numbers.push_back(number_of(location));
    of_[attribute] = std::move(numbers);
  };
  keep(at_node, [](const RankLocation& location) { return location.node; });
  keep(at_memory, [](const RankLocation& location) { return location.memory; });
  keep(at_oversubscribed, [](const RankLocation& location) { return location.oversubscribed; });
  keep(at_cluster, [](const RankLocation& location) { return location.cluster; });
  for (size_t level = 0; level < topo::unit_level_names.size(); ++level) {
    keep(at_groups + level,
         [level](const RankLocation& location) { return location.groups[level]; });
  }
}

std::vector<int32_t> WorldPlacement::numbers(size_t attribute,
                                             const std::vector<int>& ranks) const {
  std::vector<int32_t> numbers;
  numbers.reserve(ranks.size());
  for (const int rank : ranks) numbers.push_back(of_[attribute][static_cast<size_t>(rank)]);
  return numbers;
}

Nodes WorldPlacement::nodes(const std::vector<int>& ranks) const {
  return Nodes(numbers(at_memory, ranks));
}

Levels WorldPlacement::levels(const std::vector<int>& ranks) const {
  std::vector<int32_t> clusters = numbers(at_cluster, ranks), nodes = machine_nodes(ranks);
  // If each node is a cluster of its own, clusters add nothing to nodes.
  const bool near = Nodes(clusters).count() < Nodes(nodes).count();
  std::vector<SharedLevel> levels;
  if (near) levels.push_back({"cluster", std::move(clusters), 1});
  levels.push_back({"node", std::move(nodes), 1});
  for (size_t i = 0; i < topo::unit_level_names.size(); ++i) {
    levels.push_back({topo::short_level_name(i), numbers(at_groups + i, ranks), 1});
  }
  return Levels(std::move(levels));
}

bool WorldPlacement::oversubscribed(const std::vector<int>& ranks) const {
  const PeriodicRow& oversubscribed = of_[at_oversubscribed];
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](int rank) { return oversubscribed[static_cast<size_t>(rank)] != 0; });
}

std::string WorldPlacement::text() const {
  std::string text;
  for (const PeriodicRow& row : of_) text.append(text.empty() ? "" : " ").append(row.text());
  return text;
}

WorldPlacement WorldPlacement::read(std::string_view text) {
  WorldPlacement placement;
  for (PeriodicRow& row : placement.of_) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::optional<PeriodicRow> read = PeriodicRow::read(word, most_ranks);
    if (read) row = *read;
    if (row.empty() || row.size() != placement.of_.front().size() ||
        (&row == &placement.of_.back() && !text.empty()))
      throw Error(Code::internal,
                  "the first rank of a node has sent a placement of all ranks that is malformed");
  }
  return placement;
}

size_t WorldPlacement::bytes() const {
  size_t bytes = 0;
  for (const PeriodicRow& row : of_) bytes += row.bytes();
  return bytes;
}

}  // namespace tutti::placement
