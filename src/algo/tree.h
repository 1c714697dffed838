// Tree reduce and broadcast, and the reduce-broadcast made of them, on one level or on several.
//
// Idea: partial results flow up a tree of ranks (branch.h), the result flows down one. An inner
// rank combines its own contribution and its children's partial results in the tree's order: all in
// one transfer, for which it waits for all children, or (stepwise) each child's in a transfer of
// its own, the smallest branch's first. A barrier is the allreduce of no bytes (HMPI, section 2.6).
//
//   stepwise   On the critical path of a binomial tree of 2^k ranks lie k combinations of two
//              vectors, not k (k + 1) / 2. But the leader's vector passes through its core once for
//              each child, and each transfer is a step of its own.
//   one_stage  All ranks read the result from the root at once, whatever tree the partial results
//              take (HMPI's one-stage broadcast).
//   two_stage  The leaders of the outermost groups read the result from the root at once, then all
//              others from their leader (HMPI's two-stage broadcast after any reduction).
//   fixed      One tree serves all roots; rank 0 leads it. The operation's root hands its data to
//              rank 0, or gets the result from there (NUMACol). Without `fixed` each root has its
//              own tree.
//
// When: degree 2 for few hand-overs with many ranks; one hand-over (flat) if ranks share a cache or
// a core; levels if transfers between groups are expensive. fixed costs one hand-over more, and
// saves no work here, because each root has its own program anyway. It is for comparisons.
// Cost, per phase and level: ceil(log_d q) (alpha + (d - 1) m beta) for groups of q, and m gamma
// for each source combined. Stepwise, what is combined below the last child is done before that
// child is ready. With `leaves`: alpha + (q - d) m beta' and then ceil(log2 d) (alpha + m
// beta), where beta' is the time per byte of the link that all share.
// Restrictions: on one level, and if groups are runs of ranks, none: any rank count, root and
// operation; else the operation must commute. Uniform.
// Source: HMPI sections 2.2 and 2.6, figures 4 and 20 (which combine child by child); NUMACol
// section 3; PATHS section 4 (trees as data).
#pragma once

#include <cstdint>

#include "algo/branch.h"
#include "plan/plan.h"

namespace tutti::algo {

enum class Combining : uint8_t { at_once, stepwise };

// bcast, reduce, allreduce and barrier. `up` is led by the root, or by another rank if the tree is
// fixed.
plan::Plan tree(plan::Collective collective, int ranks, int root, const Branch& up,
                const Branch& down, Combining combining);

}  // namespace tutti::algo
