// The processing units of a node that are together: in one socket, numa region, shared cache or
// core.
//
// The table has a row for each processing unit, with the unit's group on each level of the node.
// It is made from a tree (hwloc), from a shape's text or from the kernel's files. The interposers
// use the latter two, because a program may have an hwloc of its own. Values, constant once made;
// any thread. Every function is pure except machine_units_of_system, which reads files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topo/shape.h"
#include "topo/tree.h"

namespace tutti::topo {

// The levels on which units can be together, from the outside in. Sockets are outside numa regions,
// or inside them if a region holds several sockets. The other socket level then has the same groups
// as numa.
inline constexpr std::array<std::string_view, 6> unit_level_names = {
    "socket", "numa", "socket", "cache L3", "cache L2", "core"};
// Indices in unit_level_names.
enum LevelAt : size_t { at_socket, at_numa, at_inner_socket, at_l3, at_l2, at_core };
// The name without the depth: "cache" for "cache L3".
inline std::string short_level_name(size_t level) {
  const std::string_view name = unit_level_names[level];
  return std::string(name.substr(0, name.find(' ')));
}
// A unit's group on each level. Groups may have any numbers.
using UnitGroups = std::array<int32_t, unit_level_names.size()>;
// Indexed by processing unit, as the system numbers them.
using MachineUnits = std::map<int, UnitGroups>;

MachineUnits machine_units(const Tree& tree);
// The units of a shape's node are 0, 1, ... in the order of its cores; its caches count as L3.
MachineUnits machine_units(const Shape& shape);
// `system` is where the kernel shows its devices. Units that it does not describe are left out.
MachineUnits machine_units_of_system(const std::vector<int>& processing_units,
                                     const std::string& system = "/sys/devices/system");

}  // namespace tutti::topo
