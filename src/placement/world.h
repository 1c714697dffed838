// The places of a world's ranks: the node of each rank, the ranks with which it shares memory, and
// its groups on the node.
//
// The placement is made once, is the same at all ranks, and is read when a communicator is set up.
// It takes as much memory as the ranks of one node if ranks are placed regularly
// (placement/periodic_row.h), however many ranks the world has. A value, constant once made; any
// thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "placement/levels.h"
#include "placement/nodes.h"
#include "placement/periodic_row.h"

namespace tutti::placement {

// A rank's group on each level of its node; 0 on a level where the node has one group.
using GroupsOnNode = std::array<int32_t, topo::unit_level_names.size()>;
// The groups of a rank; `levels` are those of the ranks of its node, and `rank` counts these ranks.
GroupsOnNode groups_on_node(const Levels& levels, int rank);

// The facts about one rank that it sends to the others, as plain numbers.
struct RankLocation {
  int32_t rank = 0;            // in the world
  int32_t node = 0;            // the first of the world's ranks on this rank's node
  int32_t memory = 0;          // the first of the world's ranks that share memory with this rank
  int32_t oversubscribed = 0;  // 1: ranks outnumber cores on the machine of this rank's node
  int32_t cluster = 0;
  GroupsOnNode groups{};
};

class WorldPlacement {
 public:
  WorldPlacement() = default;
  // Takes the locations of all ranks of the world, each once, in any order.
  explicit WorldPlacement(std::vector<RankLocation> locations);

  // The nodes and the levels of some ranks of the world, given by their ranks in it. The ranks of a
  // node share memory.
  Nodes nodes(const std::vector<int>& ranks) const;
  Levels levels(const std::vector<int>& ranks) const;
  // The number of each rank's node, whether or not the node's ranks share memory.
  std::vector<int32_t> machine_nodes(const std::vector<int>& ranks) const {
    return numbers(at_node, ranks);
  }
  int32_t machine_node_count(const std::vector<int>& ranks) const {
    return Nodes(machine_nodes(ranks)).count();
  }
  // True if ranks outnumber cores on the machine of any of these ranks.
  bool oversubscribed(const std::vector<int>& ranks) const;

  // The placement as a text, which the first rank of a node sends to the others. `read` throws
  // Error if the text is malformed.
  std::string text() const;
  static WorldPlacement read(std::string_view text);

  // The memory that the placement has allocated.
  size_t bytes() const;

  bool operator==(const WorldPlacement&) const = default;

 private:
  enum Attribute : size_t {
    at_node,
    at_memory,
    at_oversubscribed,
    at_cluster,
    at_groups,
    attributes = at_groups + topo::unit_level_names.size()
  };
  std::vector<int32_t> numbers(size_t attribute, const std::vector<int>& ranks) const;

  std::array<PeriodicRow, attributes> of_;  // indexed by rank of the world
};

}  // namespace tutti::placement
