// Gather and scatter by a tree: inner ranks collect the parts of their interval of ranks, or hand them out.
//
// Idea: the intervals are those of the tree reduce (interval.h). A leader holds its interval's parts in `tmp`, in rank
// order, and hands them on as runs.
// When: the root must not be read from, or read, by all ranks; few messages at the root where hand-overs are dear.
// Cost: ceil(log_d p) alpha + p m beta at the root; each part moves once a level, so long messages do better flat.
// Restrictions: none; any rank count, root and degree. A leader's slot holds as many parts as its interval has ranks.
// Source: NUMACol section 4.2 (gather and scatter by tree).
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

// gather and scatter.
plan::Plan parts_tree(plan::Collective collective, int ranks, int root, int degree);

}  // namespace tutti::algo
