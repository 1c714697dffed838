// Gather and scatter by a tree: inner ranks collect the parts of their branch of ranks, or hand
// them out.
//
// Idea: the branches are those of the tree reduce (branch.h). A leader holds its branch's parts in
// `tmp`, in the branch's order, and hands them on as runs; the root puts runs of neighbouring ranks
// where they belong. A tree that is fixed is led by rank 0, which gets the parts from the root, or
// hands them to it. When: the root must not be read from, or read, by all ranks; few messages at
// the root where hand-overs are dear. Cost: ceil(log_d p) alpha + p m beta at the root; each part
// moves once a level, so long messages do better flat. Restrictions: none; any rank count, root and
// tree. A leader's slot holds as many parts as its branch has ranks. Source: NUMACol sections 3.2
// and 4.2 (gather and scatter by tree; the tree's root and the operation's).
#pragma once

#include "algo/branch.h"
#include "plan/plan.h"

namespace tutti::algo {

// gather and scatter. `branch` is led by the root, or, where the tree is fixed, by another rank.
plan::Plan parts_tree(plan::Collective collective, int ranks, int root, const Branch& branch);

}  // namespace tutti::algo
