// Tree reduce and broadcast, and the reduce-broadcast made of them, on one level or on several.
//
// Idea: partial results flow up a tree of ranks (branch.h), the result flows down one. An inner
// rank combines all its children's partial results and its own contribution in one transfer, in the
// tree's order. A barrier is the allreduce of no bytes (HMPI, section 2.6).
//   one_stage  the result is read from the root by all at once, whatever the tree up (HMPI's
//   one-stage broadcast); on
//              levels, a flat tree on each is the two-stage one
//   fixed      one tree for all roots, led by rank 0; the operation's root hands its data to the
//   tree's, or gets the
//              result from there (NUMACol); else each root has a tree of its own
// When: few hand-overs with degree 2 and many ranks; one hand-over (flat) where ranks share a cache
// or a core; levels where borders are dear. fixed costs one hand-over more and is for what keeps a
// tree; here it is measured against the other. Cost, per phase and level: ceil(log_d q) (alpha + (d
// - 1) m beta) for groups of q, and m gamma for each source combined. With `leaves`: alpha + (q -
// d) m beta' and then ceil(log2 d) (alpha + m beta), beta' that of what all share. Restrictions:
// any rank count, root and operation on one level, and where groups are runs of ranks; else the
// operation must commute. Uniform. Source: HMPI sections 2.2 and 2.6; NUMACol section 3; PATHS
// section 4 (trees as data).
#pragma once

#include "algo/branch.h"
#include "plan/plan.h"

namespace tutti::algo {

// bcast, reduce, allreduce and barrier. `up` is led by the root, or, where the tree is fixed, by
// another rank.
plan::Plan tree(plan::Collective collective, int ranks, int root, const Branch& up,
                const Branch& down);

}  // namespace tutti::algo
