#include "algo/tiled.h"

#include <algorithm>

#include "algo/branch.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

class Tiler {
 public:
  Tiler(Plan& plan, const Tiling& tiling)
      : plan_(plan), groups_(tiling.groups), cyclic_(tiling.cyclic) {
    for (const auto& group : groups_) tiles_ = std::max(tiles_, size(group));
    plan_.blocks = tiles_;
  }

  void run() {
    for (const auto& group : groups_) put(group);
    for (int32_t tile = 0; tile < tiles_; ++tile) combine(tile);
    if (plan_.collective == plan::Collective::reduce) {
      collect_at_root();
    } else {
      for (int32_t tile = 0; tile < tiles_; ++tile) to_groups(tile);
      for (const auto& group : groups_) collect(group);
    }
  }

 private:
  using Group = std::vector<int32_t>;

  static int32_t size(const Group& group) { return static_cast<int32_t>(group.size()); }
  int32_t owner_place(const Group& group, int32_t tile) const {
    return static_cast<int32_t>(int64_t{tile} * size(group) / tiles_);
  }
  int32_t owner(const Group& group, int32_t tile) const {
    return group[static_cast<size_t>(owner_place(group, tile))];
  }
  Region partial(int32_t rank, int32_t tile) const { return plan::tmp(rank, tiles_ + tile); }

  // The group whose owner of a tile gets the tile's result. In a reduce it is the root's group;
  // else the tiles are divided among the groups.
  const Group& top_group(int32_t tile) const {
    if (plan_.collective == plan::Collective::reduce) {
      for (const Group& group : groups_) {
        if (std::find(group.begin(), group.end(), plan_.root) != group.end()) return group;
      }
    }
    return groups_[static_cast<size_t>(int64_t{tile} * static_cast<int64_t>(groups_.size()) /
                                       tiles_)];
  }
  int32_t top(int32_t tile) const { return owner(top_group(tile), tile); }

  Region result(int32_t tile) const {
    const int32_t rank = top(tile);
    const bool has_out = plan_.collective != plan::Collective::reduce || rank == plan_.root;
    return has_out ? plan::out(rank, tile) : partial(rank, tile);
  }

  // Every rank copies the tiles that others combine to its slot before any rank writes a result, so
  // that ranks may pass one buffer as `in` and `out`.
  void put(const Group& group) {
    for (int32_t place = 0; place < size(group); ++place) {
      const int32_t rank = group[static_cast<size_t>(place)];
      int32_t first = 0;
      for (int32_t tile = 0; tile <= tiles_; ++tile) {
        if (tile < tiles_ && owner_place(group, tile) != place) continue;
        if (tile > first)
          plan_.copy(plan::tmp(rank, first, tile - first), plan::in(rank, first, tile - first));
        first = tile + 1;
      }
    }
  }

  void combine(int32_t tile) {
    std::vector<Branch> owners;
    for (const Group& group : groups_) {
      const int32_t rank = owner(group, tile);
      plan_.reduce(groups_.size() == 1 ? result(tile) : partial(rank, tile), sources(group, tile));
      owners.push_back({rank, 1, {}});
    }
    if (groups_.size() == 1) return;
    std::vector<Region> partials;
    across(joined(std::move(owners), {2}, top(tile)), tile, partials);
    plan_.reduce(result(tile), std::move(partials));
  }

  std::vector<Region> sources(const Group& group, int32_t tile) const {
    std::vector<Region> regions;
    const int32_t own = owner_place(group, tile);
    for (int32_t i = 0; i < size(group); ++i) {
      const int32_t place = cyclic_ ? (own + i) % size(group) : i,
                    rank = group[static_cast<size_t>(place)];
      regions.push_back(place == own ? plan::in(rank, tile) : plan::tmp(rank, tile));
    }
    return regions;
  }

  // Reduces a tile up the tree of its owners, one per group. An owner combines into the block of
  // its own partial result.
  void across(const Branch& branch, int32_t tile, std::vector<Region>& partials) {
    if (branch.parts.empty()) return partials.push_back(partial(branch.leader, tile));
    for (const Branch& part : branch.parts) {
      if (part.leader == branch.leader) {
        across(part, tile, partials);
        continue;
      }
      std::vector<Region> inner;
      across(part, tile, inner);
      if (inner.size() > 1) plan_.reduce(partial(part.leader, tile), std::move(inner));
      partials.push_back(partial(part.leader, tile));
    }
  }

  void collect_at_root() {
    for (int32_t tile = 0; tile < tiles_; ++tile) {
      if (top(tile) != plan_.root) plan_.copy(plan::out(plan_.root, tile), result(tile));
    }
  }

  void to_groups(int32_t tile) {
    for (const Group& group : groups_) {
      if (owner(group, tile) != top(tile))
        plan_.copy(plan::out(owner(group, tile), tile), result(tile));
    }
  }

  // Each rank starts with another tile, so that they do not all read the same rank.
  void collect(const Group& group) {
    for (int32_t place = 0; place < size(group); ++place) {
      const int32_t rank = group[static_cast<size_t>(place)];
      for (int32_t step = 0; step < tiles_; ++step) {
        const int32_t tile =
            (static_cast<int32_t>(int64_t{place} * tiles_ / size(group)) + step) % tiles_;
        if (owner(group, tile) != rank)
          plan_.copy(plan::out(rank, tile), plan::out(owner(group, tile), tile));
      }
    }
  }

  Plan& plan_;
  const std::vector<Group>& groups_;
  bool cyclic_;
  int32_t tiles_ = 0;
};

}  // namespace

Plan tiled(plan::Collective collective, int ranks, int root, const Tiling& tiling) {
  Plan plan;
  plan.collective = collective;
  plan.ranks = ranks;
  plan.root = root;
  Tiler(plan, tiling).run();
  return plan;
}

}  // namespace tutti::algo
