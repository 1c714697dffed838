// Tree reduce and broadcast, and the reduce-broadcast made of them.
//
// Idea: partial results flow up a tree over intervals of ranks (interval.h), the result flows down a tree of the same
// shape. An inner rank combines all its children's partial results and its own contribution in one transfer, in rank
// order. A barrier is the allreduce of no bytes (HMPI, section 2.6).
// When: few hand-overs with degree 2 and many ranks; one hand-over (degree p) where ranks share a cache or a core.
// Cost, per phase: ceil(log_d p) (alpha + (d - 1) m beta), and m gamma for each source combined.
// Restrictions: none; any rank count, root and operation; uniform.
// Source: HMPI sections 2.2 and 2.6 (n-ary tree, one-stage broadcast); PATHS section 4 (trees as data).
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan tree(plan::Collective collective, int ranks, int root, int degree);

}  // namespace tutti::algo
