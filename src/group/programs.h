// A store of lowered programs for the whole process. Communicators with the same size, rank, nodes
// and levels (for algorithms that use levels) share them, so the hundredth communicator that needs
// a program pays for a look-up only.
//
// Any thread may call program_for. Programs are immutable and shared. The store holds a bounded
// number of them and drops all when it is full. A program lives as long as the store or a caller
// has a pointer to it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "algo/by_host.h"
#include "algo/pairwise.h"
#include "plan/lower.h"
#include "select/library.h"

namespace tutti::group {

// The facts from which one rank's program is made; all except `check` are its key in the store.
// Pointers refer to the caller's objects and are used during the call only.
struct ProgramRequest {
  plan::Collective collective;
  std::string_view algorithm;  // a name for algo::generate; unused with a user's plan
  int ranks;
  int rank;
  int root;
  plan::Carrier carrier;  // lines are used only if they can serve the plan; else slots
  // Check the plan and the lowered programs of all ranks when the program is made. A program that
  // the store already has is not checked again.
  bool check;
  bool fixed_order = false;  // combine in the order written, not in the order of arrival
  const select::LoadedPlan* users_plan = nullptr;  // null: a built-in algorithm
  const placement::Levels* levels = nullptr;       // the levels of the ranks; null: one level
  // The nodes of the ranks, which share memory within each; null: all share it.
  const placement::Nodes* nodes = nullptr;
  // One phase of an algorithm that uses the host between nodes; nothing: the whole program.
  std::optional<algo::Phase> phase = {};
  // A part of the pairwise algorithm over several nodes, which `algorithm` does not name; nothing:
  // another algorithm.
  std::optional<algo::Pairs> pairs = {};
  // How many lines a rank has. A plan whose buffers have a part for each rank may need more.
  int32_t lines = INT32_MAX;
};

// Throws Error if the algorithm does not serve the collective, or if a check fails.
std::shared_ptr<const plan::Program> program_for(const ProgramRequest& request);

// A store that all ranks of a simulation share: these ranks are in one process, each with globals
// of its own. One rank calls make_common_programs, and each rank calls use_common_programs with the
// result, before any other thread makes a program, because that function takes no lock. From then
// on a program is made for all ranks at once, and the programs of the last few plans are kept.
// After use_common_programs(nullptr), each rank makes its own programs again. end_common_programs
// frees the store; no rank may use the store then.
struct CommonPrograms;
CommonPrograms* make_common_programs();
void end_common_programs(CommonPrograms* programs);
void use_common_programs(CommonPrograms* programs);

}  // namespace tutti::group
