// A machine's shape: the count of each level, from the outside in, such as "node:4 numa:2 core:8".
//
// A plan is made for a shape, and a communicator runs on one; comparing the two shows whether the
// plan may run. Each count is inside one of the level before: node:4 numa:2 core:8 is a machine of
// 64 cores. Sockets are named only if they are a level of their own: a socket that is one numa
// region counts as that region. A value, copied freely. Every function here is pure except
// cores_of_node and shape_of_node, which read the system's files; any thread may call them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topo {

inline constexpr std::array<std::string_view, 6> shape_levels = {"cluster", "node",  "socket",
                                                                 "numa",    "cache", "core"};
// Indices in shape_levels.
inline constexpr size_t node_level = 1, socket_level = 2, numa_level = 3, cache_level = 4,
                        core_level = 5;
inline constexpr int64_t max_shape_cores = int64_t{1} << 20;

struct Shape {
  std::array<int32_t, shape_levels.size()> counts{};  // in the order of shape_levels; 0: left out

  bool operator==(const Shape&) const = default;
  bool empty() const { return *this == Shape{}; }
};

// Reads words "level:count", each level at most once, in the order of shape_levels. Throws
// Error(invalid_argument) that names the word at fault and the accepted words. The empty text is
// the empty shape.
Shape parse_shape(std::string_view text);

// The shape that a value of TUTTI_TOPOLOGY gives. Empty if the value is not the text of a shape: it
// may also name a file, or hold a description with more than levels and counts.
Shape given_shape(const std::string& value);

// parse_shape(print(shape)) == shape.
std::string print(const Shape& shape);

// Adds, with count 1, the levels outside the first one named: core:8 becomes cluster:1 node:1
// numa:1 cache:1 core:8. Levels left out further inside stay out, because the shape leaves them
// open; so do sockets that it does not name (numa:2 may be two sockets or one). The empty shape
// stays empty.
Shape normalised(const Shape& shape);

// True if a plan for one shape may run on the other, because every level that both name has the
// same total count. So core:16 agrees with numa:2 core:8, and node:4 with every machine of 4 nodes.
// The empty shape agrees with every shape.
bool agree(const Shape& one, const Shape& other);

// A core of this node, with those of its processing units (the system's numbers) that the caller
// named.
struct NodeCore {
  int region;  // numa
  std::vector<int> units;
};

// The cores that hold these processing units, by region and then by number. If numa regions are
// unknown, all cores are in region 0. A processing unit whose core is unknown counts as a core.
std::vector<NodeCore> cores_of_node(const std::vector<int>& processing_units,
                                    const std::string& system = "/sys/devices/system");

// The shape of the part of this node that holds these processing units (the system's numbers):
// node, numa regions, cores. If regions hold different numbers of cores, the largest number counts.
// The shape names sockets if each holds several regions and all hold as many. `system` is where the
// kernel shows its devices. If numa regions are unknown, there is one. A processing unit whose core
// is unknown counts as a core.
Shape shape_of_node(const std::vector<int>& processing_units,
                    const std::string& system = "/sys/devices/system");

}  // namespace tutti::topo
