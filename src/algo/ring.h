// Rings: in each of p - 1 steps every rank reads from its left neighbour, and from no other rank.
//
//   allgather       It reads the part that the neighbour read one step before.
//                   Cost: (p - 1) (alpha + m beta), and as much again to copy parts for the reader.
//   reduce_scatter  It reads a part's partial result and adds its own vector.
//                   Cost: (p - 1) (alpha + m beta + m gamma).
//   allreduce       A reduce_scatter of tiles, then an allgather of them.
//                   Cost: 2 (p - 1) alpha + 2 (p - 1) / p m beta + (p - 1) / p m gamma.
//   bcast           A scatter of tiles by a binomial tree, then an allgather of them. In it ranks
//   do
//                   not read the tiles that they have from the scatter.
//                   Cost: (log2 p + p - 1) alpha + 2 (p - 1) / p m beta.
//
// The ring goes through the ranks in the order of levels: one link of the ring enters each group
// and one leaves it.
// When: long messages, if neighbours are near and other ranks far; every link carries each byte
// once.
// Restrictions: reductions combine a part's ranks in the ring's order, from its owner's right
// neighbour on, so the operation must commute. Uniform, because each part is combined once.
// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
// MPICH", 2005, section 3.1; Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", 2009; Barnett, Gupta, Payne, Shuler, van de Geijn and Watts,
// "Interprocessor collective communication library (InterCom)", 1994, for the bcast.
#pragma once

#include "plan/symmetric.h"
#include "placement/levels.h"

namespace tutti::algo {

// allgather, reduce_scatter, allreduce and bcast. Without a root, `root` is 0. All are symmetric
// but bcast.
plan::Written ring(plan::Collective collective, int ranks, int root,
                   const placement::Levels& levels);

}  // namespace tutti::algo
