// Lowered programs, kept for the whole process: communicators of one size, rank, nodes and levels
// (for algorithms that go by levels) share them, so that a program's hundredth communicator costs
// no more than a look-up.
//
// Any thread may call. Programs are immutable and shared; the store holds a bounded number of them
// and forgets all when it is full (who has one keeps it).
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "algo/by_host.h"
#include "plan/lower.h"
#include "select/library.h"

namespace tutti::group {

struct ProgramRequest {
  plan::Collective collective;
  std::string_view
      algorithm;  // as algo::generate takes it; unused where there is a plan of the user's
  int ranks;
  int rank;
  int root;
  plan::Carrier carrier;  // lines only where they can serve; else slots
  bool check;  // check the plan and all ranks' lowered programs first; throws where they fail
  bool fixed_order = false;  // combine in the order written, not in that of arrival
  const select::LoadedPlan* users_plan = nullptr;  // null: a built-in algorithm
  const topo::Levels* levels = nullptr;            // that the ranks lie on; null: one
  const plan::Nodes* nodes = nullptr;              // who shares memory; null: all
  std::optional<algo::Phase>
      phase;  // of an algorithm that goes by the host between nodes; nothing: the whole
};

// Throws Error where the algorithm does not serve the collective, or a check fails.
std::shared_ptr<const plan::Program> program_for(const ProgramRequest& request);

// For ranks that are many in a process and have globals of their own (simulated ones): from the
// call of `use` on, which each makes with what one of them has made, programs are made for all
// ranks at once and kept there, those of the last few plans. Null: each makes its own again.
struct CommonPrograms;
CommonPrograms* make_common_programs();
void end_common_programs(CommonPrograms* programs);
void use_common_programs(CommonPrograms* programs);

}  // namespace tutti::group
