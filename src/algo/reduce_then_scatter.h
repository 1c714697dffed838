// A reduce_scatter as a reduce of the whole vector to one rank, and a scatter of its parts from
// there. A rank that leads no others takes its part straight from the rank that has it to `out`.
//
// When: short vectors on a node with levels. Other algorithms move fewer bytes: here one rank
// receives the whole vector and hands out all of it.
// Cost: that of the reduce of all parts and that of the scatter.
// Restrictions: those of the reduce. The rank that combines needs room for the whole vector.
// Source: HMPI section 2.6. A pure function, for any thread.
#pragma once

#include "algo/branch.h"
#include "plan/plan.h"

namespace tutti::algo {

// `down` is a tree of the ranks of `reduce`, led by its root: the parts' way.
plan::Plan reduce_then_scatter(const plan::Plan& reduce, const Branch& down);

}  // namespace tutti::algo
