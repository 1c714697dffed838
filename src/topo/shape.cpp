#include "topo/shape.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "topo/kernel_files.h"

namespace tutti::topo {
namespace {

// The names of all levels, for messages.
std::string level_words() {
  std::string words;
  for (const std::string_view level : shape_levels)
    words.append(words.empty() ? "" : ", ").append(level);
  return words;
}

[[noreturn]] void refuse(std::string_view text, const std::string& message) {
  throw Error(Code::invalid_argument, "shape " + in_quotes(text) + ": " + message);
}

// The index of a level's name; the number of levels if there is no such level.
size_t level_named(std::string_view name) {
  return static_cast<size_t>(std::find(shape_levels.begin(), shape_levels.end(), name) -
                             shape_levels.begin());
}

int32_t count_of(std::string_view text, std::string_view word, std::string_view digits) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1 ||
      count > max_shape_cores) {
    refuse(text, in_quotes(word) + " needs a number from 1 to " + std::to_string(max_shape_cores) +
                     " behind the colon");
  }
  return static_cast<int32_t>(count);
}

// The total count of each level; 0 if the shape does not name it.
std::array<int64_t, shape_levels.size()> totals(const Shape& shape) {
  std::array<int64_t, shape_levels.size()> result{};
  int64_t product = 1;
  for (size_t level = 0; level < result.size(); ++level) {
    if (shape.counts[level] == 0) continue;
    result[level] = product *= shape.counts[level];
  }
  return result;
}

// The first processing unit of a unit's core, which identifies the core.
int core_of(int unit, const std::string& system) {
  const std::string siblings =
      first_line(system + "/cpu/cpu" + std::to_string(unit) + "/topology/thread_siblings_list");
  const std::set<int> units = numbers_of(siblings);
  return units.empty() ? unit : *units.begin();
}

// The number of sockets that hold these regions, if each holds several and all hold equally many;
// else 0, because sockets then add nothing to the regions.
int32_t sockets_of(const std::vector<NodeCore>& cores, const std::string& system) {
  std::map<int, std::set<int>> regions;  // indexed by socket
  std::map<int, int> sockets;            // indexed by region
  for (const NodeCore& core : cores) {
    const int socket = socket_of(core.units.front(), system);
    if (socket < 0 || sockets.emplace(core.region, socket).first->second != socket) return 0;
    regions[socket].insert(core.region);
  }
  const size_t inside = regions.empty() ? 0 : regions.begin()->second.size();
  const bool alike = std::all_of(regions.begin(), regions.end(),
                                 [&](const auto& one) { return one.second.size() == inside; });
  return regions.size() > 1 && inside > 1 && alike ? static_cast<int32_t>(regions.size()) : 0;
}

}  // namespace

Shape parse_shape(std::string_view text) {
  Shape shape;
  size_t next_level = 0;
  int64_t cores = 1;
  const std::string_view whole = text;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) return shape;
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    const size_t colon = word.find(':');
    const size_t level = level_named(word.substr(0, colon));
    if (colon == std::string_view::npos || level == shape_levels.size()) {
      refuse(whole, in_quotes(word) + " is no LEVEL:COUNT; levels are " + level_words());
    }
    if (level < next_level) {
      refuse(whole, in_quotes(word) + " stands behind " +
                        std::string(shape_levels[next_level - 1]) +
                        "; write each level once, from the outside in: " + level_words());
    }
    shape.counts[level] = count_of(whole, word, word.substr(colon + 1));
    cores *= shape.counts[level];
    if (cores > max_shape_cores) {
      refuse(whole, "more than " + std::to_string(max_shape_cores) +
                        " in all; a count stands inside one of the level before, so node:4 core:8 "
                        "has 32 cores");
    }
    next_level = level + 1;
  }
}

Shape given_shape(const std::string& value) {
  try {
    return parse_shape(value);
  } catch (const Error&) {
    return {};
  }
}

std::string print(const Shape& shape) {
  std::string text;
  for (size_t level = 0; level < shape_levels.size(); ++level) {
    if (shape.counts[level] == 0) continue;
    if (!text.empty()) text += ' ';
    text += std::string(shape_levels[level]) + ':' + std::to_string(shape.counts[level]);
  }
  return text;
}

Shape normalised(const Shape& shape) {
  Shape result = shape;
  if (shape.empty()) return result;
  for (size_t level = 0; level < result.counts.size() && result.counts[level] == 0; ++level) {
    if (level != socket_level) result.counts[level] = 1;
  }
  return result;
}

bool agree(const Shape& one, const Shape& other) {
  const auto ours = totals(normalised(one)), theirs = totals(normalised(other));
  for (size_t level = 0; level < ours.size(); ++level) {
    if (ours[level] != 0 && theirs[level] != 0 && ours[level] != theirs[level]) return false;
  }
  return true;
}

std::vector<NodeCore> cores_of_node(const std::vector<int>& processing_units,
                                    const std::string& system) {
  const std::map<int, int> regions = regions_of(system);
  std::map<std::pair<int, int>, std::vector<int>> cores;  // indexed by region and core
  for (const int unit : processing_units) {
    const auto found = regions.find(unit);
    cores[{found == regions.end() ? 0 : found->second, core_of(unit, system)}].push_back(unit);
  }
  std::vector<NodeCore> list;
  for (auto& [place, units] : cores) list.push_back({place.first, std::move(units)});
  return list;
}

Shape shape_of_node(const std::vector<int>& processing_units, const std::string& system) {
  std::map<int, int32_t> cores;  // indexed by region
  const std::vector<NodeCore> of_node = cores_of_node(processing_units, system);
  for (const NodeCore& core : of_node) ++cores[core.region];
  Shape shape;
  if (cores.empty()) return shape;
  const auto most = std::max_element(cores.begin(), cores.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const int32_t sockets = sockets_of(of_node, system);
  shape.counts[node_level] = 1;
  shape.counts[socket_level] = sockets;
  shape.counts[numa_level] = static_cast<int32_t>(cores.size()) / std::max(sockets, 1);
  shape.counts[core_level] = most->second;
  return shape;
}

}  // namespace tutti::topo
