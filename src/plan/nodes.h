// Which ranks share memory: the nodes of a communicator, as lowering sees them.
//
// Ranks of one node reach each other by loads and stores, ranks of two by messages alone. Without
// numbers all ranks are on one node. A node without shared memory counts as many, of a rank each
// (TUTTI_REACH=net: every node). A value, constant once made, the same at all ranks; where ranks
// lie regularly it takes no more than one node's ranks do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/repeated.h"

namespace tutti::plan {

class Nodes {
 public:
  Nodes() = default;  // one node, any number of ranks
  // By rank; the numbers are free. Equal numbers everywhere are one node.
  explicit Nodes(const std::vector<int32_t>& of) {
    if (std::all_of(of.begin(), of.end(), [&](int32_t node) { return node == of.front(); })) return;
    of_ = of;
    contents_ = of_.text();
  }

  bool one() const { return of_.empty(); }
  // The ranks of a rank's node, of so many in all, in their order.
  std::vector<int32_t> members(int32_t rank, int32_t ranks) const {
    const std::vector<int32_t> of = of_.values();
    std::vector<int32_t> members;
    for (int32_t other = 0; other < ranks; ++other) {
      if (one() || of[static_cast<size_t>(other)] == of[static_cast<size_t>(rank)])
        members.push_back(other);
    }
    return members;
  }
  // How many there are, of one rank or more.
  int32_t count() const {
    std::vector<int32_t> numbers = of_.values();
    std::sort(numbers.begin(), numbers.end());
    return of_.empty() ? 1
                       : static_cast<int32_t>(std::unique(numbers.begin(), numbers.end()) -
                                              numbers.begin());
  }
  // By rank; empty: one node.
  const Repeated& of() const { return of_; }
  // Equal for equal nodes, empty for one. A key for what is made from them.
  const std::string& contents() const { return contents_; }

  bool operator==(const Nodes& other) const { return of_ == other.of_; }

 private:
  Repeated of_;
  std::string contents_;
};

// Who is together, for the many questions of whoever makes a plan: takes 4 bytes a rank while it is
// there. The nodes need not outlive it.
class NodeOf {
 public:
  explicit NodeOf(const Nodes& nodes) : of_(nodes.of().values()) {}

  bool together(int32_t rank, int32_t other) const {
    return of_.empty() || of_[static_cast<size_t>(rank)] == of_[static_cast<size_t>(other)];
  }

 private:
  std::vector<int32_t> of_;
};

}  // namespace tutti::plan
