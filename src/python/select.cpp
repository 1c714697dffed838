// Selection: which algorithm serves a call and why, as groups of the running libraries choose it.

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "algo/algo.h"
#include "algo/by_host.h"
#include "base/error.h"
#include "exec/net.h"
#include "group/group.h"
#include "group/journey.h"
#include "plan/inter_node_traffic.h"
#include "python/functions.h"
#include "select/explain.h"
#include "select/found_table.h"
#include "topo/machine_name.h"

namespace tutti::python {
namespace {

using group::Journey;
using group::Traveller;

// The ranks as `explain` describes them, beside the environment.
struct Ranks {
  int count;
  std::vector<int32_t> node_of;  // indexed by rank, where they are on several nodes; else empty
  bool oversubscribed;
  bool reached;          // they reach all that each of them allocates
  std::string_view mpi;  // the host MPI: mpich, openmpi or mpiabi
};

// The ranks that share memory: with TUTTI_REACH=net, none do.
placement::Nodes nodes_of(const Ranks& ranks, const Options& options) {
  if (options.reach != ReachChoice::net) return placement::Nodes(ranks.node_of);
  std::vector<int32_t> alone(static_cast<size_t>(ranks.count));
  std::iota(alone.begin(), alone.end(), 0);
  return placement::Nodes(alone);
}

// A rank's area, as large as on the node that has least: a rank that shares memory with nobody has
// one of its own.
size_t area_of(const Ranks& ranks, const placement::Nodes& nodes, const Options& options) {
  const size_t asked = options.shm_bytes_per_rank;
  size_t least = SIZE_MAX;
  for (int32_t rank = 0; rank < ranks.count; ++rank) {
    const std::vector<int32_t> here = nodes.members(rank, ranks.count);
    if (here.front() != rank) continue;
    const size_t alone = asked != 0 ? asked : shm::deep_area(1);
    least = std::min(least, here.size() == 1 && !nodes.one()
                                ? alone
                                : shm::first_area(static_cast<int32_t>(here.size()), asked,
                                                  options.shm == ShmChoice::posix));
  }
  return least;
}

// Returns the resources that ranks find when they meet (Team::agree_on_reach in src/mpi), if the
// system permits its copies.
plan::Resources resources_of(const Ranks& ranks, const placement::Nodes& nodes,
                             const Options& options, const select::Overrides& overrides) {
  const auto here = static_cast<int32_t>(nodes.members(0, ranks.count).size());
  const shm::Layout layout = shm::Layout::fit(here, area_of(ranks, nodes, options));
  plan::Resources resources = plan::resources_of(layout.slot_bytes, layout.line_count);
  if (!nodes.one()) {
    resources.prompt = ranks.mpi == "openmpi" ? exec::prompt_of_openmpi : exec::prompt_of_others;
    return resources;
  }
  resources.mapped = ranks.reached;
  resources.system_copies_unasked = options.reach == ReachChoice::cma;
  resources.system_copies =
      resources.system_copies_unasked ||
      (options.reach == ReachChoice::automatic &&
       (select::users_rules_ask_for_cma(overrides) || select::default_rules_ask_for_cma()));
  return resources;
}

Object bound_of(size_t bytes) { return bytes == SIZE_MAX ? none() : to_python(bytes); }

Dict as_dict(const select::Considered& considered) {
  Dict dict;
  dict["place"] = considered.place;
  dict["rule"] = considered.rule;
  dict["target"] = considered.target;
  dict["builtin"] = considered.plan == nullptr;
  dict["segment_bytes"] = considered.segment_bytes;
  dict["reach"] = select::reach_word(considered.reach);
  dict["refused"] = considered.refused.empty() ? none() : to_python(considered.refused);
  return dict;
}

// The machine that ranks on these processing units run on, as the interposer finds it.
topo::Shape shape_of(const Options& options, const std::vector<int>& units) {
  if (!options.topology.empty()) {
    try {
      return topo::parse_shape(options.topology);
    } catch (const Error&) {  // a file, or a description with more than levels and counts
    }
  }
  return topo::shape_of_node(units);
}

Journey journey_of(select::Explanation& explanation, const Traveller& traveller,
                   const select::Call& call, const Options& options) {
  constexpr size_t bytes_of_double = 8;
  Traveller::Wanted wanted;
  wanted.element = plan::combines(call.collective) ? bytes_of_double : 1;
  while (true) {
    select::Considered& chosen = explanation.considered[explanation.chosen];
    wanted.segment_bytes = explanation.segment_bytes;
    // Where the variable is set, it has decided what the ranks found.
    wanted.reach =
        options.reach == ReachChoice::automatic ? explanation.reach : ReachChoice::automatic;
    wanted.by_default_table = chosen.place.starts_with(select::default_table().name + ":");
    if (chosen.plan == nullptr) return traveller.built_in(chosen.target, wanted);
    if (const auto journey = traveller.by_plan(*chosen.plan, wanted)) return *journey;
    chosen.refused =
        "it needs more shared memory than the communicator has (TUTTI_SHM_BYTES_PER_RANK)";
    ++explanation.chosen;  // the tables' rules stand behind, and one of them always holds
    const select::Considered& next = explanation.considered[explanation.chosen];
    if (explanation.segment_place != "TUTTI_SEGMENT_BYTES") {
      explanation.segment_bytes = next.segment_bytes;
      explanation.segment_place = next.segment_bytes == 0 ? "" : next.place;
    }
    if (explanation.reach_place == "TUTTI_REACH") continue;
    explanation.reach = next.reach;
    explanation.reach_place = next.reach == ReachChoice::automatic ? "" : next.place;
  }
}

std::string_view name_of(const std::optional<algo::Phase>& phase) {
  if (!phase) return "";
  return *phase == algo::Phase::before ? "before" : "after";
}

void add(const group::Leg& leg, Dict& dict) {
  const plan::Travel& travel = leg.travel;
  List bypass;
  if (travel.bypasses_mapped) bypass.append("direct");
  if (travel.bypasses_by_system) bypass.append("cma");
  dict["carrier"] = travel.in_lines ? "line" : "slot";
  dict["stages"] = leg.program->stages;
  dict["segments"] = travel.geometry.segments;
  dict["segment_bytes"] = travel.geometry.segment_bytes;
  dict["positions"] = travel.geometry.positions;
  dict["bypass"] = bypass;
}

Dict as_dict(const group::Leg& leg) {
  Dict dict;
  dict["phase"] = name_of(leg.phase);
  add(leg, dict);
  return dict;
}

Dict as_dict(const select::Explanation& explanation, const Journey& journey) {
  List considered;
  for (const select::Considered& one : explanation.considered) considered.append(as_dict(one));
  Dict dict;
  dict["considered"] = considered;
  dict["chosen"] = explanation.chosen;
  dict["bytes_range"] = tuple_of(explanation.sizes.low, bound_of(explanation.sizes.high));
  dict["runs"] = journey.algorithm;
  dict["wanted_segment_bytes"] = explanation.segment_bytes;
  dict["segment_place"] = explanation.segment_place;
  dict["reach"] = select::reach_word(explanation.reach);
  dict["reach_place"] = explanation.reach_place;
  List legs;
  for (const group::Leg& leg : journey.legs) legs.append(as_dict(leg));
  dict["legs"] = legs;
  // For readers that want one: the leg with most segments.
  const auto most = std::max_element(
      journey.legs.begin(), journey.legs.end(), [](const group::Leg& one, const group::Leg& other) {
        return one.travel.geometry.segments < other.travel.geometry.segments;
      });
  if (most != journey.legs.end()) {
    add(*most, dict);
    return dict;
  }
  dict["carrier"] = "none";
  dict["stages"] = 0;
  dict["segments"] = 0;
  dict["segment_bytes"] = 0;
  dict["positions"] = 0;
  dict["bypass"] = List();
  return dict;
}

Dict as_dict(const plan::InterNodeTraffic& traffic) {
  Dict dict;
  dict["messages"] = traffic.messages;
  dict["delays"] = traffic.delays;
  dict["most_messages"] = traffic.most_messages;
  return dict;
}

// How many messages the host's own collective takes is the host's affair.
Dict by_leaders(size_t leaders) {
  Dict dict;
  dict["host"] = true;
  dict["leaders"] = leaders;
  return dict;
}

// The call as the rules of a group see it.
select::Call call_of(plan::Collective collective, size_t bytes, int root, const Ranks& ranks,
                     const placement::Nodes& nodes, const Options& options) {
  select::Call call{
      .collective = collective, .bytes = bytes, .ranks = ranks.count, .shape = {}, .root = root};
  call.oversubscribed = ranks.oversubscribed;
  call.reached = ranks.reached;
  const int32_t of_machine = placement::Nodes(ranks.node_of).count();
  call.nodes = of_machine > 1 ? of_machine : nodes.count();
  if (!nodes.one()) call.shape.counts[topo::node_level] = of_machine;
  call.same_expression = plan::combines(collective);
  call.fixed_order = options.reproducible != Reproducible::off;
  return call;
}

// `oversubscribed`, `reached`, `table` and `plans` instead of what the environment says, where they
// are given.
Dict explain(std::string_view collective, size_t bytes, int count, int root, bool oversubscribed,
             const std::vector<int>& units, const std::string& table, const std::string& plans,
             std::string_view levels, const std::vector<int32_t>& node_of, bool reached,
             std::string_view mpi) {
  Options options = parse_options(process_environment(), nullptr);
  options.disable = false;
  if (!table.empty()) options.table = table;
  if (!plans.empty()) options.plans = plans;
  const std::string file = std::exchange(options.table, {});
  select::Overrides overrides = group::overrides_of(options);
  // Groups keep what they read; whoever asks for an explanation may have changed the file since.
  std::optional<select::Table> read;
  if (!file.empty()) overrides.table = &read.emplace(select::load_table(file));
  Ranks ranks{count, node_of, oversubscribed, reached, mpi};
  const placement::Nodes nodes = nodes_of(ranks, options);
  const bool may_map =
      options.reach == ReachChoice::automatic || options.reach == ReachChoice::direct;
  ranks.reached = reached && nodes.one() && may_map;
  select::Call call =
      call_of(plan::collective_named(collective), bytes, root, ranks, nodes, options);
  if (nodes.one()) call.shape = shape_of(options, units);
  const placement::Levels of_ranks = placement::read_levels(levels);
  call.levels = &of_ranks;
  select::Explanation explanation = select::explain(call, overrides);
  const Traveller traveller(
      call, {nodes, resources_of(ranks, nodes, options, overrides), call.fixed_order});
  const Journey journey = journey_of(explanation, traveller, call, options);
  Dict dict = as_dict(explanation, journey);
  const select::Considered& chosen = explanation.considered[explanation.chosen];
  if (journey.by_host) {
    dict["between_nodes"] = by_leaders(algo::leaders(of_ranks, count).size());
  } else if (!nodes.one()) {
    const plan::Plan plan =
        chosen.plan != nullptr
            ? chosen.plan->plan
            : algo::generate(call.collective, journey.algorithm, count, root, of_ranks);
    dict["between_nodes"] = as_dict(plan::inter_node_traffic(plan, nodes.of().values()));
  }
  dict["shape"] = topo::print(call.shape);
  dict["levels"] = of_ranks.contents();
  dict["reached"] = ranks.reached;
  dict["mpi"] = nodes.one() ? "" : std::string(mpi);
  return dict;
}

// (place, rule) of every rule of a user's table, which may be none, and of the default, in the
// order in which they are tried.
List table_rules(const std::string& file) {
  List list;
  const auto add = [&](const select::Table& table) {
    for (const auto& rules : table.rules) {
      for (const select::Rule& rule : rules) {
        list.append(tuple_of(table.name + ":" + std::to_string(rule.line), select::print(rule)));
      }
    }
  };
  if (!file.empty()) add(select::load_table(file));
  add(select::default_table());
  return list;
}

std::pair<std::string, std::string> table_directories() {
  return {select::user_directory(), std::string(select::site_directory)};
}

std::vector<std::string> table_names(const std::string& mpi) {
  return select::table_names(topo::machine_name(), mpi);
}

std::pair<std::string, std::vector<std::string>> find_table(const std::string& mpi) {
  std::vector<std::string> broken;
  const std::optional<select::FoundTable> found = select::find_table(
      select::table_files(mpi), [&](const std::string& line) { broken.push_back(line); });
  return {found ? found->path : std::string(), broken};
}

}  // namespace

void bind_selection(Module& module) {
  module.def<&explain>(
      "explain", "collective"_a, "bytes"_a, "ranks"_a, "root"_a, "oversubscribed"_a, "units"_a,
      "table"_a = "", "plans"_a = "", "levels"_a = "", "node_of"_a = std::vector<int32_t>{},
      "reached"_a = false, "mpi"_a = "mpich",
      "Which algorithm serves a call, and every rule and variable that has a say about it. "
      "`units` are the processing "
      "units that the ranks may run on; `node_of` has a node's number for each rank, where "
      "they are on several; `mpi` is the host MPI there; reductions are of doubles. `legs` has "
      "what each program of the call does: two where the leaders exchange by the host MPI. Raises "
      "Error for broken tables, plans and variables.");
  module.def<&table_rules>("table_rules", "file"_a = "",
                           "(place, rule) of a table and of the default behind it.");
  module.def<&table_directories>(
      "table_directories",
      "Where tables are found that no option names: the user's directory, which is empty if the "
      "environment names none, and the site's.");
  module.def<&table_names>(
      "table_names", "mpi"_a = "",
      "The names of this machine's tables, first the one for an MPI alone, such as openmpi-5.");
  module.def<&find_table>(
      "find_table", "mpi"_a = "",
      "The file of the table that a job under this MPI would find, or an empty text, and a line "
      "for each broken table.");
  module.set("line_payload", shm::line_payload);
}

}  // namespace tutti::python
