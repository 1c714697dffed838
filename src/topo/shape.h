// A machine's shape: how many of each level, from the outside in, such as "node:4 numa:2 core:8".
//
// A shape is what a plan is made for and what a communicator runs on; comparing the two tells
// whether the plan may run. Counts stand inside one of the level before: node:4 numa:2 core:8 is a
// machine of 64 cores. Sockets are named where they are a level of their own: a socket that is one
// numa region is called by its region. A value, copied freely; every function here is pure but
// shape_of_node, which reads the system's files and may be called by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topo {

inline constexpr std::array<std::string_view, 6> shape_levels = {"cluster", "node",  "socket",
                                                                 "numa",    "cache", "core"};
// Places in shape_levels.
inline constexpr size_t node_level = 1, socket_level = 2, numa_level = 3, cache_level = 4,
                        core_level = 5;
inline constexpr int64_t max_shape_cores = int64_t{1} << 20;

struct Shape {
  std::array<int32_t, shape_levels.size()> counts{};  // in the order of shape_levels; 0: left out

  bool operator==(const Shape&) const = default;
  bool empty() const { return *this == Shape{}; }
};

// Words "level:count", each level at most once, in the order of shape_levels. Throws
// Error(invalid_argument) naming the word at fault and what is accepted; the text "" is the empty
// shape.
Shape parse_shape(std::string_view text);

// parse_shape(print(shape)) == shape.
std::string print(const Shape& shape);

// Levels that are left out outside the first one named are there once: core:8 is cluster:1 node:1
// numa:1 cache:1 core:8. Levels left out further inside stay out: the shape says nothing of them,
// nor of sockets that it does not name (numa:2 may be two sockets or one). The empty shape stays
// empty.
Shape normalised(const Shape& shape);

// Whether a plan for one shape may run on the other: every level that both name is there as often
// in all. So core:16 agrees with numa:2 core:8, and node:4 with every machine of 4 nodes. The empty
// shape agrees with all.
bool agree(const Shape& one, const Shape& other);

// A core of this node and those of its processing units (the system's numbers) that were asked for.
struct NodeCore {
  int region;  // numa
  std::vector<int> units;
};

// The cores that hold these processing units, by region and then by number. Without knowledge of
// numa regions all are in region 0; a processing unit whose core is unknown counts as one.
std::vector<NodeCore> cores_of_node(const std::vector<int>& processing_units,
                                    const std::string& system = "/sys/devices/system");

// The part of this node that holds these processing units (the system's numbers): node, numa
// regions, cores. Where the regions hold different numbers of cores, the largest counts. Sockets
// are told of where each holds several regions, and as many. `system` is where the kernel shows its
// devices. Without knowledge of numa regions there is one; a processing unit whose core is unknown
// counts as one.
Shape shape_of_node(const std::vector<int>& processing_units,
                    const std::string& system = "/sys/devices/system");

}  // namespace tutti::topo
