// Collectives with a part for each rank, in one hand-over: every rank offers the parts that others
// want, and every rank takes its own from where they are offered.
//
// When: always on one node, where everybody can read everybody: each byte goes in once and out
// once. Cost: alpha + (p - 1) m beta in and out of the slots a rank (for gather and scatter: at the
// root); reduce_scatter adds (p - 1) m gamma. Restrictions: none; any rank count and root.
// reduce_scatter combines in rank order, once, at the part's owner. Parts go through the slots in
// groups of `window`, so that the slots' size does not grow with the number of ranks; a window of p
// - 1 is one group; windows are even. Source: NUMACol section 4.2 (flat gather and scatter); the
// pairwise exchange is Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
// Operations in MPICH", 2005, section 3.4, on shared memory.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

inline constexpr int most_window = 16;

// gather, scatter, allgather, alltoall and reduce_scatter.
plan::Plan one_hand_over(plan::Collective collective, int ranks, int root, int window);

}  // namespace tutti::algo
