// The machine's tree, its saturation map, and Tutti's environment variables as the libraries read
// them. Each call reads the machine or the environment anew.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/options.h"
#include "python/bindings.h"
#include "rma/saturation.h"
#include "shm/heap.h"
#include "topo/tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {
namespace {

nb::list vertices(const topo::Tree& tree) {
  nb::list list;
  for (const topo::Vertex& vertex : tree.vertices) {
    nb::dict dict;
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

nb::list cores(const topo::Tree& tree) {
  nb::list list;
  for (const topo::Core& core : tree.cores) {
    nb::dict dict;
    dict["os_index"] = core.os_index;
    dict["processing_units"] = core.processing_units;
    dict["usable"] = core.usable;
    list.append(dict);
  }
  return list;
}

// The options of this process's environment, by variable: (value or None, default, accepted values,
// meaning).
nb::dict environment() {
  const Environment set = process_environment();
  nb::dict dict;
  for (const OptionRow& row : option_table()) {
    const auto found = set.find(std::string(row.name));
    const bool given = found != set.end() && !found->second.empty();
    dict[nb::str(row.name.data(), row.name.size())] =
        nb::make_tuple(given ? nb::object(nb::str(found->second.c_str())) : nb::none(),
                       row.default_value, accepted_values(row), row.doc);
  }
  return dict;
}

nb::tuple try_shared_heap() {
  try {
    const shm::Heap heap;
    const shm::PeerHeap as_a_peer(heap.location());
    return nb::make_tuple(heap.bytes(), "");
  } catch (const Error& error) {
    return nb::make_tuple(0, error.what());
  }
}

nb::tuple saturation_of_here(const std::string& file) {
  const rma::SaturationMap map = rma::load_saturation_of_here(file);
  return nb::make_tuple(map.cores.back(), map.messages.back(), map.bytes.back(),
                        map.scope == rma::Scope::node);
}

}  // namespace

void bind_machine(nb::module_& module) {
  nb::class_<topo::Tree>(module, "Tree",
                         "The machine's tree: cores, caches, numa regions, sockets, node.")
      .def_ro("source", &topo::Tree::source)
      .def_prop_ro("vertices", &vertices)
      .def_prop_ro("cores", &cores)
      .def_prop_ro("usable_cores", &topo::usable_cores)
      .def_prop_ro("text", &topo::to_text);
  module.def("load_tree", &topo::load, "topology"_a = "",
             "The tree that a value of TUTTI_TOPOLOGY names: empty for this machine, a file, or a "
             "description.");
  module.def("saturation_of_here", &saturation_of_here, "file"_a,
             "Reads a saturation map of this machine, as servers do. The result is its most cores, "
             "messages and bytes, and True if it is of a node, False if it is between nodes. "
             "Raises Error if the file is none, or of another machine.");
  module.def("try_shared_heap", &try_shared_heap,
             "Makes a shared heap and attaches to it as another rank would. Returns (bytes of "
             "addresses, \"\"), or (0, the reason).");
  module.def("environment", &environment, "Tutti's variables and their values.");
  module.def(
      "environment_warnings",
      [] {
        std::vector<std::string> warnings;
        parse_options(process_environment(), &warnings);
        return warnings;
      },
      "A line for each unknown TUTTI_ name; raises Error for a malformed value.");
}

}  // namespace tutti::python
