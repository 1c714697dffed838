// Vector clocks: which transfers each rank knows to have been executed, by the waits of a scheduled
// plan. Internal to src/plan.
//
// One walk over the transfers, in their order, owns them; one thread. Their gaps, as in plans that
// are too large, cost additional waits and never correctness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "plan/plan.h"

namespace tutti::plan {

// Above these limits, clocks would cost more than the waits that they save.
inline constexpr int32_t max_clocked_ranks = 1024;
inline constexpr size_t max_clock_entries = size_t{1} << 26;

// A clock holds, for each rank, the largest index + 1 of its transfers known to have been executed.
// The clock of a rank after a transfer is kept only if another transfer may wait for that one, and
// until the last of these has been executed. Where a rank has not waited yet, its clock has only
// itself and is not kept.
class VectorClocks {
 public:
  // `last_use`: by transfer the last one that may wait for it; -1: none. `pairs`: a wait tells only
  // of the transfers of the rank that is waited for, and not what that rank knew.
  VectorClocks(const Plan& plan, LargeVector<int32_t> last_use, bool pairs)
      : ranks_(plan.ranks),
        entries_((static_cast<size_t>(plan.ranks) + at_once - 1) / at_once * at_once),
        pairs_(pairs),
        enabled_(plan.ranks <= max_clocked_ranks &&
                 (pairs || plan.transfers.size() <= max_clock_entries / size_t(plan.ranks))) {
    executor_.reserve(plan.transfers.size());
    for (const Transfer& transfer : plan.transfers) executor_.push_back(transfer.executor());
    if (!enabled_) return;
    now_.resize(size_t(ranks_) * entries_);
    latest_.resize(ranks_);
    last_use_ = std::move(last_use);
    kept_in_.assign(plan.transfers.size(), -1);
  }

  bool enabled() const { return enabled_; }

  bool knows(int32_t rank, int32_t transfer) const {
    return enabled_ && of(rank)[executor_[transfer]] > transfer;
  }

  // True where the execution of the later transfer implies that of the earlier one. The walk is at
  // a transfer that may wait for the later one.
  bool implied(int32_t earlier, int32_t later) const {
    const int32_t executor = executor_[earlier];
    if (executor == executor_[later]) return true;
    return enabled_ && kept_in_[later] >= 0 && kept(later)[executor] > earlier;
  }

  // The rank knows of no other rank's transfers with this index or a larger one.
  int32_t latest_of_others(int32_t rank) const { return enabled_ ? latest_[rank] : 0; }

  // The walk is at a transfer of the rank that may wait for `transfer`.
  void wait(int32_t rank, int32_t transfer) {
    if (!enabled_) return;
    int32_t* mine = of(rank);
    latest_[rank] = std::max(latest_[rank], transfer + 1);
    if (kept_in_[transfer] < 0) {
      int32_t& known = mine[executor_[transfer]];
      known = std::max(known, transfer + 1);
      return;
    }
    const auto* const from = reinterpret_cast<const Entries*>(kept(transfer));
    auto* const to = reinterpret_cast<Entries*>(mine);
    for (size_t k = 0; k < entries_ / at_once; ++k) to[k] = to[k] > from[k] ? to[k] : from[k];
  }

  // The rank has executed the transfer.
  void execute(int32_t rank, int32_t transfer) {
    if (!enabled_) return;
    int32_t* mine = of(rank);
    mine[rank] = transfer + 1;
    if (pairs_ || latest_[rank] == 0 || last_use_[transfer] < 0) return;
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(after_.size() / entries_));
      after_.resize(after_.size() + entries_);
    }
    kept_in_[transfer] = free_.back();
    free_.pop_back();
    std::copy(mine, mine + entries_, kept(transfer));
  }

  // No transfer after `now` may wait for `transfer`, if `now` is the last that may.
  void end_use(int32_t transfer, int32_t now) {
    if (!enabled_ || last_use_[transfer] > now || kept_in_[transfer] < 0) return;
    free_.push_back(std::exchange(kept_in_[transfer], -1));
  }

  // True where the rank knows of a transfer of every rank on its node.
  bool knows_all(int32_t rank, const placement::NodeOf& nodes) const {
    if (!enabled_) return ranks_ == 1;
    for (int32_t q = 0; q < ranks_; ++q) {
      if (q != rank && nodes.together(q, rank) && of(rank)[q] == 0) return false;
    }
    return true;
  }

 private:
  static constexpr size_t at_once = 4;  // entries that the processor takes together
  typedef int32_t Entries __attribute__((vector_size(at_once * sizeof(int32_t)), may_alias));

  int32_t* of(int32_t rank) { return &now_[size_t(rank) * entries_]; }
  const int32_t* of(int32_t rank) const { return &now_[size_t(rank) * entries_]; }
  int32_t* kept(int32_t transfer) { return &after_[size_t(kept_in_[transfer]) * entries_]; }
  const int32_t* kept(int32_t transfer) const {
    return &after_[size_t(kept_in_[transfer]) * entries_];
  }

  const int32_t ranks_;
  const size_t entries_;  // the entries of a clock
  const bool pairs_;
  const bool enabled_;
  LargeVector<int32_t> executor_;  // indexed by transfer
  LargeVector<int32_t> now_;       // indexed by rank
  // Indexed by rank: the largest entry of its clock for others; 0: none.
  std::vector<int32_t> latest_;
  LargeVector<int32_t> last_use_;
  LargeVector<int32_t> kept_in_;  // indexed by transfer: the clock of `after_`; -1: it is not kept
  LargeVector<int32_t> after_;    // clocks
  std::vector<int32_t> free_;     // clocks of `after_` that are not used
};

}  // namespace tutti::plan
