// A slice: what one rank needs of a scheduled plan to make its own program. Internal to src/plan.
//
// A plan of many transfers is mostly about other ranks. A rank's slice has the transfers that touch
// its memory or that it executes, and those that may conflict with one of these: every write of a
// block that the rank reads or writes, and every read of a block that it writes. So the rank finds
// its own waits, and the waits of others for its transfers, as they are found in the whole plan,
// provided that only the waits between two ranks decide which of them are implied (pairs_decide()).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lists.h"
#include "plan/lower.h"
#include "plan/plan.h"

namespace tutti::plan {

struct Slice {
  int32_t rank = 0;
  Plan plan;
  LargeVector<int32_t> numbers;  // indexed by transfer: its number in the whole plan
  // Indexed by transfer: the line that it writes at its executor; -1: none.
  LargeVector<int32_t> lines;
  Lists extents;  // indexed by transfer that writes tmp: the items of its blocks
  // Indexed by elidable copy: another rank's read forbids it; several other ranks read it.
  std::vector<bool> needed, read_by_several;
  // The whole plan's:
  int32_t transfers = 0;
  int32_t stages = 1;
  int32_t slot_blocks = 0;    // the most blocks of tmp of a rank
  int32_t most_lines = 0;     // the most that a rank writes
  int32_t min_positions = 1;  // Reuse::min_positions
  bool any_elidable = false;
};

// Cuts out a rank's slice of a plan on one node without tokens.
Slice slice(const Plan& staged, int32_t rank);

// Finds the dependences as depend() of the whole plan does with `pairs`, for the transfers that the
// rank's program is made of.
Dependences depend(const Slice& slice, Carrier carrier);
Program lower(const Slice& slice, const Dependences& dependences, Carrier carrier);

}  // namespace tutti::plan
