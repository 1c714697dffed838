// Selection: which algorithm serves a call and why, as groups of the running libraries choose it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "algo/algo.h"
#include "algo/by_host.h"
#include "base/error.h"
#include "exec/net.h"
#include "group/group.h"
#include "group/programs.h"
#include "plan/inter_node_traffic.h"
#include "python/bindings.h"
#include "select/explain.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {
namespace {

// A group's shared memory: zero, and untouched but for a page or two.
class Areas {
 public:
  explicit Areas(size_t bytes)
      : bytes_(bytes),
        start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (start_ == MAP_FAILED)
      throw Error(Code::unavailable,
                  std::string("no memory to try the plan in: ") + strerror(errno));
  }
  ~Areas() { munmap(start_, bytes_); }
  Areas(const Areas&) = delete;
  std::byte* start() const { return static_cast<std::byte*>(start_); }

 private:
  size_t bytes_;
  void* start_;
};

// How a call travels on a channel of its communicator.
struct Travel {
  std::string algorithm;  // that runs; another than was chosen where that needs more shared memory
  std::shared_ptr<const plan::Program> program;
  size_t segment_bytes = 0;
};

// In the place of messages where none is sent.
class NoMessages final : public exec::Net {
 public:
  void reserve(size_t) override {}
  bool receive(size_t, void*, size_t, int, uint64_t) override { return false; }
  bool send(size_t, const void*, size_t, int, uint64_t) override { return false; }
  State test(size_t) override { return State::failed; }
  std::string failure() const override { return "no messages here"; }
};

// Likewise of the host's collectives among leaders, who are taken to have their communicator.
class NoLeaders final : public group::Leaders {
 public:
  bool barrier() override { return false; }
  bool bcast(void*, size_t, int) override { return false; }
  bool reduce(const void*, void*, size_t, const exec::Combine&, int) override { return false; }
  bool allreduce(const void*, void*, size_t, const exec::Combine&) override { return false; }
  std::string failure() const override { return "no leaders here"; }
};

bool by_host(std::string_view algorithm, const placement::Nodes& nodes) {
  return !nodes.one() && algo::by_host(algorithm);
}

class Trial {
 public:
  Trial(const select::Call& call, const placement::Nodes& nodes, const Options& options,
        const select::Overrides& overrides)
      : call_(call),
        nodes_(nodes),
        overrides_(overrides),
        fixed_order_(options.reproducible != Reproducible::off),
        layout_(layout_of(options)),
        areas_(layout_.bytes()),
        channel_(areas_.start(), layout_, 0, settings()) {
    overrides_.library = nullptr;
  }

  Travel built_in(const select::Considered& chosen, size_t wanted_segment) {
    overrides_.algorithm[static_cast<size_t>(call_.collective)] = chosen.target;
    group::Group::Settings settings;
    settings.areas = areas_.start();
    settings.layout = layout_;
    settings.style = call_.oversubscribed ? exec::WaitStyle::yield : exec::WaitStyle::spin;
    settings.overrides = overrides_;
    settings.oversubscribed = call_.oversubscribed;
    settings.reach.ordinary = call_.reached;
    settings.shape = call_.shape;
    settings.levels = call_.known_levels();
    if (!nodes_.one()) {
      settings.ranks = call_.ranks;
      settings.nodes = nodes_;
      settings.net = &messages_;
      settings.leaders = &leaders_;
    }
    group::Group group(settings);
    const std::string algorithm{group.algorithm(call_.collective, call_.bytes, call_.root)};
    const bool is_short = call_.bytes <= shm::line_payload;
    auto program =
        program_of(algorithm, nullptr, is_short ? plan::Carrier::line : plan::Carrier::slot);
    if (is_short && !channel_.fits(*program, 1))
      program = program_of(algorithm, nullptr, plan::Carrier::slot);
    return travel(algorithm, std::move(program), wanted_segment);
  }

  // Nothing where the plan needs more shared memory than there is.
  std::optional<Travel> users(const select::Considered& chosen, size_t wanted_segment) {
    auto program =
        program_of({}, chosen.plan,
                   call_.bytes <= shm::line_payload ? plan::Carrier::line : plan::Carrier::slot);
    if (!channel_.fits(*program, 1)) return std::nullopt;
    return travel(chosen.target, std::move(program), wanted_segment);
  }

 private:
  std::shared_ptr<const plan::Program> program_of(std::string_view algorithm,
                                                  const select::LoadedPlan* plan,
                                                  plan::Carrier carrier) {
    group::ProgramRequest request{
        call_.collective, algorithm, call_.ranks,           0,       call_.root, carrier, false,
        fixed_order_,     plan,      &call_.known_levels(), &nodes_, {}};
    // What is done within nodes in one plan, as an idea of the two.
    if (plan == nullptr && by_host(algorithm, nodes_)) request.phase = algo::Phase::standing_in;
    return group::program_for(request);
  }
  // Of the first node's ranks.
  shm::Layout layout_of(const Options& options) const {
    const auto ranks = static_cast<int32_t>(nodes_.members(0, call_.ranks).size());
    return shm::Layout::fit(ranks, options.shm_bytes_per_rank != 0 ? options.shm_bytes_per_rank
                                                                   : shm::deep_area(ranks));
  }
  exec::Channel::Settings settings() {
    exec::Channel::Settings settings;
    if (nodes_.one()) return settings;
    settings.members = nodes_.members(0, call_.ranks);
    settings.net = &messages_;
    return settings;
  }
  Travel travel(const std::string& algorithm, std::shared_ptr<const plan::Program> program,
                size_t wanted_segment) {
    Travel travel{algorithm, std::move(program), call_.bytes};
    constexpr size_t element = 8;
    if (!travel.program->uses_lines) {
      travel.segment_bytes =
          channel_.segment_bytes(*travel.program, element, call_.bytes, wanted_segment);
    }
    return travel;
  }

  select::Call call_;
  placement::Nodes nodes_;
  NoMessages messages_;
  NoLeaders leaders_;
  select::Overrides overrides_;
  bool fixed_order_;
  shm::Layout layout_;
  Areas areas_;
  exec::Channel channel_;
};

nb::object bound_of(size_t bytes) {
  return bytes == SIZE_MAX ? nb::none() : nb::object(nb::int_(bytes));
}

nb::dict as_dict(const select::Considered& considered) {
  nb::dict dict;
  dict["place"] = considered.place;
  dict["rule"] = considered.rule;
  dict["target"] = considered.target;
  dict["builtin"] = considered.plan == nullptr;
  dict["segment_bytes"] = considered.segment_bytes;
  dict["reach"] = select::reach_word(considered.reach);
  dict["refused"] =
      considered.refused.empty() ? nb::none() : nb::object(nb::str(considered.refused.c_str()));
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

Travel travel_of(select::Explanation& explanation, Trial& trial) {
  while (true) {
    select::Considered& chosen = explanation.considered[explanation.chosen];
    if (chosen.plan == nullptr) return trial.built_in(chosen, explanation.segment_bytes);
    if (const auto travel = trial.users(chosen, explanation.segment_bytes)) return *travel;
    chosen.refused =
        "it needs more shared memory than the communicator has (TUTTI_SHM_BYTES_PER_RANK)";
    ++explanation.chosen;  // the tables' rules stand behind, and one of them always holds
    explanation.segment_bytes = explanation.considered[explanation.chosen].segment_bytes;
    explanation.segment_place =
        explanation.segment_bytes == 0 ? "" : explanation.considered[explanation.chosen].place;
    if (explanation.reach_place == "TUTTI_REACH") continue;
    explanation.reach = explanation.considered[explanation.chosen].reach;
    explanation.reach_place = explanation.reach == ReachChoice::automatic
                                  ? ""
                                  : explanation.considered[explanation.chosen].place;
  }
}

nb::dict as_dict(const select::Explanation& explanation, const Travel& travel) {
  nb::list considered;
  for (const select::Considered& one : explanation.considered) considered.append(as_dict(one));
  nb::dict dict;
  dict["considered"] = considered;
  dict["chosen"] = explanation.chosen;
  dict["bytes_range"] = nb::make_tuple(explanation.sizes.low, bound_of(explanation.sizes.high));
  dict["runs"] = travel.algorithm;
  dict["carrier"] = travel.program->uses_lines ? "line" : "slot";
  dict["stages"] = travel.program->stages;
  dict["wanted_segment_bytes"] = explanation.segment_bytes;
  dict["segment_place"] = explanation.segment_place;
  dict["segment_bytes"] = travel.segment_bytes;
  dict["reach"] = select::reach_word(explanation.reach);
  dict["reach_place"] = explanation.reach_place;
  return dict;
}

nb::dict as_dict(const plan::InterNodeTraffic& traffic) {
  nb::dict dict;
  dict["messages"] = traffic.messages;
  dict["delays"] = traffic.delays;
  dict["most_messages"] = traffic.most_messages;
  return dict;
}

// How many messages the host's own collective takes is the host's affair.
nb::dict by_leaders(size_t leaders) {
  nb::dict dict;
  dict["host"] = true;
  dict["leaders"] = leaders;
  return dict;
}

// `oversubscribed`, `reached`, `table` and `plans` instead of what the environment says, where they
// are given.
nb::dict explain(std::string_view collective, size_t bytes, int ranks, int root,
                 bool oversubscribed, const std::vector<int>& units, const std::string& table,
                 const std::string& plans, std::string_view levels,
                 const std::vector<int32_t>& node_of, bool reached) {
  Options options = parse_options(process_environment(), nullptr);
  options.disable = false;
  if (!table.empty()) options.table = table;
  if (!plans.empty()) options.plans = plans;
  const std::string file = std::exchange(options.table, {});
  select::Overrides overrides = group::overrides_of(options);
  // Groups keep what they read; whoever asks for an explanation may have changed the file since.
  std::optional<select::Table> read;
  if (!file.empty()) overrides.table = &read.emplace(select::load_table(file));
  select::Call call{.collective = plan::collective_named(collective),
                    .bytes = bytes,
                    .ranks = ranks,
                    .shape = shape_of(options, units),
                    .root = root};
  call.oversubscribed = oversubscribed;
  call.reached = reached;
  const placement::Nodes nodes(node_of);
  const placement::Levels of_ranks = placement::read_levels(levels);
  call.levels = &of_ranks;
  call.nodes = nodes.count();
  if (!nodes.one()) {
    call.shape = {};
    call.shape.counts[topo::node_level] = nodes.count();
  }
  call.same_expression = plan::combines(call.collective);
  call.fixed_order = options.reproducible != Reproducible::off;
  select::Explanation explanation = select::explain(call, overrides);
  Trial trial(call, nodes, options, overrides);
  const Travel travel = travel_of(explanation, trial);
  nb::dict dict = as_dict(explanation, travel);
  const select::Considered& chosen = explanation.considered[explanation.chosen];
  if (chosen.plan == nullptr && by_host(travel.algorithm, nodes)) {
    dict["between_nodes"] = by_leaders(algo::leaders(of_ranks, ranks).size());
  } else if (!nodes.one()) {
    const plan::Plan plan =
        chosen.plan != nullptr
            ? chosen.plan->plan
            : algo::generate(call.collective, travel.algorithm, ranks, root, of_ranks);
    dict["between_nodes"] = as_dict(plan::inter_node_traffic(plan, node_of));
  }
  dict["shape"] = topo::print(call.shape);
  dict["levels"] = of_ranks.contents();
  return dict;
}

// (place, rule) of every rule of a user's table, which may be none, and of the default, in the
// order in which they are tried.
nb::list table_rules(const std::string& file) {
  nb::list list;
  const auto add = [&](const select::Table& table) {
    for (const auto& rules : table.rules) {
      for (const select::Rule& rule : rules) {
        list.append(
            nb::make_tuple(table.name + ":" + std::to_string(rule.line), select::print(rule)));
      }
    }
  };
  if (!file.empty()) add(select::load_table(file));
  add(select::default_table());
  return list;
}

}  // namespace

void bind_selection(nb::module_& module) {
  module.def("explain", &explain, "collective"_a, "bytes"_a, "ranks"_a, "root"_a,
             "oversubscribed"_a, "units"_a, "table"_a = "", "plans"_a = "", "levels"_a = "",
             "node_of"_a = std::vector<int32_t>{}, "reached"_a = false,
             "Which algorithm serves a call, and every rule and variable that has a say about it. "
             "`units` are the processing "
             "units that the ranks may run on; `node_of` has a node's number for each rank, where "
             "they are on several; reductions are "
             "of doubles. Raises Error for broken tables, plans and variables.");
  module.def("table_rules", &table_rules, "file"_a = "",
             "(place, rule) of a table and of the default behind it.");
  module.attr("line_payload") = shm::line_payload;
}

}  // namespace tutti::python
