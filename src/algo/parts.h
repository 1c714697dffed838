// Collectives with a part for each rank, in one hand-over: every rank copies the parts that others
// want to its slot, and every rank copies its own parts from the others' slots.
//
// When: always on one node, where all ranks can read each other's memory: each byte is copied into
// a slot once and out of it once.
// Cost: alpha + (p - 1) m beta into the slots and as much out of them, per rank (at the root in
// gather and scatter); reduce_scatter adds (p - 1) m gamma.
// Restrictions: none; any rank count and root. reduce_scatter combines in rank order, once, at the
// part's owner. Parts go through the slots in groups of `window`, so that the slots' size does not
// grow with the number of ranks; a window of p - 1 is one group; windows are even.
// Source: NUMACol section 4.2 (flat gather and scatter); the pairwise exchange is Thakur,
// Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005,
// section 3.4, on shared memory.
#pragma once

#include "plan/symmetric.h"

namespace tutti::algo {

inline constexpr int most_window = 16;

// gather, scatter, allgather, alltoall and reduce_scatter.
plan::Written one_hand_over(plan::Collective collective, int ranks, int root, int window);

}  // namespace tutti::algo
