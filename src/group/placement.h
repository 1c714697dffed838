// Where the ranks of a world are: on which node each, with whom it shares memory, and its groups on
// the node.
//
// Made once, the same at all ranks, and asked by every communicator that is set up. It takes what
// the ranks of one node take where they lie regularly (base/repeated.h), whatever the world's
// ranks. A value, constant once made; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/repeated.h"
#include "plan/nodes.h"
#include "topo/levels.h"

namespace tutti::group {

// One rank's, as it tells the others. Plain numbers.
struct Place {
  int32_t rank = 0;            // of the world
  int32_t node = 0;            // the place in the world of its node's first rank
  int32_t memory = 0;          // likewise of the first rank that it shares memory with
  int32_t oversubscribed = 0;  // 1: ranks outnumber cores on its node's machine
  int32_t cluster = 0;
  std::array<int32_t, topo::floor_names.size()>
      floors{};  // a group's number on the node; 0 where it has one group
};

class Placement {
 public:
  Placement() = default;
  // Of all ranks of the world, each once, in any order.
  explicit Placement(std::vector<Place> places);

  // Of some ranks of the world, by their places in it: who shares memory, and on which levels they
  // lie.
  plan::Nodes nodes(const std::vector<int>& ranks) const;
  topo::Levels levels(const std::vector<int>& ranks) const;
  // By rank, the number of its node, whether or not that shares memory.
  std::vector<int32_t> machine_nodes(const std::vector<int>& ranks) const {
    return numbers(at_node, ranks);
  }
  int32_t machine_node_count(const std::vector<int>& ranks) const {
    return plan::Nodes(machine_nodes(ranks)).count();
  }
  // Whether ranks outnumber cores on the machine of a node of these.
  bool oversubscribed(const std::vector<int>& ranks) const;

  // For those of a node, to whom one of it tells what it has heard of the others. Throws Error
  // where the text is no such.
  std::string text() const;
  static Placement read(std::string_view text);

  // Of memory, beside the object's own.
  size_t bytes() const;

  bool operator==(const Placement&) const = default;

 private:
  enum Attribute : size_t {
    at_node,
    at_memory,
    at_oversubscribed,
    at_cluster,
    at_floors,
    attributes = at_floors + topo::floor_names.size()
  };
  std::vector<int32_t> numbers(size_t attribute, const std::vector<int>& ranks) const;

  std::array<Repeated, attributes> of_;  // by rank of the world
};

}  // namespace tutti::group
