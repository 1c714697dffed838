// Recursive doubling and halving: exchanges between pairs at doubling distances, for any rank
// count.
//
//   doubling  allreduce, barrier  both of a pair combine what the two have, the lower one's first:
//                                 log2 p (alpha + m beta + m gamma)
//             allgather           both of a pair take the other's parts: log2 p alpha + (p - 1) m
//             beta
//   halving   reduce_scatter      both of a pair combine the half that is theirs: log2 p alpha + (p
//   - 1) m (beta + gamma)
//             allreduce           that, and then an allgather of the tiles (Rabenseifner): 2 log2 p
//             alpha +
//                                 2 (p - 1) / p m beta + (p - 1) / p m gamma
//
// Where p is no power of two, ranks are folded first and get the result in a closing step (fold.h),
// which costs 2 (alpha + m beta), and m gamma. Distances double and places stand in the order of
// levels, so that borders are crossed in the last steps, with the least data by halving. When: a
// core a rank, and hand-overs that are cheap against the flat tree's; doubling for short vectors,
// halving for long. Restrictions: any rank count; rank order is kept where groups are runs of
// ranks, else the operation must commute. Uniform: both of a pair evaluate one expression, and a
// tile is combined once. Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective
// Communication Operations in MPICH", 2005, sections 3.1, 3.3 and 4.2; Rabenseifner, "Optimization
// of Collective Reduction Operations", 2004.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// allreduce, barrier and allgather.
plan::Plan doubling(plan::Collective collective, int ranks, const placement::Levels& levels);
// reduce_scatter and allreduce.
plan::Plan halving(plan::Collective collective, int ranks, const placement::Levels& levels);

}  // namespace tutti::algo
