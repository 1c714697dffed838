// Gather and scatter by a tree: inner ranks collect the parts of their branch, or hand them out.
//
// Idea: the branches are those of the tree reduce (branch.h). A leader holds its branch's parts in
// `tmp`, in the branch's order, and passes them on as runs; the root copies runs of consecutive
// ranks to their places. A fixed tree is led by rank 0, which gets the parts from the root or hands
// them to it.
// When: not all ranks should read from the root or be read by it; few messages at the root if
// hand-overs are expensive.
// Cost: ceil(log_d p) alpha + p m beta at the root; each part moves once per level of the tree, so
// a flat tree is better for long messages.
// Restrictions: none; any rank count, root and tree. A leader's slot holds as many parts as its
// branch has ranks.
// Source: NUMACol sections 3.2 and 4.2 (gather and scatter by tree; the tree's root and the
// operation's).
#pragma once

#include "algo/branch.h"
#include "plan/plan.h"

namespace tutti::algo {

// gather and scatter. `branch` is led by the root, or by another rank if the tree is fixed.
plan::Plan parts_tree(plan::Collective collective, int ranks, int root, const Branch& branch);

}  // namespace tutti::algo
