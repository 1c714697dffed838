// Scan and exscan: rank r combines the vectors of ranks 0..r, or 0..r-1.
//
//   all_read   Every rank copies its vector to its slot and combines all vectors before it: one
//              hand-over in all. Cost: alpha + p m (beta + gamma) at the last rank.
//              When: a few ranks, and short vectors.
//   chain      Every rank combines its left neighbour's result with its own vector (linear-time
//              scan). Cost: (p - 1) (alpha + m beta + m gamma) for one segment. Long vectors flow
//              through in segments, so that all ranks work at once and each byte is combined p - 1
//              times in all.
//   doubling   In each step every rank combines its value with that of the rank at a doubling
//              distance before it; after step i the value covers 2^(i+1) ranks. An exscan keeps the
//              values that it has read and combines them without its own. Cost: ceil(log2 p) (alpha
//              + m beta + m gamma), and as much gamma again for an exscan. When: many ranks, short
//              vectors.
//
// Restrictions: none; rank order is kept.
// Source: MPI 4.1, sections 6.11.1 and 6.11.2; the chain is the pipelined form of the usual linear
// scan; doubling is Hillis and Steele, "Data parallel algorithms", 1986.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

plan::Plan scan_all_read(plan::Collective collective, int ranks);
plan::Plan scan_chain(plan::Collective collective, int ranks);
plan::Plan scan_doubling(plan::Collective collective, int ranks);

}  // namespace tutti::algo
