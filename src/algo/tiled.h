// Tiled allreduce: every rank combines one tile of the vector for all, then everybody collects the tiles.
//
// When: long vectors and three ranks or more; all ranks combine at once, where a flat reduce leaves it to the root.
// Cost: 2 alpha + 2 (p - 1) / p m beta + (p - 1) / p m gamma, and a copy in of (p - 1) / p m.
// Restrictions: none; uniform and in rank order, because each tile is combined once, at one rank.
// Source: HMPI section 2.4 (tiled-reduce-broadcast), on one level.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan tiled(plan::Collective collective, int ranks);

}  // namespace tutti::algo
