// Where processing units lie: from a tree, from a shape, from the kernel's files.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "topo/kernel_files.h"
#include "topo/levels.h"

namespace tutti::topo {
namespace {

enum FloorAt : size_t { at_socket, at_numa, at_inner_socket, at_l3, at_l2, at_core };

// Of a core without a group of its own there: it is with all of the floor outside that have none,
// so the floor says nothing of it.
constexpr int32_t none = -1;
constexpr int32_t as_outside = 1 << 28;

Place without_gaps(Place place) {
  if (place[at_l3] == none) place[at_l3] = as_outside | place[at_numa];
  if (place[at_l2] == none) place[at_l2] = as_outside | place[at_l3];
  return place;
}

// Which of the two floors of sockets a place's `at_socket` is for: the inner one where its region
// holds several. A socket of one core, as emulators have them, is no more than its core.
Places with_sockets(Places places) {
  std::map<int32_t, std::set<int32_t>> cores, sockets;  // by socket, by numa region
  for (const auto& [unit, place] : places) cores[place[at_socket]].insert(place[at_core]);
  for (auto& [unit, place] : places) {
    if (cores[place[at_socket]].size() < 2) place[at_socket] = none;
    sockets[place[at_numa]].insert(place[at_socket]);
  }
  for (auto& [unit, place] : places) {
    const int32_t region = as_outside | place[at_numa];
    const bool inside = sockets[place[at_numa]].size() > 1;
    place[at_inner_socket] = inside && place[at_socket] != none ? place[at_socket] : region;
    if (inside || place[at_socket] == none) place[at_socket] = region;
  }
  return places;
}

// Numbers what the kernel calls by its list of units.
class Numbers {
 public:
  int32_t of(const std::string& list) {
    return numbers_.emplace(list, static_cast<int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int32_t> numbers_;
};

// The units that share a unit's cache of this depth, as the kernel lists them; empty where there is
// none.
std::string sharers(const std::string& cpu, int depth) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = cpu + "/cache/index" + std::to_string(index);
    const std::string level = first_line(cache + "/level");
    if (level.empty()) return {};
    const bool wanted =
        level == std::to_string(depth) && first_line(cache + "/type") != "Instruction";
    if (wanted) return first_line(cache + "/shared_cpu_list");
  }
  return {};
}

}  // namespace

Places places_of(const Tree& tree) {
  Places places;
  for (size_t i = 0; i < tree.cores.size(); ++i) {
    Place place{none, 0, none, none, none, static_cast<int32_t>(i)};
    for (int vertex = tree.cores[i].vertex; vertex >= 0;
         vertex = tree.vertices[static_cast<size_t>(vertex)].parent) {
      const Vertex& at = tree.vertices[static_cast<size_t>(vertex)];
      if (at.level == Level::socket) place[at_socket] = vertex;
      if (at.level == Level::numa) place[at_numa] = vertex;
      if (at.level == Level::cache) place[at.cache_depth == 2 ? at_l2 : at_l3] = vertex;
    }
    for (const int unit : tree.cores[i].processing_units) places[unit] = without_gaps(place);
  }
  return with_sockets(std::move(places));
}

Places places_of(const Shape& shape) {
  Places places;
  const auto count = [&](size_t level) { return std::max(shape.counts[level], int32_t{1}); };
  const int32_t regions = count(socket_level) * count(numa_level),
                caches = regions * count(cache_level);
  const bool shared = shape.counts[cache_level] != 0 && count(core_level) > 1;
  // Sockets without a word of regions lie in one.
  const bool one_region = shape.counts[socket_level] != 0 && shape.counts[numa_level] == 0;
  for (int32_t core = 0; core < caches * count(core_level); ++core) {
    const int32_t cache = core / count(core_level), region = cache / count(cache_level);
    const int32_t socket = shape.counts[socket_level] == 0 ? none : region / count(numa_level);
    places[core] =
        without_gaps({socket, one_region ? 0 : region, none, shared ? cache : none, none, core});
  }
  return with_sockets(std::move(places));
}

Places places_of_system(const std::vector<int>& processing_units, const std::string& system) {
  const std::map<int, int> regions = regions_of(system);
  Numbers cores, l3, l2;
  Places places;
  for (const int unit : processing_units) {
    const std::string cpu = system + "/cpu/cpu" + std::to_string(unit);
    const std::string siblings = first_line(cpu + "/topology/thread_siblings_list");
    if (siblings.empty()) continue;
    const auto shared = [&](Numbers& numbers, int depth) {
      const std::string list = sharers(cpu, depth);
      return list.empty() || list == siblings ? none : numbers.of(list);
    };
    const auto region = regions.find(unit);
    places[unit] =
        without_gaps({socket_of(unit, system), region == regions.end() ? 0 : region->second, none,
                      shared(l3, 3), shared(l2, 2), cores.of(siblings)});
  }
  return with_sockets(std::move(places));
}

}  // namespace tutti::topo
