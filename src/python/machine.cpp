// The machine's tree, its saturation map, and Tutti's environment variables as the libraries read
// them. Each call reads the machine or the environment anew.

#include "base/error.h"
#include "base/options.h"
#include "python/functions.h"
#include "rma/saturation.h"
#include "shm/heap.h"
#include "topo/tree.h"

namespace tutti::python {
namespace {

List vertices(const topo::Tree& tree) {
  List list;
  for (const topo::Vertex& vertex : tree.vertices) {
    Dict dict;
    dict["level"] = topo::level_name(vertex.level);
    dict["first_core"] = vertex.first_core;
    dict["core_count"] = vertex.core_count;
    dict["os_index"] = vertex.os_index;
    dict["cache_depth"] = vertex.cache_depth;
    dict["bytes"] = vertex.bytes;
    dict["parent"] = vertex.parent;
    list.append(dict);
  }
  return list;
}

List cores(const topo::Tree& tree) {
  List list;
  for (const topo::Core& core : tree.cores) {
    Dict dict;
    dict["os_index"] = core.os_index;
    dict["processing_units"] = core.processing_units;
    dict["usable"] = core.usable;
    list.append(dict);
  }
  return list;
}

// The options of this process's environment, by variable: (value or None, default, accepted values,
// meaning).
Dict environment() {
  const Environment set = process_environment();
  Dict dict;
  for (const OptionRow& row : option_table()) {
    const auto found = set.find(std::string(row.name));
    const bool given = found != set.end() && !found->second.empty();
    dict[row.name] = tuple_of(given ? to_python(found->second) : none(), row.default_value,
                              accepted_values(row), row.doc);
  }
  return dict;
}

std::vector<std::string> environment_warnings() {
  std::vector<std::string> warnings;
  parse_options(process_environment(), &warnings);
  return warnings;
}

Object try_shared_heap() {
  try {
    const shm::Heap heap;
    const shm::PeerHeap as_a_peer(heap.location());
    return tuple_of(heap.bytes(), "");
  } catch (const Error& error) {
    return tuple_of(0, error.what());
  }
}

Object saturation_of_here(const std::string& file) {
  const rma::SaturationMap map = rma::load_saturation_of_here(file);
  return tuple_of(map.cores.back(), map.messages.back(), map.bytes.back(),
                  map.scope == rma::Scope::node);
}

}  // namespace

void bind_machine(Module& module) {
  Class<topo::Tree>(module.get(), "Tree",
                    "The machine's tree: cores, caches, numa regions, sockets, node.")
      .property<&topo::Tree::source>("source")
      .property<&vertices>("vertices")
      .property<&cores>("cores")
      .property<&topo::usable_cores>("usable_cores")
      .property<&topo::to_text>("text")
      .add();
  module.def<&topo::load>(
      "load_tree", "topology"_a = "",
      "The tree that a value of TUTTI_TOPOLOGY names: empty for this machine, a file, or a "
      "description.");
  module.def<&saturation_of_here>(
      "saturation_of_here", "file"_a,
      "Reads a saturation map of this machine, as servers do. The result is its most cores, "
      "messages and bytes, and True if it is of a node, False if it is between nodes. "
      "Raises Error if the file is none, or of another machine.");
  module.def<&try_shared_heap>(
      "try_shared_heap",
      "Makes a shared heap and attaches to it as another rank would. Returns (bytes of "
      "addresses, \"\"), or (0, the reason).");
  module.def<&environment>("environment", "Tutti's variables and their values.");
  module.def<&environment_warnings>(
      "environment_warnings",
      "A line for each unknown TUTTI_ name; raises Error for a malformed value.");
}

}  // namespace tutti::python
