// The ranks of a communicator that share memory: its nodes, as a plan's lowering sees them.
//
// Ranks of one node reach each other by loads and stores; ranks of two nodes exchange messages
// only. Without numbers all ranks are on one node. If the ranks of a node cannot share memory (as
// everywhere with TUTTI_REACH=net), each of them counts as a node. A value, constant once made, the
// same at all ranks; any thread may read it. It takes as much memory as the ranks of one node if
// ranks are placed regularly (placement/periodic_row.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/periodic_row.h"

namespace tutti::placement {

class Nodes {
 public:
  Nodes() = default;  // one node, any number of ranks
  // Takes the number of each rank's node, which may be any numbers. All equal means one node.
  explicit Nodes(const std::vector<int32_t>& of) {
    if (std::all_of(of.begin(), of.end(), [&](int32_t node) { return node == of.front(); })) return;
    of_ = of;
    contents_ = of_.text();
  }

  // Takes one comparison, because every call of a v-collective asks.
  bool one() const { return contents_.empty(); }
  // The ranks on the node of `rank`, in their order, for a communicator of `ranks` ranks.
  std::vector<int32_t> members(int32_t rank, int32_t ranks) const {
    const std::vector<int32_t> of = of_.values();
    std::vector<int32_t> members;
    for (int32_t other = 0; other < ranks; ++other) {
      if (one() || of[static_cast<size_t>(other)] == of[static_cast<size_t>(rank)])
        members.push_back(other);
    }
    return members;
  }
  int32_t count() const {
    std::vector<int32_t> numbers = of_.values();
    std::sort(numbers.begin(), numbers.end());
    return of_.empty() ? 1
                       : static_cast<int32_t>(std::unique(numbers.begin(), numbers.end()) -
                                              numbers.begin());
  }
  // The number of each rank's node; empty for one node.
  const PeriodicRow& of() const { return of_; }
  // Equal for equal nodes, empty for one node. Serves as a key for what is made from the nodes.
  const std::string& contents() const { return contents_; }

  bool operator==(const Nodes& other) const { return of_ == other.of_; }

 private:
  PeriodicRow of_;
  std::string contents_;
};

// Answers quickly which ranks share a node, for code that makes a plan and asks often. Takes 4
// bytes a rank while it exists. The nodes need not outlive it.
class NodeOf {
 public:
  explicit NodeOf(const Nodes& nodes) : of_(nodes.of().values()) {}

  bool together(int32_t rank, int32_t other) const {
    return of_.empty() || of_[static_cast<size_t>(rank)] == of_[static_cast<size_t>(other)];
  }

 private:
  std::vector<int32_t> of_;
};

}  // namespace tutti::placement
