// The symbolic check: proves that a plan computes the collective that it claims, for any data.
//
// The plan is executed, transfer by transfer, on symbols: each block holds the sequence of leaves
// (rank, block) that went into it, as intervals of ranks, and a hash of the expression that made
// it. At the end every `out` block must hold what the collective defines. Pure; safe to call from
// any thread.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace tutti::plan {

// The most blocks that a plan may read and write. A short text can name 2^20 blocks on each line,
// so this bounds the time and the memory of the check and of lowering. all_read_all of 4,096 ranks
// moves a little less.
inline constexpr int64_t max_moves = int64_t{17} << 20;

struct Verdict {
  // Every result combines the ranks in the order 0, 1, 2, ...: the plan serves operations that do
  // not commute.
  bool rank_order = false;
  // Every rank's result is the same expression: all ranks get the same bits.
  bool uniform = false;
  // The plan is right also if any of the ranks pass one buffer as `in` and `out`.
  bool in_place = false;
  // The plan reduces in the order of arrival: the bits may differ from run to run.
  bool arrival = false;
};

// The expression of a reduce in any order is equal only to copies of itself. So a plan with such a
// reduce is uniform only if a single rank computes each block of the result and the others get
// copies.
//
// Throws Error(invalid_plan) with the line of the transfer at fault. Faults are: a transfer reads a
// block that no transfer has written; a leaf is combined twice, or is missing at the end; a block
// of the vector is written where another one belongs in `out`; order is lost in a plan that is not
// `commutative`; an exit of a barrier does not depend on every arrival; `out` is written at a rank
// for which the collective defines none; the plan moves more than max_moves blocks. `in_place` is a
// finding and no requirement: if it is false, the executor copies `in` first.
Verdict check(const Plan& plan);

}  // namespace tutti::plan
