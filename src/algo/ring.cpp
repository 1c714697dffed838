#include "algo/ring.h"

#include <algorithm>

#include "algo/fold.h"
#include "algo/interval.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

class Ring {
 public:
  Ring(Plan& plan, const placement::Levels& levels)
      : plan_(plan), order_(by_levels(plan.ranks, levels)) {}

  // The allgather of parts that are in `in`.
  void allgather() {
    for_each_rank(
        [&](int32_t at) { plan_.copy(plan::out(rank(at), rank(at)), plan::in(rank(at))); });
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      for_each_rank([&](int32_t at) {
        const int32_t part = rank(at - step);
        plan_.copy(plan::out(rank(at), part),
                   step == 1 ? plan::in(rank(at - 1)) : plan::out(rank(at - 1), part));
      });
    }
  }

  // The allgather of tiles; each is in its owner's `out` already.
  void collect_tiles() {
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      for_each_rank([&](int32_t at) {
        const int32_t tile = rank(at - step);
        plan_.copy(plan::out(rank(at), tile), plan::out(rank(at - 1), tile));
      });
    }
  }

  // Reduces block b of the vectors to rank b. In its `out` it is the only block (one_part) or block
  // b.
  void combine(bool one_part) {
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      for_each_rank([&](int32_t at) {
        const int32_t block = rank(at - step - 1);
        const Region left =
            step == 1 ? plan::in(rank(at - 1), block) : plan::tmp(rank(at - 1), (step - 1) % 2);
        const bool arrives = step + 1 == plan_.ranks;
        const Region result = plan::out(rank(at), one_part ? 0 : block);
        const Region value = arrives ? result : plan::tmp(rank(at), step % 2);
        plan_.reduce(value, {left, plan::in(rank(at), block)});
      });
    }
  }

  // A scatter of the root's tiles, the n-th to the n-th place after the root, then their allgather.
  void broadcast() {
    const auto root = std::find(order_.begin(), order_.end(), plan_.root);
    std::rotate(order_.begin(), root, order_.end());
    std::vector<int32_t> held(order_.size(), 0);  // indexed by place: tiles from the scatter
    scatter({0, plan_.ranks}, held);
    for (int32_t step = 1; step < plan_.ranks; ++step) {
      for_each_rank([&](int32_t at) {
        const int32_t tile = (at - step + plan_.ranks) % plan_.ranks;
        if (step <= plan_.ranks - held[static_cast<size_t>(at)])
          plan_.copy(tiles_of(at, tile, 1),
                     tiles_of((at - 1 + plan_.ranks) % plan_.ranks, tile, 1));
      });
    }
  }

 private:
  Region tiles_of(int32_t at, int32_t first, int32_t count) const {
    return at == 0 ? plan::in(rank(at), first, count) : plan::out(rank(at), first, count);
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
  int32_t rank(int32_t at) const {
    return order_[static_cast<size_t>((at + 2 * plan_.ranks) % plan_.ranks)];
  }
  void for_each_rank(auto&& visit) const {
    for (int32_t at = 0; at < plan_.ranks; ++at) visit(at);
  }

  Plan& plan_;
  std::vector<int32_t> order_;
};

}  // namespace

Plan ring(Collective collective, int ranks, int root, const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.blocks = ranks;
  plan.root = root;
  Ring ring(plan, levels);
  if (collective == Collective::bcast) {
    ring.broadcast();
    return plan;
  }
  if (collective == Collective::allgather) {
    ring.allgather();
    return plan;
  }
  plan.commutative = ranks > 1;
  if (ranks == 1) plan.copy(plan::out(0), plan::in(0));
  ring.combine(collective == Collective::reduce_scatter);
  if (collective == Collective::allreduce) ring.collect_tiles();
  return plan;
}

}  // namespace tutti::algo
