// Tiled reduce and allreduce: every rank combines some tiles of the vector for all, then who wants
// the result collects them.
//
//   plain      each tile of all ranks by one rank, reading them in rank order
//   cyclic     the same, each beginning with its own, so that they do not all read one rank at a
//   time on levels  each tile by one rank of every outermost group for that group, then up a binary
//   tree between the groups; the
//              result goes to one rank a group first, and from there to the group
//
// When: long vectors and three ranks or more; all ranks combine at once, where a flat reduce leaves
// it to the root. On levels a tile crosses a border once for each group, else once for each rank.
// Cost: 2 alpha + 2 (p - 1) / p m beta + (p - 1) / p m gamma, and a copy in of (p - 1) / p m (for a
// reduce the root alone collects). On levels, of s groups of q: (2 + ceil(log2 s)) alpha, (q - 1) /
// q m (beta + gamma) in the group twice, and m / q (beta + gamma) for each level of the tree
// across. Restrictions: plain none; rank order is kept on levels where groups are runs of ranks,
// not by cyclic. Uniform, because each tile is combined once. Source: HMPI section 2.4
// (tiled-reduce-broadcast) and 3.2 (the three forms; cyclic is Mamidala's).
#pragma once

#include <vector>

#include "plan/plan.h"

namespace tutti::algo {

struct Tiling {
  std::vector<std::vector<int32_t>> groups;  // all ranks; one group: plain
  bool cyclic = false;
};

// reduce and allreduce.
plan::Plan tiled(plan::Collective collective, int ranks, int root, const Tiling& tiling);

}  // namespace tutti::algo
