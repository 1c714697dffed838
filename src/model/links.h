// The links within nodes and the adapters of nodes, over which the ranks of a prediction reach each
// other. A VirtualRun owns them; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/predict.h"
#include "model/shared_link.h"

namespace tutti::model {

// The innermost link that two ranks share, for all pairs: which level's costs hold, and which of
// the level's links.
class Links {
 public:
  // Throws Error(invalid_argument) if the machine lacks the costs of a level that the ranks have.
  explicit Links(const Question& question);

  size_t nodes() const {
    return 1 + static_cast<size_t>(*std::max_element(node_of_.begin(), node_of_.end()));
  }
  int32_t node(int32_t rank) const { return node_of_[static_cast<size_t>(rank)]; }
  // The index of the link, which is also that of `links()`.
  size_t between(int32_t one, int32_t other) const;
  // The index of the link that messages within a node share.
  size_t memory(int32_t node) const { return first_memory_ + static_cast<size_t>(node); }
  const LevelCost& cost(size_t link) const { return *costs_[link]; }
  std::vector<SharedLink>& links() { return links_; }
  const std::string& name(size_t link) const { return names_[link]; }

 private:
  // True if some ranks are in one group.
  static bool is_shared(std::vector<int32_t> group_of);
  void add(const std::string& level, std::vector<int32_t> group_of, const Machine& machine);

  size_t ranks_;
  std::vector<int32_t> node_of_;
  std::vector<std::vector<int32_t>> groups_;  // indexed by level from the outside in, and by rank
  std::vector<size_t> first_;                 // indexed by level: the index of its first link
  std::vector<const LevelCost*> costs_;
  std::vector<std::string> names_;
  std::vector<SharedLink> links_;
  size_t first_memory_ = 0;
};

// A node's adapter: messages leave, or come in, one after another.
struct Adapter {
  double free = 0, busy = 0, bytes = 0;
  size_t messages = 0;

  // Returns when the first byte of a message passes that is there at `ready`. Its bytes take
  // `moving`, and the next message comes `gap` after this one at the earliest.
  double pass(double ready, double moving, double gap, double length) {
    const double begin = std::max(free, ready), time = std::max(moving, gap);
    free = begin + time;
    busy += time;
    bytes += length;
    ++messages;
    return begin;
  }
};

}  // namespace tutti::model
