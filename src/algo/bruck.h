// Bruck's allgather and alltoall: log2 p steps for any rank count.
//
//   allgather  A rank holds the parts of a circular run of ranks that begins with itself. In each
//              step it reads as many further parts from the first rank after that run.
//              Cost: ceil(log2 p) alpha + (p - 1) m beta, and a copy out.
//   alltoall   A part for the rank at distance k travels in steps, one for each power of two in k.
//              Cost: ceil(log2 p) alpha + (p / 2) log2 p m beta, and a copy in.
//
// When: short parts and many ranks, where p - 1 hand-overs cost more than moving parts several
// times.
// Restrictions: none; the slots of alltoall hold p + (p / 2) log2 p parts.
// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems", 1997.
#pragma once

#include "plan/symmetric.h"

namespace tutti::algo {

// allgather and alltoall, which is symmetric.
plan::Written bruck(plan::Collective collective, int ranks);

}  // namespace tutti::algo
