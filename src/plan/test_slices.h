// Compares the programs that ranks make of their slices with those that the whole plan gives, for
// tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plan/lower.h"
#include "plan/slice.h"

namespace tutti::plan {

inline bool can_be_sliced(const Plan& staged) {
  return std::none_of(
      staged.transfers.begin(), staged.transfers.end(),
      [](const Transfer& transfer) { return transfer.kind == TransferKind::token; });
}

// `staged` has no tokens.
inline void expect_same_of_slices(const Plan& staged, Carrier carrier,
                                  const std::vector<int32_t>& ranks) {
  for (const Program& program : lower(staged, depend(staged, carrier, true), ranks, carrier)) {
    const Slice of_rank = slice(staged, program.rank);
    const Program own = lower(of_rank, depend(of_rank, carrier), carrier);
    if (own == program) continue;
    ADD_FAILURE() << "rank " << program.rank << " makes\n"
                  << print(own) << "and the whole plan gives\n"
                  << print(program);
    return;
  }
}

}  // namespace tutti::plan
