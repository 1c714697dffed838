// The programs of all ranks of a built-in algorithm, and how a call of them travels. For tests.
#pragma once

#include <string_view>
#include <vector>

#include "algo/algo.h"
#include "model/predict.h"
#include "plan/lower.h"

namespace tutti::model {

struct TestCall {
  plan::Collective collective = plan::Collective::allreduce;
  std::string_view algorithm = "flat";
  int ranks = 2;
  size_t bytes = 64;
  int root = 0;
  placement::Levels levels = {};
  placement::Nodes nodes = {};
  std::vector<double> arrivals = {};
  size_t segment = SIZE_MAX;  // SIZE_MAX: one piece
  plan::Carrier carrier = plan::Carrier::slot;
  ReachChoice reach = ReachChoice::automatic;  // cma: by the system's copies
  bool mapped = false;                         // ranks reach each other's buffers
  bool alone = false;                          // no two ranks share memory, whatever their nodes
};

inline std::vector<plan::Program> programs_of(const TestCall& call) {
  std::vector<int32_t> ranks;
  for (int32_t rank = 0; rank < call.ranks; ++rank) ranks.push_back(rank);
  const plan::Plan staged = plan::stage(
      algo::generate(call.collective, call.algorithm, call.ranks, call.root, call.levels),
      call.alone ? placement::Nodes(ranks) : call.nodes);
  return plan::lower(staged, plan::depend(staged, call.carrier), ranks, call.carrier);
}

inline Prediction prediction_of(const TestCall& call, const Machine& machine) {
  const std::vector<plan::Program> programs = programs_of(call);
  plan::Resources resources = plan::resources_of(size_t{64} << 20, 64);
  if (call.alone || !call.nodes.one()) resources.prompt = machine.network->prompt;
  resources.mapped = call.mapped;
  resources.system_copies = call.reach == ReachChoice::cma;
  plan::Travel travel =
      plan::travel(programs.front(), resources, 8, call.bytes, call.segment, call.reach);
  if (call.segment == SIZE_MAX)
    travel.geometry = plan::geometry_of_whole(programs.front(), 8, call.bytes);
  return predict(
      {programs, travel, 8, call.bytes, machine, call.levels.all(), call.nodes, call.arrivals});
}

// All times of a rank's own work are 0, so that a prediction can be computed by hand.
inline Machine bare_machine(std::vector<LevelCost> levels) {
  return {"bare", "", "", "", std::move(levels), {}, {}};
}

}  // namespace tutti::model
