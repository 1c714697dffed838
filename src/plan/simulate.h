// The check of lowered programs: holds all ranks' programs against their plan in a simulated
// memory.
//
// Runs the programs of all ranks step by step in many random interleavings, several operations one
// after another, over ring positions as few as allowed, several segments, ranks in place.
// Happens-before is built from waits and publishes and from messages alone (vector clocks); the
// simulation fails where two accesses to a block conflict and are not ordered, where no rank can
// move, or where a result is not the collective's. This is what proves lowering right; the race
// detector shows the same of the executor.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plan/program.h"

namespace tutti::plan {

struct Simulation {
  int32_t segments = 3;
  int32_t positions = 0;   // of the slots' rings; 0: as few as the program allows
  int32_t operations = 3;  // one after another, all of this plan
  int32_t interleavings = 20;
  uint64_t seed = 1;
  bool reached = true;          // readers bypass about half of the elidable copies; else none
  placement::Nodes nodes = {};  // that the programs were lowered for
};

// Throws Error(invalid_plan) naming the ranks, steps and block at fault.
void simulate(const Plan& plan, const std::vector<Program>& programs, const Simulation& how);

}  // namespace tutti::plan
