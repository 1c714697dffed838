#include "algo/doubling.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "algo/fold.h"

namespace tutti::algo {
namespace {

using plan::Collective;
using plan::Plan;
using plan::Region;

Plan begun(Collective collective, int ranks, const placement::Levels& levels) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.commutative = plan::combines(collective) && !levels.in_rank_order();
  return plan;
}

// Calls visit(place, its partner, step) for every step and place.
void for_each_exchange(const Fold& frame, auto&& visit) {
  int32_t step = 0;
  for (int32_t distance = 1; distance < frame.size(); distance *= 2, ++step) {
    for (int32_t at = 0; at < frame.size(); ++at) visit(at, at ^ distance, step);
  }
}

// The lower place's vector comes first, so that both of a pair evaluate the same expression, in the
// order of the places.
std::vector<Region> in_order(int32_t at, Region mine, int32_t partner, Region theirs) {
  return at < partner ? std::vector{mine, theirs} : std::vector{theirs, mine};
}

void exchange_vectors(Plan& plan, const Fold& frame) {
  FoldedVectors vectors(plan, frame);
  for_each_exchange(frame, [&](int32_t at, int32_t partner, int32_t step) {
    plan.reduce(vectors.value(at, step + 1),
                in_order(at, vectors.value(at, step), partner, vectors.value(partner, step)));
  });
  vectors.close();
}

// Copies the parts of these ranks from one rank's `out` to another's, one transfer for each run.
void copy_parts(Plan& plan, int32_t to, int32_t from, std::vector<int32_t> parts) {
  std::sort(parts.begin(), parts.end());
  for (size_t low = 0; low < parts.size();) {
    size_t high = low + 1;
    while (high < parts.size() && parts[high] == parts[high - 1] + 1) ++high;
    const auto count = static_cast<int32_t>(high - low);
    plan.copy(plan::out(to, parts[low], count), plan::out(from, parts[low], count));
    low = high;
  }
}

void exchange_parts(Plan& plan, const Fold& frame) {
  std::vector<std::vector<int32_t>> holds;  // indexed by place: the ranks whose parts it has
  for (const Fold::Worker& worker : frame.workers) {
    holds.push_back({worker.rank});
    plan.copy(plan::out(worker.rank, worker.rank), plan::in(worker.rank));
    if (worker.folded == nobody) continue;
    holds.back().push_back(worker.folded);
    plan.copy(plan::out(worker.rank, worker.folded), plan::in(worker.folded));
  }
  std::vector<std::vector<int32_t>> before;
  for_each_exchange(frame, [&](int32_t at, int32_t partner, int32_t) {
    if (at == 0) before = holds;
    copy_parts(plan, frame.workers[at].rank, frame.workers[partner].rank, before[partner]);
    holds[at].insert(holds[at].end(), before[partner].begin(), before[partner].end());
  });
  for (const Fold::Worker& worker : frame.workers) {
    if (worker.folded != nobody)
      plan.copy(plan::out(worker.folded, 0, plan.ranks), plan::out(worker.rank, 0, plan.ranks));
  }
}

Region slice(const Region& region, int32_t from, int32_t count) {
  Region result = region;
  result.first += from;
  result.count = count;
  return result;
}

// A place's vector before the first step: its ranks' vectors, combined in their order.
void fold_in(Plan& plan, const Fold::Worker& worker, int32_t tiles) {
  std::vector<Region> both{plan::in(worker.rank, 0, tiles), plan::in(worker.folded, 0, tiles)};
  if (worker.folded_first) std::swap(both[0], both[1]);
  plan.reduce(plan::tmp(worker.rank, 0, tiles), std::move(both));
}

// The first of the `count` tiles that a place works on when so many are left to it. A bit of its
// number chooses a half in each step.
int32_t first_tile(const Fold& frame, int32_t at, int32_t count) {
  int32_t low = 0;
  for (int32_t bit = 1, half = frame.size() / 2; half >= count; bit *= 2, half /= 2)
    low += (at & bit) != 0 ? half : 0;
  return low;
}

// The vector has a tile for each place; afterwards each place has its own tile where
// `result(place, tile)` says. Each step halves the range of tiles that a place works on.
void halve_vectors(Plan& plan, const Fold& frame, auto&& result) {
  struct Work {
    int32_t low, count, next_tmp;
    Region value;
  };
  const int32_t tiles = frame.size();
  std::vector<Work> works;
  for (const Fold::Worker& worker : frame.workers) {
    const bool alone = worker.folded == nobody;
    if (!alone) fold_in(plan, worker, tiles);
    works.push_back({0, tiles, alone ? 0 : tiles,
                     alone ? plan::in(worker.rank, 0, tiles) : plan::tmp(worker.rank, 0, tiles)});
  }
  std::vector<Work> before;
  for_each_exchange(frame, [&](int32_t at, int32_t partner, int32_t) {
    if (at == 0) before = works;
    Work& work = works[at];
    const int32_t half = work.count / 2, rank = frame.workers[at].rank,
                  from = at < partner ? 0 : half;
    const Region value =
        half == 1 ? result(at, work.low + from) : plan::tmp(rank, work.next_tmp, half);
    plan.reduce(value, in_order(at, slice(before[at].value, from, half), partner,
                                slice(before[partner].value, from, half)));
    work = {work.low + from, half, work.next_tmp + half, value};
  });
}

// Reverses halve_vectors: the tiles that were separated last are copied together first.
// `held(place)` is how many tiles a place has already, its own among them; `tiles_of(place, first,
// count)` is where it has tiles.
void collect_tiles(Plan& plan, const Fold& frame, auto&& held, auto&& tiles_of) {
  const int32_t tiles = frame.size();
  for (int32_t count = 1; count < tiles; count *= 2) {
    for (int32_t at = 0; at < tiles; ++at) {
      if (held(at) > count) continue;
      const int32_t partner = at ^ (tiles / (2 * count)), low = first_tile(frame, partner, count);
      plan.copy(plan::out(frame.workers[at].rank, low, count), tiles_of(partner, low, count));
    }
  }
  for (int32_t at = 0; at < tiles; ++at) {
    if (frame.workers[at].folded != nobody)
      plan.copy(plan::out(frame.workers[at].folded, 0, tiles), tiles_of(at, 0, tiles));
  }
}

// The binomial tree on places that reverses the steps of halve_vectors: tiles go up to a root, or
// down from it, the most over the shortest distance.
class TileTree {
 public:
  TileTree(const Fold& frame, int32_t root) : frame_(frame) {
    while (frame.workers[root_].rank != root) ++root_;
  }

  int32_t root() const { return root_; }
  // The number of tiles that a place has when they have been collected, or scattered.
  int32_t held(int32_t at) const {
    if (at == root_) return frame_.size();
    return frame_.size() / 2 /
           static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(at ^ root_)));
  }

  // Calls visit(place nearer to the root, the other place, the other's first tile, their count).
  void for_each_down(auto&& visit) const {
    for (int32_t distance = 1; distance < frame_.size(); distance *= 2) step(distance, visit);
  }
  void for_each_up(auto&& visit) const {
    for (int32_t distance = frame_.size() / 2; distance > 0; distance /= 2) step(distance, visit);
  }

 private:
  void step(int32_t distance, auto&& visit) const {
    const int32_t count = frame_.size() / (2 * distance);
    for (int32_t at = 0; at < frame_.size(); ++at) {
      if ((at ^ root_) >= distance) continue;  // it has nothing yet, or has handed on its tiles
      const int32_t other = at ^ distance;
      visit(at, other, first_tile(frame_, other, count), count);
    }
  }

  const Fold& frame_;
  int32_t root_ = 0;  // its place
};

// A broadcast: tiles down the tree, then from all to all. Every place has them where they belong in
// its `out`.
void scatter_and_collect(Plan& plan, const Fold& frame) {
  const TileTree tree(frame, plan.root);
  const auto tiles_of = [&](int32_t at, int32_t first, int32_t count) {
    const int32_t rank = frame.workers[at].rank;
    return at == tree.root() ? plan::in(rank, first, count) : plan::out(rank, first, count);
  };
  tree.for_each_down([&](int32_t at, int32_t other, int32_t first, int32_t count) {
    plan.copy(tiles_of(other, first, count), tiles_of(at, first, count));
  });
  collect_tiles(plan, frame, [&](int32_t at) { return tree.held(at); }, tiles_of);
}

// Brings the tiles that halve_vectors leaves to the root. A place keeps the tiles that it collects
// in `tmp`, behind what halve_vectors has there.
class TilesAtRoot {
 public:
  TilesAtRoot(Plan& plan, const Fold& frame)
      : plan_(plan), frame_(frame), tree_(frame, plan.root) {}

  Region tiles(int32_t at, int32_t first, int32_t count) const {
    const Fold::Worker& worker = frame_.workers[at];
    if (at == tree_.root()) return plan::out(worker.rank, first, count);
    const int32_t used = frame_.size() - 2 + (worker.folded == nobody ? 0 : frame_.size());
    return plan::tmp(worker.rank, used + first - first_tile(frame_, at, tree_.held(at)), count);
  }

  void collect() {
    tree_.for_each_up([&](int32_t at, int32_t other, int32_t first, int32_t count) {
      plan_.copy(tiles(at, first, count), tiles(other, first, count));
    });
  }

 private:
  Plan& plan_;
  const Fold& frame_;
  const TileTree tree_;
};

// Makes the root a worker, so that it gets no whole vector in a closing step.
void put_to_work(Fold& frame, int32_t root) {
  for (Fold::Worker& worker : frame.workers) {
    if (worker.folded != root) continue;
    std::swap(worker.rank, worker.folded);
    worker.folded_first = true;
  }
}

// Halving of the ranks' parts (reduce_scatter). After each step a place works on the parts of those
// places whose numbers share one more low bit with its own.
class PartsHalving {
 public:
  PartsHalving(Plan& plan, const Fold& frame)
      : plan_(plan),
        frame_(frame),
        values_(frame.workers.size()),
        next_tmp_(frame.workers.size(), 0) {}

  void run() {
    plan_.expect(int64_t{plan_.ranks} * plan_.ranks);
    for (int32_t at = 0; at < frame_.size(); ++at) begin(at);
    std::vector<std::vector<Region>> before;
    for_each_exchange(frame_, [&](int32_t at, int32_t partner, int32_t step) {
      if (at == 0) before = values_;
      for_each_part(at, step + 1, [&](int32_t part, int32_t owner) {
        const bool last = (2 << step) == frame_.size() && part == frame_.workers[owner].rank;
        const Region value = last ? plan::out(part) : fresh(at);
        plan_.reduce(value, in_order(at, before[at][part], partner, before[partner][part]));
        values_[at][part] = value;
      });
    });
    for (int32_t at = 0; at < frame_.size(); ++at) {
      const int32_t folded = frame_.workers[at].folded;
      if (folded != nobody) plan_.copy(plan::out(folded), values_[at][folded]);
    }
  }

 private:
  void begin(int32_t at) {
    const Fold::Worker& worker = frame_.workers[at];
    for (int32_t part = 0; part < plan_.ranks; ++part)
      values_[at].push_back(plan::in(worker.rank, part));
    if (worker.folded == nobody) return;
    for (int32_t part = 0; part < plan_.ranks; ++part) {
      values_[at][part] = fresh(at);
      plan_.reduce(values_[at][part], {plan::in(worker.rank, part), plan::in(worker.folded, part)});
    }
  }

  Region fresh(int32_t at) { return plan::tmp(frame_.workers[at].rank, next_tmp_[at]++); }

  // The parts of the places whose numbers share the lowest `bits` bits.
  void for_each_part(int32_t at, int32_t bits, auto&& visit) const {
    const int32_t stride = 1 << bits;
    for (int32_t owner = at % stride; owner < frame_.size(); owner += stride) {
      visit(frame_.workers[owner].rank, owner);
      if (frame_.workers[owner].folded != nobody) visit(frame_.workers[owner].folded, owner);
    }
  }

  Plan& plan_;
  const Fold& frame_;
  std::vector<std::vector<Region>> values_;  // indexed by place and part: the partial result
  std::vector<int32_t> next_tmp_;
};

}  // namespace

Plan doubling(Collective collective, int ranks, const placement::Levels& levels) {
  Plan plan = begun(collective, ranks, levels);
  const Fold frame = fold(ranks, levels);
  if (collective == Collective::allgather) {
    plan.blocks = ranks;
    exchange_parts(plan, frame);
  } else {
    exchange_vectors(plan, frame);
  }
  return plan;
}

Plan halving(Collective collective, int ranks, int root, const placement::Levels& levels) {
  Plan plan = begun(collective, ranks, levels);
  plan.root = root;
  Fold frame = fold(ranks, levels);
  if (plan::rooted(collective)) put_to_work(frame, root);
  if (ranks == 1) {
    if (collective != Collective::bcast) plan.copy(plan::out(0), plan::in(0));
  } else if (collective == Collective::bcast) {
    plan.blocks = frame.size();
    scatter_and_collect(plan, frame);
  } else if (collective == Collective::reduce) {
    plan.blocks = frame.size();
    TilesAtRoot at_root(plan, frame);
    halve_vectors(plan, frame,
                  [&](int32_t at, int32_t tile) { return at_root.tiles(at, tile, 1); });
    at_root.collect();
  } else if (collective == Collective::reduce_scatter) {
    plan.blocks = ranks;
    PartsHalving(plan, frame).run();
  } else {
    plan.blocks = frame.size();
    const auto tiles_of = [&](int32_t at, int32_t first, int32_t count) {
      return plan::out(frame.workers[at].rank, first, count);
    };
    halve_vectors(plan, frame, [&](int32_t at, int32_t tile) { return tiles_of(at, tile, 1); });
    collect_tiles(plan, frame, [](int32_t) { return 1; }, tiles_of);
  }
  return plan;
}

}  // namespace tutti::algo
