// Which ranks share memory: the nodes of a communicator, as lowering sees them.
//
// Ranks of one node reach each other by loads and stores, ranks of two by messages alone. Without numbers all ranks are
// on one node. A node without shared memory counts as many, of a rank each (TUTTI_REACH=net: every node). A value,
// constant once made, the same at all ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::plan {

class Nodes {
 public:
  Nodes() = default;  // one node, any number of ranks
  // By rank; the numbers are free. Equal numbers everywhere are one node.
  explicit Nodes(std::vector<int32_t> of) : of_(std::move(of)) {
    if (std::all_of(of_.begin(), of_.end(), [&](int32_t node) { return node == of_.front(); })) of_.clear();
    for (const int32_t node : of_) contents_ += std::to_string(node) + ',';
  }

  bool one() const { return of_.empty(); }
  bool together(int32_t rank, int32_t other) const {
    return of_.empty() || of_[static_cast<size_t>(rank)] == of_[static_cast<size_t>(other)];
  }
  // The ranks of a rank's node, of so many in all, in their order.
  std::vector<int32_t> members(int32_t rank, int32_t ranks) const {
    std::vector<int32_t> members;
    for (int32_t other = 0; other < ranks; ++other) {
      if (together(rank, other)) members.push_back(other);
    }
    return members;
  }
  // How many there are, of one rank or more.
  int32_t count() const {
    std::vector<int32_t> numbers = of_;
    std::sort(numbers.begin(), numbers.end());
    return of_.empty() ? 1 : static_cast<int32_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
  }
  // By rank; empty: one node.
  const std::vector<int32_t>& of() const { return of_; }
  // Equal for equal nodes, empty for one. A key for what is made from them.
  const std::string& contents() const { return contents_; }

  bool operator==(const Nodes& other) const { return of_ == other.of_; }

 private:
  std::vector<int32_t> of_;
  std::string contents_;
};

}  // namespace tutti::plan
