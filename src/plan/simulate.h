// The simulation: checks all ranks' lowered programs against their plan in a simulated memory.
//
// It runs the programs step by step in many random interleavings: several operations one after
// another, with several segments, as few ring positions as are allowed, and some ranks in place. It
// builds happens-before from waits, publications and messages alone (vector clocks). It fails if
// two accesses to a block conflict and are not ordered, if no rank can move, or if a result is not
// the collective's. The simulation shows that lowering is right; the race detector shows the
// same of the executor. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plan/program.h"

namespace tutti::plan {

struct Simulation {
  int32_t segments = 3;
  int32_t positions = 0;   // the slots' ring positions; 0: as few as the program allows
  int32_t operations = 3;  // the operations of this plan, one after another
  int32_t interleavings = 20;
  uint64_t seed = 1;
  bool reached = true;  // true: readers bypass about half of the elidable copies; false: none
  placement::Nodes nodes = {};  // those for which the programs were lowered
};

// Throws Error(invalid_plan) naming the ranks, steps and block at fault.
void simulate(const Plan& plan, const std::vector<Program>& programs, const Simulation& how);

}  // namespace tutti::plan
