// The symbolic check: proves that a plan computes the collective that it claims, for any data.
//
// The plan is executed, transfer by transfer, on symbols: each block holds the sequence of leaves (rank, block) that
// went into it, as intervals of ranks, and a hash of the expression that made it. At the end every `out` block must
// hold what the collective defines. Pure; safe to call from any thread.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

struct Verdict {
  bool rank_order = false;  // every result combines ranks 0..p-1 in this order: serves ops that do not commute
  bool uniform = false;     // every rank's result is the same expression: the same bits at all ranks
  bool in_place = false;    // right also where any subset of ranks passes one buffer as `in` and `out`
};

// Throws Error(invalid_plan) with the line of the transfer at fault: reading a block that nobody wrote, a leaf that is
// combined twice or is missing at the end, order lost in a plan that is not `commutative`, an exit of a barrier that
// does not hang on every arrival, `out` written at a rank where the collective defines none.
// `in_place` is a finding, not a requirement: where it is false, the executor copies `in` first.
Verdict check(const Plan& plan);

}  // namespace tutti::plan
