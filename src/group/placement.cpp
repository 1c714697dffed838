#include "group/placement.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tutti::group {
namespace {

constexpr size_t most_ranks = size_t{1} << 24;  // that a text may tell of

}  // namespace

Placement::Placement(std::vector<Place> places) {
  std::sort(places.begin(), places.end(),
            [](const Place& one, const Place& other) { return one.rank < other.rank; });
  const auto keep = [&](size_t attribute, auto&& number_of) {
    std::vector<int32_t> numbers;
    numbers.reserve(places.size());
    for (const Place& place : places) numbers.push_back(number_of(place));
    of_[attribute] = numbers;
  };
  keep(at_node, [](const Place& place) { return place.node; });
  keep(at_memory, [](const Place& place) { return place.memory; });
  keep(at_oversubscribed, [](const Place& place) { return place.oversubscribed; });
  keep(at_cluster, [](const Place& place) { return place.cluster; });
  for (size_t floor = 0; floor < topo::floor_names.size(); ++floor) {
    keep(at_floors + floor, [&](const Place& place) { return place.floors[floor]; });
  }
}

std::vector<int32_t> Placement::numbers(size_t attribute, const std::vector<int>& ranks) const {
  std::vector<int32_t> numbers;
  numbers.reserve(ranks.size());
  for (const int rank : ranks) numbers.push_back(of_[attribute][static_cast<size_t>(rank)]);
  return numbers;
}

plan::Nodes Placement::nodes(const std::vector<int>& ranks) const {
  return plan::Nodes(numbers(at_memory, ranks));
}

topo::Levels Placement::levels(const std::vector<int>& ranks) const {
  const std::vector<int32_t> clusters = numbers(at_cluster, ranks), nodes = machine_nodes(ranks);
  // A cluster for each node says nothing that nodes do not.
  const bool near = plan::Nodes(clusters).count() < plan::Nodes(nodes).count();
  std::vector<topo::Floor> floors;
  if (near) floors.push_back({"cluster", clusters, 1});
  floors.push_back({"node", nodes, 1});
  for (size_t i = 0; i < topo::floor_names.size(); ++i) {
    const std::string_view name = topo::floor_names[i];
    floors.push_back(
        {std::string(name.substr(0, name.find(' '))), numbers(at_floors + i, ranks), 1});
  }
  return topo::Levels(std::move(floors));
}

bool Placement::oversubscribed(const std::vector<int>& ranks) const {
  const Repeated& oversubscribed = of_[at_oversubscribed];
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](int rank) { return oversubscribed[static_cast<size_t>(rank)] != 0; });
}

std::string Placement::text() const {
  std::string text;
  for (const Repeated& row : of_) text.append(text.empty() ? "" : " ").append(row.text());
  return text;
}

Placement Placement::read(std::string_view text) {
  Placement placement;
  for (Repeated& row : placement.of_) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::optional<Repeated> read = Repeated::read(word, most_ranks);
    if (read) row = *read;
    if (row.empty() || row.size() != placement.of_.front().size() ||
        (&row == &placement.of_.back() && !text.empty()))
      throw Error(Code::internal,
                  "what a node's first rank says of where all ranks are cannot be read");
  }
  return placement;
}

size_t Placement::bytes() const {
  size_t bytes = 0;
  for (const Repeated& row : of_) bytes += row.bytes();
  return bytes;
}

}  // namespace tutti::group
