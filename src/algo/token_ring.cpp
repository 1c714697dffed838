#include "algo/token_ring.h"

#include <algorithm>
#include <utility>

#include "algo/fold.h"
#include "algo/hierarchy.h"
#include "algo/parts.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

// In two phases: how many ranks that need no token copy at once.
constexpr int32_t most_near = 2;

class TokenRing {
 public:
  TokenRing(Plan& plan, const RingForm& ring, const placement::Levels& levels)
      : plan_(plan), tokens_(ring.tokens), others_(by_levels(plan.ranks, levels)) {
    const auto root = std::find(others_.begin(), others_.end(), plan.root);
    std::rotate(others_.begin(), root, others_.end());
    others_.erase(others_.begin());
    const std::vector<bool> is_near = near_the_root(ring.within, levels);
    for (const int32_t rank : others_)
      (is_near[static_cast<size_t>(rank)] ? near_ : ring_).push_back(rank);
    is_between_nodes_ = !levels.one_level() && (levels.all().front().name == "node" ||
                                                levels.all().front().name == "cluster");
  }

  bool has_turns() const { return !ring_.empty(); }

  void by_ranks() {
    if (gathers()) {
      in_groups(
          [&](int32_t rank, int32_t place) {
            take_token(rank);
            put(rank, place);
          },
          [&](int32_t rank, int32_t place) { take(rank, place); });
    } else {
      in_groups([&](int32_t rank, int32_t place) { put(rank, place); },
                [&](int32_t rank, int32_t place) {
                  take_token(rank);
                  take(rank, place);
                });
    }
    copy_own();
    if (!has_turns()) return;
    // All transfers have one stage. In a pipeline over stages each rank would copy a different
    // segment, and all ranks would copy at once.
    for (plan::Transfer& transfer : plan_.transfers) transfer.stage = 0;
  }

  void by_root() {
    for (const int32_t rank : others_) {
      plan_.copy(out_of(rank), in_of(rank));
      plan_.transfers.back().push = !gathers();
    }
    copy_own();
  }

  // The two phases are two segments. The stages of ranks follow their places in the ring, so a rank
  // copies its last segment while its successor copies the first one.
  void in_two_phases() {
    copy_own();
    std::vector<Turn> turns;
    for (size_t k = 0; k < near_.size(); ++k) {
      const auto at = static_cast<int32_t>(k);
      turns.push_back({near_[k], -1, at / most_near, at % most_near});
    }
    const int32_t at_once = std::min(tokens_, most_window),
                  window = std::min(2 * at_once, most_window),
                  first_place = std::min(static_cast<int32_t>(near_.size()), most_near);
    for (size_t k = 0; k < ring_.size(); ++k) {
      const auto at = static_cast<int32_t>(k);
      const int32_t after = at < tokens_ ? -1 : ring_[k - static_cast<size_t>(tokens_)];
      turns.push_back(
          {ring_[k], after, at / at_once, is_between_nodes_ ? nowhere : first_place + at % window});
    }
    int32_t stages = 0;
    for (const Turn& turn : turns) stages = std::max(stages, turn.stage + 2);
    for (int32_t stage = 0; stage < stages; ++stage) {
      const size_t first = plan_.transfers.size();
      for (const Turn& turn : turns)
        if (turn.stage + 1 == stage) end(turn);
      for (const Turn& turn : turns)
        if (turn.stage == stage) begin(turn);
      for (size_t at = first; at < plan_.transfers.size(); ++at) plan_.transfers[at].stage = stage;
    }
    plan_.transfers.front().stage = 0;
  }

 private:
  static constexpr int32_t nowhere = -1;
  // The time and place of a move of a rank's part.
  struct Turn {
    int32_t rank;
    int32_t after;  // the rank from which it takes the token; -1: it needs none
    int32_t stage;
    int32_t place;  // in the root's slot; nowhere: from buffer to buffer
  };

  void begin(const Turn& turn) {
    if (gathers() && turn.after >= 0) plan_.token(turn.rank, turn.after);
    if (turn.place != nowhere) return put(turn.rank, turn.place);
    plan_.copy(out_of(turn.rank), in_of(turn.rank));
    plan_.transfers.back().push = gathers();
  }
  // The root sends in the order of the ring, so messages of a scatter need no tokens.
  void end(const Turn& turn) {
    if (turn.place == nowhere) return;
    if (!gathers() && turn.after >= 0) plan_.token(turn.rank, turn.after);
    take(turn.rank, turn.place);
  }

  // Indexed by rank: true if the rank needs no token.
  std::vector<bool> near_the_root(bool within, const placement::Levels& levels) const {
    std::vector<bool> is_near(static_cast<size_t>(plan_.ranks), !within);
    const auto& all = levels.all();
    const int32_t node = node_level(levels);
    if (levels.one_level() || (!within && node < 0 && all.front().name != "cluster"))
      return is_near;
    // Nodes of one rank each, in clusters, are no level: then no rank is on the root's node.
    if (!within && node < 0) return std::vector<bool>(is_near.size(), false);
    const std::vector<int32_t> group_of =
        all[within ? 0 : static_cast<size_t>(node)].group_of.values();
    for (size_t rank = 0; rank < is_near.size(); ++rank)
      is_near[rank] = group_of[rank] == group_of[static_cast<size_t>(plan_.root)];
    return is_near;
  }

  bool gathers() const { return plan_.collective == plan::Collective::gather; }
  // The part of a rank at its source and at its destination.
  Region in_of(int32_t rank) const {
    return gathers() ? plan::in(rank) : plan::in(plan_.root, rank);
  }
  Region out_of(int32_t rank) const {
    return gathers() ? plan::out(plan_.root, rank) : plan::out(rank);
  }
  void copy_own() { plan_.copy(out_of(plan_.root), in_of(plan_.root)); }

  // Into the root's slot, and out of it.
  void put(int32_t rank, int32_t place) {
    plan_.copy(plan::tmp(plan_.root, place), in_of(rank));
    plan_.transfers.back().push = gathers();
  }
  void take(int32_t rank, int32_t place) { plan_.copy(out_of(rank), plan::tmp(plan_.root, place)); }

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
  std::vector<int32_t> near_;    // the rest
  bool is_between_nodes_ = false;
  int32_t next_ = 0;  // the place in ring_ of the first that has not taken one
};

}  // namespace

Plan token_ring(plan::Collective collective, int ranks, int root, const RingForm& ring,
                const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  plan.blocks = ranks;
  TokenRing writer(plan, ring, levels);
  if (ring.by_root) {
    writer.by_root();
  } else if (ring.threshold > 0 && writer.has_turns()) {
    plan.last_segment = ring.threshold;
    writer.in_two_phases();
  } else {
    writer.by_ranks();
  }
  return plan;
}

}  // namespace tutti::algo
