// Rings: in p - 1 steps every rank takes from its left neighbour, and from nobody else.
//
//   allgather       what that took before. Cost: (p - 1) (alpha + m beta), and as much to offer
//   what was taken reduce_scatter  a part's partial result, and adds its own: (p - 1) (alpha + m
//   beta + m gamma) allreduce       that with tiles of the vector for parts, and an allgather of
//   them: 2 (p - 1) alpha +
//                   2 (p - 1) / p m beta + (p - 1) / p m gamma
//
// The ring goes through the ranks in the order of levels: each border is crossed by one link in
// each direction of it. When: long messages where neighbours are near and others far; every link
// carries each byte once. Restrictions: reductions combine a part's ranks in the ring's order from
// its owner's right neighbour on, so the operation must commute. Uniform, because a part is
// combined along one way. Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective
// Communication Operations in MPICH", 2005, section 3.1; Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", 2009.
#pragma once

#include "plan/plan.h"
#include "placement/levels.h"

namespace tutti::algo {

// allgather, reduce_scatter and allreduce.
plan::Plan ring(plan::Collective collective, int ranks, const placement::Levels& levels);

}  // namespace tutti::algo
