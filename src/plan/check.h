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

// A text of few lines can name 2^20 blocks in each; this bounds the time and the memory of the
// check, and of lowering what was checked. It is what all_read_all of 4,096 ranks moves, and little
// more.
inline constexpr int64_t max_moves = int64_t{17} << 20;

struct Verdict {
  bool rank_order =
      false;  // every result combines ranks 0..p-1 in this order: serves ops that do not commute
  bool uniform = false;  // every rank's result is the same expression: the same bits at all ranks
  bool in_place =
      false;             // right also where any subset of ranks passes one buffer as `in` and `out`
  bool arrival = false;  // reduces in the order of arrival: bits may differ from run to run
};

// A reduce in any order makes an expression of its own, which nothing but a copy of it equals: so a
// plan is uniform only where one rank computes a result block so and the others get copies.
//
// Throws Error(invalid_plan) with the line of the transfer at fault: reading a block that nobody
// wrote, a leaf that is combined twice or is missing at the end, a block of the vector written in
// another's place of `out`, order lost in a plan that is not `commutative`, an exit of a barrier
// that does not hang on every arrival, `out` written at a rank where the collective defines none.
// Also where the plan moves more than max_moves blocks. `in_place` is a finding, not a requirement:
// where it is false, the executor copies `in` first.
Verdict check(const Plan& plan);

}  // namespace tutti::plan
