// Tiled reduce and allreduce: every rank combines some tiles of the vector for all ranks; then the
// ranks that want the result copy the tiles together.
//
//   plain      One rank combines each tile, reading the ranks in rank order.
//   cyclic     The same, but each rank begins with its own vector, so that they do not all read one
//              rank at a time.
//   on levels  In every innermost group one rank combines each tile for the group. In a group of
//              groups one of these ranks combines the tile of all of them, until there is one
//              partial result for each outermost group, which a binary tree combines. The result
//              goes the same way back, from one rank of each group to one rank of each group in it.
//              The ranks for different tiles are different, so that all of a group combine alike
//              on all levels.
//   one stage  On levels, but every rank copies the result of each tile from the one rank that
//              has it, wherever that is (HMPI's one-stage broadcast, in an allreduce).
//
// When: long vectors and three ranks or more. All ranks combine at once, where a flat reduce leaves
// all work to the root. On levels a tile goes from group to group once per group, else once per
// rank.
// Cost: 2 alpha + 2 (p - 1) / p m beta + (p - 1) / p m gamma, and a copy in of (p - 1) / p m (in a
// reduce only the root collects). On levels, with s groups of q: (2 + ceil(log2 s)) alpha, twice
// (q - 1) / q m (beta + gamma) in the group, and m / q (beta + gamma) for each level of the tree
// between the groups. With more levels, where q is the ranks of an innermost group: m / q for each
// group but one in a group of the next level, and so on outwards.
// Restrictions: plain has none. cyclic does not keep rank order; on levels rank order is kept if
// groups are runs of ranks. Uniform, because each tile is combined once.
// Source: HMPI section 2.4 (tiled-reduce-broadcast) and 3.2 (the three forms; cyclic is
// Mamidala's).
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tutti::algo {

// A group of ranks, divided into the groups of the next level inside; none: an innermost group.
struct TileGroup {
  std::vector<int32_t> ranks;
  std::vector<TileGroup> parts;  // two or more
};

struct Tiling {
  std::vector<TileGroup> groups;  // the outermost groups; one group without parts: plain
  bool cyclic = false;
  bool one_stage = false;
};

// reduce and allreduce.
plan::Plan tiled(plan::Collective collective, int ranks, int root, const Tiling& tiling);

}  // namespace tutti::algo
