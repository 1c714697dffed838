// Where processing units lie: from a tree, from a shape, from the kernel's files.
#include <algorithm>
#include <charconv>
#include <fstream>

#include "topo/kernel_files.h"
#include "topo/levels.h"

namespace tutti::topo {
namespace {

enum FloorAt : size_t { at_numa, at_l3, at_l2, at_core };

// Of a core with a cache of its own: it is with all of the floor outside that have such, so the floor says nothing of it.
constexpr int32_t none = -1;
Place without_gaps(Place place) {
  constexpr int32_t own_cache = 1 << 28;
  if (place[at_l3] == none) place[at_l3] = own_cache | place[at_numa];
  if (place[at_l2] == none) place[at_l2] = own_cache | place[at_l3];
  return place;
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

// The units that share a unit's cache of this depth, as the kernel lists them; empty where there is none.
std::string sharers(const std::string& cpu, int depth) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = cpu + "/cache/index" + std::to_string(index);
    const std::string level = first_line(cache + "/level");
    if (level.empty()) return {};
    const bool wanted = level == std::to_string(depth) && first_line(cache + "/type") != "Instruction";
    if (wanted) return first_line(cache + "/shared_cpu_list");
  }
  return {};
}

}  // namespace

Places places_of(const Tree& tree) {
  Places places;
  for (size_t i = 0; i < tree.cores.size(); ++i) {
    Place place{0, none, none, static_cast<int32_t>(i)};
    for (int vertex = tree.cores[i].vertex; vertex >= 0; vertex = tree.vertices[static_cast<size_t>(vertex)].parent) {
      const Vertex& at = tree.vertices[static_cast<size_t>(vertex)];
      if (at.level == Level::numa) place[at_numa] = vertex;
      if (at.level == Level::cache) place[at.cache_depth == 2 ? at_l2 : at_l3] = vertex;
    }
    for (const int unit : tree.cores[i].processing_units) places[unit] = without_gaps(place);
  }
  return places;
}

Places places_of(const Shape& shape) {
  Places places;
  const auto count = [&](size_t level) { return std::max(shape.counts[level], int32_t{1}); };
  const int32_t caches = count(2) * count(3), cores = caches * count(4);
  for (int32_t core = 0; core < cores; ++core) {
    const int32_t cache = core / count(4);
    places[core] = without_gaps({cache / count(3), shape.counts[3] == 0 || count(4) == 1 ? none : cache, none, core});
  }
  return places;
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
    places[unit] = without_gaps(
        {region == regions.end() ? 0 : region->second, shared(l3, 3), shared(l2, 2), cores.of(siblings)});
  }
  return places;
}

}  // namespace tutti::topo
