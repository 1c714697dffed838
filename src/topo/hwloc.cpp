// Reads this machine, a synthetic description or an XML file through hwloc into a Tree. Only this
// file uses hwloc.h. hwloc's topology is destroyed before these functions return.
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "topo/description.h"
#include "topo/tree.h"

namespace tutti::topo {
namespace {

// No node has more, and hwloc's time grows with the third power of the number (two seconds for this
// one).
constexpr uint64_t most_units = 4096;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

// A topology that has no source yet. It leaves devices and the like out, because finding them takes
// longer than all the rest.
Topology new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    throw Error(Code::unavailable, "hwloc does not start: no memory left");
  Topology owned(topology);
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2ICACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_BRIDGE,
        HWLOC_OBJ_PCI_DEVICE, HWLOC_OBJ_OS_DEVICE, HWLOC_OBJ_MISC}) {
    hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_NONE);
  }
  return owned;
}

int cache_depth(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_L1CACHE: return 1;
    case HWLOC_OBJ_L2CACHE: return 2;
    case HWLOC_OBJ_L3CACHE: return 3;
    default: return 0;
  }
}

// The cores and groups of one reading, in hwloc's logical order of processing units. In that order
// the cores of any object of the tree follow each other.
struct Reading {
  std::vector<Core> cores;
  std::vector<Vertex> groups;
};

void read_cores(hwloc_topology_t topology, Reading* reading) {
  // The hwloc core (or, without one, processing unit) of the last of our cores.
  hwloc_obj_t present = nullptr;
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != nullptr;) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
    if (core == nullptr) core = unit;
    if (core != present) {
      present = core;
      Core& added = reading->cores.emplace_back();
      for (hwloc_obj_t around = unit; around != nullptr; around = around->parent) {
        const int depth = cache_depth(around->type);
        if (depth > 0) added.cache_bytes[depth] = around->attr->cache.size;
      }
    }
    reading->cores.back().processing_units.push_back(static_cast<int>(unit->os_index));
  }
  for (Core& core : reading->cores) {
    std::sort(core.processing_units.begin(), core.processing_units.end());
    core.os_index = core.processing_units.front();
  }
}

// Adds the group of the cores that an object covers, if it covers cores and they are consecutive.
void read_group(hwloc_obj_t object, const std::map<int, int>& core_of_unit, Vertex group,
                Reading* reading) {
  int first = -1;
  int last = -1;
  std::vector<bool> covered(reading->cores.size(), false);
  int unit = -1;
  while ((unit = hwloc_bitmap_next(object->cpuset, unit)) >= 0) {
    const auto found = core_of_unit.find(unit);
    if (found == core_of_unit.end()) continue;
    covered[found->second] = true;
    first = first < 0 ? found->second : std::min(first, found->second);
    last = std::max(last, found->second);
  }
  if (first < 0 || std::count(covered.begin(), covered.end(), true) != last - first + 1) return;
  group.first_core = first;
  group.core_count = last - first + 1;
  reading->groups.push_back(group);
}

Tree read_tree(hwloc_topology_t topology, const std::string& source) {
  Reading reading;
  read_cores(topology, &reading);
  std::map<int, int> core_of_unit;
  for (size_t core = 0; core < reading.cores.size(); ++core) {
    for (const int unit : reading.cores[core].processing_units)
      core_of_unit[unit] = static_cast<int>(core);
  }
  for (const hwloc_obj_type_t type :
       {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_PACKAGE}) {
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
      Vertex group{.level = Level::cache, .cache_depth = cache_depth(type)};
      if (type == HWLOC_OBJ_NUMANODE) {
        group.level = Level::numa;
        group.os_index = static_cast<int>(object->os_index);
        group.bytes = object->attr->numanode.local_memory;
      } else if (type == HWLOC_OBJ_PACKAGE) {
        group.level = Level::socket;
        group.os_index = static_cast<int>(object->os_index);
      } else {
        group.bytes = object->attr->cache.size;
      }
      read_group(object, core_of_unit, group, &reading);
    }
  }
  return assemble(source, std::move(reading.cores), std::move(reading.groups));
}

// Marks the cores outside the calling thread's binding. If the binding has no core of the tree, the
// two do not belong together (a container may number its processing units differently), and all
// cores stay usable.
void mark_usable(Tree* tree) {
  const std::vector<int> bound = binding();
  const auto inside = [&](const Core& core) {
    return std::any_of(core.processing_units.begin(), core.processing_units.end(), [&](int unit) {
      return std::binary_search(bound.begin(), bound.end(), unit);
    });
  };
  if (std::none_of(tree->cores.begin(), tree->cores.end(), inside)) return;
  for (Core& core : tree->cores) core.usable = inside(core);
}

// Translates a description into hwloc's words: caches get their depth, and the last level becomes
// processing units.
std::string translated(const std::string& description) {
  uint64_t units = 1;
  int next_cache = 3;
  bool has_units = false;
  bool has_names = false;   // a text such as "2 4" has none; hwloc names its levels itself
  bool has_counts = false;  // a text such as "[numa]" has none, and hwloc leaks memory on it
  std::string text;
  for (const auto& [word, named, count] : description_words(description)) {
    if (count > most_units || (units *= count) > most_units) {
      refuse_description(description,
                         "more than " + std::to_string(most_units) + " processing units");
    }
    std::string level = word.substr(0, word.find_first_of(":("));
    // For hwloc "node" is a numa region. Here it is the whole machine, which needs no word.
    if (level == "node") {
      if (count != 1)
        refuse_description(description,
                           "a tree is one node, and regions of its memory are called numa");
      continue;
    }
    const std::string rest = word.substr(level.size());
    if (level == "socket") level = "package";
    if (level == "cache") {
      if (next_cache < 2) refuse_description(description, "more than two levels of caches");
      level = "l" + std::to_string(next_cache--);
    }
    has_units |= level == "pu";
    has_names |= rest.starts_with(':');
    has_counts |= word.front() != '[';
    text += (text.empty() ? "" : " ") + level + rest;
  }
  if (!has_counts) refuse_description(description, "no cores");
  return has_units || !has_names ? text : text + " pu:1";
}

}  // namespace

Tree this_machine() {
  const Topology topology = new_topology();
  if (hwloc_topology_load(topology.get()) != 0) {
    throw Error(
        Code::unavailable,
        "hwloc cannot read this machine; describe it in TUTTI_TOPOLOGY, such as \"core:8\"");
  }
  // HWLOC_XMLFILE and similar variables replace the machine by another, to which the binding does
  // not apply.
  const bool real = hwloc_topology_is_thissystem(topology.get()) != 0;
  Tree tree = read_tree(topology.get(), real ? "this machine" : "hwloc's environment variables");
  if (real) mark_usable(&tree);
  return tree;
}

Tree synthetic(const std::string& description) {
  const std::string text = translated(description);
  const Topology topology = new_topology();
  if (hwloc_topology_set_synthetic(topology.get(), text.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    refuse_description(description, "hwloc does not understand it");
  }
  return read_tree(topology.get(), "synthetic " + description);
}

Tree recorded(const std::string& xml_file) {
  const Topology topology = new_topology();
  // hwloc reports a missing file only when it loads the topology, and it reads "-" from stdin.
  if (xml_file == "-" || access(xml_file.c_str(), R_OK) != 0 ||
      hwloc_topology_set_xml(topology.get(), xml_file.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(Code::invalid_argument, "topology file " + in_quotes(xml_file) +
                                            " cannot be read; record one with: lstopo FILE.xml");
  }
  return read_tree(topology.get(), xml_file);
}

}  // namespace tutti::topo
