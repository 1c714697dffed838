#include "topo/machine_units.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "topo/kernel_files.h"

namespace tutti::topo {
namespace {

// If a core has no group on a level, its group is made of the cores of its group on the next outer
// level that have none either, so the level adds nothing for it.
constexpr int32_t none = -1;
constexpr int32_t as_outside = 1 << 28;

UnitGroups without_gaps(UnitGroups groups) {
  if (groups[at_l3] == none) groups[at_l3] = as_outside | groups[at_numa];
  if (groups[at_l2] == none) groups[at_l2] = as_outside | groups[at_l3];
  return groups;
}

// Moves each unit's socket to one of the two socket levels: to the inner one if a region holds
// several sockets. A socket of one core, as emulators have them, is treated as its core.
MachineUnits with_sockets(MachineUnits units) {
  std::map<int32_t, std::set<int32_t>> cores, sockets;  // indexed by socket, and by numa region
  for (const auto& [unit, groups] : units) cores[groups[at_socket]].insert(groups[at_core]);
  for (auto& [unit, groups] : units) {
    if (cores[groups[at_socket]].size() < 2) groups[at_socket] = none;
    sockets[groups[at_numa]].insert(groups[at_socket]);
  }
  for (auto& [unit, groups] : units) {
    const int32_t region = as_outside | groups[at_numa];
    const bool inside = sockets[groups[at_numa]].size() > 1;
    groups[at_inner_socket] = inside && groups[at_socket] != none ? groups[at_socket] : region;
    if (inside || groups[at_socket] == none) groups[at_socket] = region;
  }
  return units;
}

// Numbers the groups that the kernel names by their lists of units.
class Numbers {
 public:
  int32_t of(const std::string& list) {
    return numbers_.emplace(list, static_cast<int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int32_t> numbers_;
};

// The units that share a unit's cache of this depth, as the kernel lists them; empty if there is no
// such cache.
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

MachineUnits machine_units(const Tree& tree) {
  MachineUnits units;
  for (size_t i = 0; i < tree.cores.size(); ++i) {
    UnitGroups groups{none, 0, none, none, none, static_cast<int32_t>(i)};
    for (int vertex = tree.cores[i].vertex; vertex >= 0;
         vertex = tree.vertices[static_cast<size_t>(vertex)].parent) {
      const Vertex& at = tree.vertices[static_cast<size_t>(vertex)];
      if (at.level == Level::socket) groups[at_socket] = vertex;
      if (at.level == Level::numa) groups[at_numa] = vertex;
      if (at.level == Level::cache) groups[at.cache_depth == 2 ? at_l2 : at_l3] = vertex;
    }
    for (const int unit : tree.cores[i].processing_units) units[unit] = without_gaps(groups);
  }
  return with_sockets(std::move(units));
}

MachineUnits machine_units(const Shape& shape) {
  MachineUnits units;
  const auto count = [&](size_t level) { return std::max(shape.counts[level], int32_t{1}); };
  const int32_t regions = count(socket_level) * count(numa_level),
                caches = regions * count(cache_level);
  const bool shared = shape.counts[cache_level] != 0 && count(core_level) > 1;
  // Sockets of a shape that does not name regions are in one region.
  const bool one_region = shape.counts[socket_level] != 0 && shape.counts[numa_level] == 0;
  for (int32_t core = 0; core < caches * count(core_level); ++core) {
    const int32_t cache = core / count(core_level), region = cache / count(cache_level);
    const int32_t socket = shape.counts[socket_level] == 0 ? none : region / count(numa_level);
    units[core] =
        without_gaps({socket, one_region ? 0 : region, none, shared ? cache : none, none, core});
  }
  return with_sockets(std::move(units));
}

MachineUnits machine_units_of_system(const std::vector<int>& processing_units,
                                     const std::string& system) {
  const std::map<int, int> regions = regions_of(system);
  Numbers cores, l3, l2;
  MachineUnits units;
  for (const int unit : processing_units) {
    const std::string cpu = system + "/cpu/cpu" + std::to_string(unit);
    const std::string siblings = first_line(cpu + "/topology/thread_siblings_list");
    if (siblings.empty()) continue;
    const auto shared = [&](Numbers& numbers, int depth) {
      const std::string list = sharers(cpu, depth);
      return list.empty() || list == siblings ? none : numbers.of(list);
    };
    const auto region = regions.find(unit);
    units[unit] =
        without_gaps({socket_of(unit, system), region == regions.end() ? 0 : region->second, none,
                      shared(l3, 3), shared(l2, 2), cores.of(siblings)});
  }
  return with_sockets(std::move(units));
}

}  // namespace tutti::topo
