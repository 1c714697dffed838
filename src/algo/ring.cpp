#include "algo/ring.h"

#include <algorithm>
#include <utility>

#include "algo/fold.h"
#include "algo/interval.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

// Writes the patterns of the rank at place 0 of the ring.
class Pattern {
 public:
  explicit Pattern(Plan& plan) : plan_(plan) {}

  // The allgather of parts that are in `in`.
  void allgather() {
    plan_.copy(plan::out(0, 0), plan::in(0));
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      const int32_t part = behind(step);
      plan_.copy(plan::out(0, part), step == 1 ? plan::in(behind(1)) : plan::out(behind(1), part));
    }
  }

  // The allgather of tiles; each is in its owner's `out` already.
  void collect_tiles() {
    for (int32_t step = 1; step < plan_.ranks; ++step)
      plan_.copy(plan::out(0, behind(step)), plan::out(behind(1), behind(step)));
  }

  // Reduces the block of each place to its rank. In its `out` it is the only block (one_part) or
  // has the place of its own.
  void combine(bool one_part) {
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      const int32_t block = behind(step + 1);
      const Region left =
          step == 1 ? plan::in(behind(1), block) : plan::tmp(behind(1), (step - 1) % 2);
      const bool arrives = step + 1 == plan_.ranks;
      const Region result = plan::out(0, one_part ? 0 : block);
      const Region value = arrives ? result : plan::tmp(0, step % 2);
      plan_.reduce(value, {left, plan::in(0, block)});
    }
  }

 private:
  int32_t behind(int32_t distance) const { return (2 * plan_.ranks - distance) % plan_.ranks; }

  Plan& plan_;
};

class Broadcast {
 public:
  Broadcast(Plan& plan, const placement::Levels& levels)
      : plan_(plan), order_(by_levels(plan.ranks, levels)) {}

  // A scatter of the root's tiles, the n-th to the n-th place after the root, then their allgather.
  void run() {
    plan_.expect(int64_t{plan_.ranks} * plan_.ranks);
    const auto root = std::find(order_.begin(), order_.end(), plan_.root);
    std::rotate(order_.begin(), root, order_.end());
    std::vector<int32_t> held(order_.size(), 0);  // indexed by place: tiles from the scatter
    scatter({0, plan_.ranks}, held);
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      for (int32_t at = 0; at < plan_.ranks; ++at) {
        const int32_t tile = (at - step + plan_.ranks) % plan_.ranks;
        if (step <= plan_.ranks - held[static_cast<size_t>(at)])
          plan_.copy(tiles_of(at, tile, 1),
                     tiles_of((at - 1 + plan_.ranks) % plan_.ranks, tile, 1));
      }
    }
  }

 private:
  Region tiles_of(int32_t at, int32_t first, int32_t count) const {
    const int32_t rank = order_[static_cast<size_t>(at)];
    return at == 0 ? plan::in(rank, first, count) : plan::out(rank, first, count);
  }
  // The first place of the interval has its tiles, and gives each other part its own.
  void scatter(Interval interval, std::vector<int32_t>& held) {
    int32_t& of_first = held[static_cast<size_t>(interval.low)];
    of_first = std::max(of_first, interval.size());
    if (interval.size() == 1) return;
    const std::vector<Interval> halves = parts(interval, 2);
    const Interval& other = halves.back();
    plan_.copy(tiles_of(other.low, other.low, other.size()),
               tiles_of(interval.low, other.low, other.size()));
    for (const Interval& half : halves) scatter(half, held);
  }

  Plan& plan_;
  std::vector<int32_t> order_;
};

}  // namespace

plan::Written ring(Collective collective, int ranks, int root, const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = ranks;
  plan.root = root;
  if (collective == Collective::bcast) {
    Broadcast(plan, levels).run();
    return plan;
  }
  Pattern pattern(plan);
  if (collective == Collective::allgather) {
    pattern.allgather();
  } else {
    plan.commutative = ranks > 1;
    if (ranks == 1) plan.copy(plan::out(0), plan::in(0));
    pattern.combine(collective == Collective::reduce_scatter);
    if (collective == Collective::allreduce) pattern.collect_tiles();
  }
  return plan::Symmetric{std::move(plan), by_levels(ranks, levels)};
}

}  // namespace tutti::algo
