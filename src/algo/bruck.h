// Bruck's allgather and alltoall: log2 p steps for any rank count.
//
//   allgather  a rank holds the parts of the ranks from itself on, in a circle, and in each step
//   takes as many again from
//              the rank so far ahead. Cost: ceil(log2 p) alpha + (p - 1) m beta, and a copy out.
//   alltoall   a part for the rank at distance k travels the powers of two that k is made of.
//              Cost: ceil(log2 p) alpha + (p / 2) log2 p m beta, and a copy in.
//
// When: short parts and many ranks, where p - 1 hand-overs cost more than moving parts several
// times. Restrictions: none; alltoall's slots hold p + (p / 2) log2 p parts. Source: Bruck, Ho,
// Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems", 1997.
#pragma once

#include "plan/plan.h"

namespace tutti::algo {

// allgather and alltoall.
plan::Plan bruck(plan::Collective collective, int ranks);

}  // namespace tutti::algo
