#include "algo/tiled.h"

#include <algorithm>

#include "algo/branch.h"

namespace tutti::algo {
namespace {

using plan::Plan;
using plan::Region;

int32_t size(const std::vector<int32_t>& ranks) { return static_cast<int32_t>(ranks.size()); }
int32_t size(const std::vector<TileGroup>& groups) { return static_cast<int32_t>(groups.size()); }

// The most parts that groups have, by depth below `groups`; the last is the most ranks of an
// innermost group.
void note_most_parts(const std::vector<TileGroup>& groups, size_t depth,
                     std::vector<int32_t>& most) {
  for (const TileGroup& group : groups) {
    most.resize(std::max(most.size(), depth + 1), 1);
    const int32_t parts = group.parts.empty() ? size(group.ranks) : size(group.parts);
    most[depth] = std::max(most[depth], parts);
    note_most_parts(group.parts, depth + 1, most);
  }
}

class Tiler {
 public:
  Tiler(Plan& plan, const Tiling& tiling)
      : plan_(plan), groups_(tiling.groups), cyclic_(tiling.cyclic), one_stage_(tiling.one_stage) {
    note_most_parts(groups_, 0, most_parts_);
    for (const int32_t parts : most_parts_) tiles_ *= parts;
    plan_.blocks = tiles_;
  }

  void run() {
    if (plan_.collective == plan::Collective::allreduce)
      plan_.expect(int64_t{tiles_} * plan_.ranks);
    for (const TileGroup& group : groups_) put(group, 0);
    for (int32_t tile = 0; tile < tiles_; ++tile) combine(tile);
    if (plan_.collective == plan::Collective::reduce) return collect_at_root();
    if (one_stage_) return collect_at_once();
    for (int32_t tile = 0; tile < tiles_; ++tile) {
      for (const TileGroup& group : groups_) {
        if (owner(group, 0, tile) != top(tile))
          plan_.copy(plan::out(owner(group, 0, tile), tile), result(tile));
        hand_down(group, 0, tile);
      }
    }
    for (const TileGroup& group : groups_) collect(group, 0);
  }

 private:
  // Returns which of the parts at a depth the owner of a tile has. The parts follow from the digits
  // of a tile's number, of which the most significant belong to the innermost groups, so that an
  // owner's tiles lie side by side.
  int32_t place(int32_t parts, size_t depth, int32_t tile) const {
    int32_t unit = 1;
    for (size_t outer = 0; outer < depth; ++outer) unit *= most_parts_[outer];
    const int32_t digit = tile / unit % most_parts_[depth];
    return static_cast<int32_t>(int64_t{digit} * parts / most_parts_[depth]);
  }
  int32_t owner_place(const TileGroup& innermost, int32_t depth, int32_t tile) const {
    return place(size(innermost.ranks), static_cast<size_t>(depth), tile);
  }
  const TileGroup& owning_part(const TileGroup& group, int32_t depth, int32_t tile) const {
    return group
        .parts[static_cast<size_t>(place(size(group.parts), static_cast<size_t>(depth), tile))];
  }
  int32_t owner(const TileGroup& group, int32_t depth, int32_t tile) const {
    if (!group.parts.empty()) return owner(owning_part(group, depth, tile), depth + 1, tile);
    return group.ranks[static_cast<size_t>(owner_place(group, depth, tile))];
  }
  Region partial(int32_t rank, int32_t tile) const { return plan::tmp(rank, tiles_ + tile); }

  // The group whose owner of a tile gets the tile's result. In a reduce it is the root's group;
  // else the tiles are divided among the groups.
  const TileGroup& top_group(int32_t tile) const {
    if (plan_.collective == plan::Collective::reduce) {
      for (const TileGroup& group : groups_) {
        if (std::find(group.ranks.begin(), group.ranks.end(), plan_.root) != group.ranks.end())
          return group;
      }
    }
    return groups_[static_cast<size_t>(int64_t{tile} * size(groups_) / tiles_)];
  }
  int32_t top(int32_t tile) const { return owner(top_group(tile), 0, tile); }

  Region result(int32_t tile) const {
    const int32_t rank = top(tile);
    const bool has_out = plan_.collective != plan::Collective::reduce || rank == plan_.root;
    return has_out ? plan::out(rank, tile) : partial(rank, tile);
  }

  // Every rank copies the tiles that others combine to its slot before any rank writes a result, so
  // that ranks may pass one buffer as `in` and `out`.
  void put(const TileGroup& group, int32_t depth) {
    for (const TileGroup& part : group.parts) put(part, depth + 1);
    if (!group.parts.empty()) return;
    for (int32_t place = 0; place < size(group.ranks); ++place) {
      const int32_t rank = group.ranks[static_cast<size_t>(place)];
      int32_t first = 0;
      for (int32_t tile = 0; tile <= tiles_; ++tile) {
        if (tile < tiles_ && owner_place(group, depth, tile) != place) continue;
        if (tile > first)
          plan_.copy(plan::tmp(rank, first, tile - first), plan::in(rank, first, tile - first));
        first = tile + 1;
      }
    }
  }

  void combine(int32_t tile) {
    const bool is_alone = size(groups_) == 1;
    std::vector<Branch> owners;
    for (const TileGroup& group : groups_) {
      const int32_t rank = owner(group, 0, tile);
      combine_in(group, 0, tile, is_alone ? result(tile) : partial(rank, tile));
      owners.push_back({rank, 1, {}});
    }
    if (is_alone) return;
    std::vector<Region> partials;
    across(joined(std::move(owners), {2}, top(tile)), tile, partials);
    plan_.reduce(result(tile), std::move(partials));
  }

  // Combines a tile of all ranks of a group at its owner.
  void combine_in(const TileGroup& group, int32_t depth, int32_t tile, Region to) {
    std::vector<Region> sources;
    if (group.parts.empty()) {
      sources = vectors(group, depth, tile);
    } else {
      for (const TileGroup& part : group.parts) {
        sources.push_back(partial(owner(part, depth + 1, tile), tile));
        combine_in(part, depth + 1, tile, sources.back());
      }
    }
    plan_.reduce(to, std::move(sources));
  }

  std::vector<Region> vectors(const TileGroup& innermost, int32_t depth, int32_t tile) const {
    std::vector<Region> regions;
    const int32_t own = owner_place(innermost, depth, tile), ranks = size(innermost.ranks);
    for (int32_t i = 0; i < ranks; ++i) {
      const int32_t place = cyclic_ ? (own + i) % ranks : i,
                    rank = innermost.ranks[static_cast<size_t>(place)];
      regions.push_back(place == own ? plan::in(rank, tile) : plan::tmp(rank, tile));
    }
    return regions;
  }

  // Reduces a tile up the tree of its owners, one per outermost group. An owner combines into the
  // block of its own partial result.
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

  // Each rank starts with another tile, so that they do not all read the same rank.
  void collect_at_once() {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      const auto first = static_cast<int32_t>(int64_t{rank} * tiles_ / plan_.ranks);
      for (int32_t step = 0; step < tiles_; ++step) {
        const int32_t tile = (first + step) % tiles_;
        if (top(tile) != rank) plan_.copy(plan::out(rank, tile), result(tile));
      }
    }
  }

  // Copies a tile from the owner of a group to the owners of the groups in it.
  void hand_down(const TileGroup& group, int32_t depth, int32_t tile) {
    const int32_t from = owner(group, depth, tile);
    for (const TileGroup& part : group.parts) {
      const int32_t to = owner(part, depth + 1, tile);
      if (to != from) plan_.copy(plan::out(to, tile), plan::out(from, tile));
      hand_down(part, depth + 1, tile);
    }
  }

  // Each rank starts with another tile, so that they do not all read the same rank.
  void collect(const TileGroup& group, int32_t depth) {
    for (const TileGroup& part : group.parts) collect(part, depth + 1);
    if (!group.parts.empty()) return;
    for (int32_t place = 0; place < size(group.ranks); ++place) {
      const int32_t rank = group.ranks[static_cast<size_t>(place)];
      for (int32_t step = 0; step < tiles_; ++step) {
        const int32_t tile =
            (static_cast<int32_t>(int64_t{place} * tiles_ / size(group.ranks)) + step) % tiles_;
        const int32_t from = owner(group, depth, tile);
        if (from != rank) plan_.copy(plan::out(rank, tile), plan::out(from, tile));
      }
    }
  }

  Plan& plan_;
  const std::vector<TileGroup>& groups_;
  bool cyclic_, one_stage_;
  std::vector<int32_t> most_parts_;
  int32_t tiles_ = 1;
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
