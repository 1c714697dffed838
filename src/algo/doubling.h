// Recursive doubling and halving: pairs of ranks at doubling distances exchange data, for any rank
// count.
//
//   doubling  allreduce, barrier  Both ranks of a pair combine the two vectors, the lower rank's
//                                 first. Cost: log2 p (alpha + m beta + m gamma).
//             allgather           Both read the other's parts. Cost: log2 p alpha + (p - 1) m beta.
//   halving   reduce_scatter      Each combines its half of what the two hold.
//                                 Cost: log2 p alpha + (p - 1) m (beta + gamma).
//             allreduce           A reduce_scatter of tiles, then an allgather of them
//                                 (Rabenseifner). Cost: 2 log2 p alpha + 2 (p - 1) / p m beta +
//                                 (p - 1) / p m gamma.
//             reduce              A reduce_scatter of tiles, then a gather of them by a binomial
//                                 tree (Rabenseifner). Cost: as the allreduce; no rank gets the
//                                 vector twice, as inner ranks of a tree do.
//             bcast               A scatter of tiles by a binomial tree, then an allgather of them
//                                 (van de Geijn). Cost: 2 log2 p alpha + 2 (p - 1) / p m beta.
//
// If p is not a power of two, ranks are folded first and get the result in a closing step (fold.h),
// which adds 2 (alpha + m beta) + m gamma, or half of it in a reduce and a bcast, whose root is
// never folded.
// Distances double and places are in the order of levels, so that only the last steps go from group
// to group; in halving these move the least data. When: a core per rank, and hand-overs that are
// cheap compared with the flat tree's; doubling for short vectors, halving for long ones.
// Restrictions: none on the rank count. Rank order is kept if groups are runs of ranks, else the
// operation must commute. Uniform: both of a pair evaluate one expression, and a tile is combined
// once.
// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
// MPICH", 2005, sections 3.1, 3.3 and 4.2; Rabenseifner, "Optimization of Collective Reduction
// Operations", 2004; Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, "Interprocessor
// collective communication library (InterCom)", 1994, for the bcast.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// allreduce, barrier and allgather.
plan::Plan doubling(plan::Collective collective, int ranks, const placement::Levels& levels);
// reduce_scatter, reduce, allreduce and bcast. Without a root, `root` is 0.
plan::Plan halving(plan::Collective collective, int ranks, int root,
                   const placement::Levels& levels);

}  // namespace tutti::algo
