// The model: how long a plan takes on a machine, in virtual time.
#include "model/predict.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "exec/net.h"
#include "model/leaves.h"
#include "model/goal.h"
#include "model/lengths.h"
#include "model/machine.h"
#include "model/predicted_trace.h"
#include "plan/lower.h"
#include "plan/semantics.h"
#include "python/functions.h"
#include "shm/layout.h"

namespace tutti::python {
namespace {

// The fewest ranks of a node.
int32_t fewest_together(const placement::Nodes& nodes, int32_t ranks) {
  std::map<int32_t, int32_t> count;
  for (const int32_t node : nodes.of().values()) ++count[node];
  for (const auto& [node, here] : count) ranks = std::min(ranks, here);
  return ranks;
}

// The longest message that Tutti takes for one that goes without its receiver's consent. It knows
// the host MPI, and not the network; a machine that was not measured may name no MPI.
size_t unasked_bytes(const model::Machine& machine) {
  if (!machine.network) return 0;
  const std::string& mpi = machine.network->mpi;
  if (mpi.empty()) return machine.network->prompt;
  return mpi == "openmpi" ? exec::prompt_of_openmpi : exec::prompt_of_others;
}

// The ranks that share memory: with the reach `net`, none do.
placement::Nodes sharing(const placement::Nodes& nodes, int32_t ranks, std::string_view reach) {
  if (reach != "net") return nodes;
  std::vector<int32_t> alone(static_cast<size_t>(ranks));
  std::iota(alone.begin(), alone.end(), 0);
  return placement::Nodes(alone);
}

// Returns the resources of a group of these ranks, as if the number of ranks decided all of them.
// `nodes`: those whose ranks share memory.
plan::Resources resources_of(const placement::Nodes& nodes, int32_t ranks, std::string_view reach,
                             const model::Machine& machine) {
  if (reach != "slots" && reach != "mapped" && reach != "threads" && reach != "cma" &&
      reach != "net")
    throw Error(Code::invalid_argument, "reach must be slots, mapped, threads, cma or net");
  const int32_t here = fewest_together(nodes, ranks);
  const size_t area =
      here == 1 && !nodes.one() ? shm::deep_area(1) : shm::first_area(here, 0, false);
  const shm::Layout layout = shm::Layout::fit(here, area);
  plan::Resources resources = plan::resources_of(layout.slot_bytes, layout.line_count);
  resources.mapped = (reach == "mapped" || reach == "threads") && nodes.one();
  resources.system_copies = reach == "cma" && nodes.one();
  resources.threads = reach == "threads";
  if (!nodes.one())
    resources.prompt = reach == "net" ? exec::prompt_of_others : unasked_bytes(machine);
  return resources;
}

Dict as_dict(const model::Event& event, const std::vector<plan::Program>& programs) {
  const plan::Program& program = programs[static_cast<size_t>(event.rank)];
  const plan::Step& step = program.steps[static_cast<size_t>(event.step)];
  Dict dict;
  dict["rank"] = event.rank;
  dict["step"] = event.step;
  dict["kind"] = plan::name(step.kind);
  dict["group"] = plan::name(plan::properties_of(step.kind).group);
  dict["segment"] = event.segment;
  dict["begin_ns"] = event.begin;
  dict["end_ns"] = event.end;
  dict["peer"] = plan::peer_of(program, step);
  dict["transfer"] = step.number;
  dict["cause"] = event.cause;
  return dict;
}

Dict as_dict(const model::Prediction& found, const plan::Travel& travel,
             const std::vector<plan::Program>& programs, bool with_events) {
  List critical, loads, events;
  for (const int32_t event : found.critical)
    critical.append(as_dict(found.events[static_cast<size_t>(event)], programs));
  for (const model::Load& load : found.loads) {
    Dict dict;
    dict["name"] = load.name;
    dict["busy_ns"] = load.busy;
    dict["bytes"] = load.bytes;
    dict["most"] = load.most;
    loads.append(dict);
  }
  Dict dict;
  dict["ns"] = found.time;
  dict["ends_ns"] = found.ends;
  dict["carrier"] = travel.in_lines ? "line" : "slot";
  dict["segments"] = travel.geometry.segments;
  dict["segment_bytes"] = travel.geometry.segment_bytes;
  dict["bypass"] = model::bypasses(travel);
  dict["critical"] = critical;
  dict["loads"] = loads;
  if (with_events) {
    for (const model::Event& event : found.events) events.append(as_dict(event, programs));
    dict["events"] = events;
  }
  return dict;
}

using NamedGroups = std::vector<std::pair<std::string, std::vector<int32_t>>>;

std::vector<placement::SharedLevel> as_levels(const NamedGroups& levels, int32_t ranks) {
  std::vector<placement::SharedLevel> shared;
  for (const auto& [name, group_of] : levels) {
    if (group_of.size() != static_cast<size_t>(ranks))
      throw Error(Code::invalid_argument, "each level must have a group for each rank");
    shared.push_back({name, placement::PeriodicRow(group_of), 1});
  }
  return shared;
}

// A machine's text is read once; the object is a value.
struct Model {
  model::Machine machine;

  int32_t leaves(const NamedGroups& levels, int32_t ranks, size_t bytes) const {
    return model::leaves_of(machine, as_levels(levels, ranks), ranks, static_cast<double>(bytes));
  }

  Dict predict(const plan::Plan& plan, size_t bytes, const NamedGroups& levels,
               const std::vector<int32_t>& node_of, std::string_view reach, size_t segment,
               const std::vector<double>& arrivals, bool with_events, const std::string& trace,
               bool with_goal) const {
    if (!arrivals.empty() && arrivals.size() != static_cast<size_t>(plan.ranks))
      throw Error(Code::invalid_argument, "there must be an arrival for each rank");
    const std::vector<placement::SharedLevel> shared = as_levels(levels, plan.ranks);
    const placement::Nodes nodes(node_of);
    const placement::Nodes together = sharing(nodes, plan.ranks, reach);
    if (!plan::has_data(plan.collective)) bytes = 0;
    const size_t element = plan::combines(plan.collective) ? 8 : 1;
    const plan::Plan staged = plan::stage(plan, together);
    const bool in_lines = together.one() && bytes <= line_payload && plan::lines_serve(staged);
    const plan::Carrier carrier = in_lines ? plan::Carrier::line : plan::Carrier::slot;
    std::vector<int32_t> all(static_cast<size_t>(plan.ranks));
    std::iota(all.begin(), all.end(), 0);
    const auto programs = plan::lower(staged, plan::depend(staged, carrier), all, carrier);
    const plan::Resources resources = resources_of(together, plan.ranks, reach, machine);
    if (!plan::fits(programs.front(), resources, element))
      throw Error(Code::unavailable,
                  "the plan needs more shared memory than " + std::to_string(plan.ranks) +
                      " ranks have; give an algorithm that needs less, such as flat");
    const plan::Travel travel =
        plan::travel(programs.front(), resources, element, bytes, segment,
                     reach == "cma" ? ReachChoice::cma : ReachChoice::automatic);
    const model::Question question{programs, travel, element, bytes,
                                   machine,  shared, nodes,   arrivals};
    const model::Prediction found = model::predict(question);
    if (!trace.empty()) model::write_trace(question, found, trace);
    Dict dict = as_dict(found, travel, programs, with_events);
    if (with_goal) dict["goal"] = model::goal_of(question);
    return dict;
  }
};

std::string text_of(const Model& self) { return model::write_machine(self.machine); }

Model read(std::string_view text, std::string_view file) {
  return {model::read_machine(text, file)};
}

}  // namespace

void bind_model(Module& module) {
  Class<Model>(module.get(), "Model", "Predicts how long plans take on a machine.")
      .init<&read>("text"_a, "file"_a,
                   "Reads a machine's text; `file` names it in errors. Raises Error with one line.")
      .property<&text_of>("text")
      .def<&Model::leaves>(
          "leaves", "levels"_a, "ranks"_a, "bytes"_a,
          "The number of leaves of HMPI's equation (1) in an innermost group, from the machine's "
          "costs of a byte alone and over the shared link. `levels` as for predict.")
      .def<&Model::predict>(
          "predict", "plan"_a, "bytes"_a, "levels"_a = NamedGroups{},
          "node_of"_a = std::vector<int32_t>{}, "reach"_a = "slots", "segment"_a = size_t{0},
          "arrivals"_a = std::vector<double>{}, "events"_a = false, "trace"_a = "",
          "goal"_a = false,
          "The time of a call of the plan in virtual time, with `bytes` bytes of a vector or of "
          "one part; reductions are of doubles. `levels` has for each level, from the outside in, "
          "its name and the group of each rank; `node_of` has the ranks' nodes, if several; "
          "`reach`: \"slots\", \"mapped\" (they reach each other's buffers), \"threads\", "
          "\"cma\" (by the system's copies, as a rule asks for), or \"net\" (messages also within "
          "nodes, by the machine's `messages`); "
          "`segment`: the bytes of a segment that a "
          "rule asks for, 0: none does; `arrivals`: when each rank makes the call, in ns; `trace`: "
          "the file for a trace of the prediction, \"\": none; `goal`: also the call as a GOAL "
          "schedule. Raises "
          "Error if the machine lacks costs that the ranks need.")
      .add();
}

}  // namespace tutti::python
