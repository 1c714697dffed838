#include "algo/token_ring.h"

#include <algorithm>

#include "algo/fold.h"
#include "algo/parts.h"

namespace tutti::algo {
namespace {

using plan::Plan;

class TokenRing {
 public:
  TokenRing(Plan& plan, int32_t tokens, const placement::Levels& levels)
      : plan_(plan), tokens_(tokens), others_(by_levels(plan.ranks, levels)) {
    const auto root = std::find(others_.begin(), others_.end(), plan.root);
    std::rotate(others_.begin(), root, others_.end());
    others_.erase(others_.begin());
    std::vector<int32_t> group_of(static_cast<size_t>(plan.ranks));
    if (!levels.one_level()) group_of = levels.all().front().group_of.values();
    const auto at_the_root = [&](int32_t rank) {
      return !levels.one_level() &&
             group_of[static_cast<size_t>(rank)] == group_of[static_cast<size_t>(plan.root)];
    };
    std::copy_if(others_.begin(), others_.end(), std::back_inserter(ring_),
                 [&](int32_t rank) { return !at_the_root(rank); });
  }

  void gather() {
    in_groups(
        [&](int32_t rank, int32_t place) {
          take_token(rank);
          plan_.copy(plan::tmp(plan_.root, place), plan::in(rank));
          plan_.transfers.back().push = true;
        },
        [&](int32_t rank, int32_t place) {
          plan_.copy(plan::out(plan_.root, rank), plan::tmp(plan_.root, place));
        });
    plan_.copy(plan::out(plan_.root, plan_.root), plan::in(plan_.root));
  }

  void scatter() {
    in_groups(
        [&](int32_t rank, int32_t place) {
          plan_.copy(plan::tmp(plan_.root, place), plan::in(plan_.root, rank));
        },
        [&](int32_t rank, int32_t place) {
          take_token(rank);
          plan_.copy(plan::out(rank), plan::tmp(plan_.root, place));
        });
    plan_.copy(plan::out(plan_.root), plan::in(plan_.root, plan_.root));
  }

 private:
  // Calls `first` and then `second` for each rank and its place in the root's slot, group by group.
  void in_groups(auto&& first, auto&& second) {
    for (size_t low = 0; low < others_.size(); low += most_window) {
      const size_t high = std::min(low + most_window, others_.size());
      for (size_t at = low; at < high; ++at) first(others_[at], static_cast<int32_t>(at - low));
      for (size_t at = low; at < high; ++at) second(others_[at], static_cast<int32_t>(at - low));
    }
  }

  // A rank takes the token from the rank that is `tokens_` places before it in the ring. The first
  // ranks of the ring take it from the last ones, of the segment before.
  void take_token(int32_t rank) {
    const auto place = std::find(ring_.begin() + next_, ring_.end(), rank);
    if (place == ring_.end()) return;
    next_ = static_cast<int32_t>(place - ring_.begin()) + 1;
    const auto size = static_cast<int32_t>(ring_.size());
    if (tokens_ < size)
      plan_.token(rank, ring_[static_cast<size_t>((next_ - 1 + size - tokens_) % size)]);
  }

  Plan& plan_;
  const int32_t tokens_;
  std::vector<int32_t> others_;  // all ranks but the root, beginning with its neighbour
  std::vector<int32_t> ring_;    // those of them that need a token, in the same order
  int32_t next_ = 0;             // the place in ring_ of the first that has not taken one
};

}  // namespace

Plan token_ring(plan::Collective collective, int ranks, int root, int tokens,
                const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  TokenRing ring(plan, tokens, levels);
  collective == plan::Collective::gather ? ring.gather() : ring.scatter();
  // All transfers have one stage. In a pipeline over stages each rank would copy a different
  // segment, and all ranks would copy at once.
  for (plan::Transfer& transfer : plan.transfers) transfer.stage = 0;
  return plan;
}

}  // namespace tutti::algo
