// Vector clocks: which transfers each rank knows to have been executed, by the waits of a scheduled
// plan. Internal to src/plan.
//
// One walk over the transfers, in their order, owns them; one thread. For plans that are too large
// nothing is known, which costs additional waits and never correctness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

// Above these limits, clocks would cost more than the waits that they save.
inline constexpr int32_t max_clocked_ranks = 1024;
inline constexpr size_t max_clock_entries = size_t{1} << 26;

// A clock holds, for each rank, the largest index + 1 of its transfers known to have been executed.
class VectorClocks {
 public:
  explicit VectorClocks(const Plan& plan)
      : ranks_(plan.ranks),
        enabled_(plan.ranks <= max_clocked_ranks &&
                 plan.transfers.size() <= max_clock_entries / size_t(plan.ranks)),
        now_(enabled_ ? size_t(ranks_) * ranks_ : 0) {
    if (enabled_) after_.resize(plan.transfers.size() * static_cast<size_t>(ranks_));
  }

  bool enabled() const { return enabled_; }

  bool knows(int32_t rank, const Plan& plan, int32_t transfer) const {
    return enabled_ && now_[size_t(rank) * ranks_ + plan.transfers[transfer].executor()] > transfer;
  }

  // True where the execution of the later transfer implies that of the earlier one.
  bool implied(int32_t earlier, const Plan& plan, int32_t later) const {
    const int32_t executor = plan.transfers[earlier].executor();
    if (executor == plan.transfers[later].executor()) return true;
    return enabled_ && after_[size_t(later) * ranks_ + executor] > earlier;
  }

  void wait(int32_t rank, int32_t transfer) {
    if (!enabled_) return;
    int32_t* mine = &now_[size_t(rank) * ranks_];
    const int32_t* theirs = &after_[size_t(transfer) * ranks_];
    for (int32_t q = 0; q < ranks_; ++q) mine[q] = std::max(mine[q], theirs[q]);
  }

  void execute(int32_t rank, int32_t transfer) {
    if (!enabled_) return;
    int32_t* mine = &now_[size_t(rank) * ranks_];
    mine[rank] = transfer + 1;
    std::copy(mine, mine + ranks_, &after_[size_t(transfer) * ranks_]);
  }

  // True where the rank knows of a transfer of every rank on its node.
  bool knows_all(int32_t rank, const placement::NodeOf& nodes) const {
    if (!enabled_) return ranks_ == 1;
    for (int32_t q = 0; q < ranks_; ++q) {
      if (q != rank && nodes.together(q, rank) && now_[size_t(rank) * ranks_ + q] == 0)
        return false;
    }
    return true;
  }

 private:
  int32_t ranks_;
  bool enabled_;
  std::vector<int32_t> now_;    // by rank
  std::vector<int32_t> after_;  // by transfer: its executor's clock when it was done
};

}  // namespace tutti::plan
