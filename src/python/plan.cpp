// Plans, their check, and the programs lowered from them.
#include <tuple>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "algo/algo.h"
#include "algo/branch.h"
#include "base/error.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "plan/text.h"
#include "python/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {
namespace {

std::string_view name(plan::Buffer buffer) {
  switch (buffer) {
    case plan::Buffer::in: return "in";
    case plan::Buffer::out: return "out";
    case plan::Buffer::tmp: return "tmp";
  }
  return "";
}

nb::dict as_dict(const plan::Region& region) {
  nb::dict dict;
  dict["rank"] = region.rank;
  dict["buffer"] = name(region.buffer);
  dict["first"] = region.first;
  dict["count"] = region.count;
  dict["stride"] = region.stride;
  return dict;
}

nb::list transfers(const plan::Plan& plan) {
  nb::list list;
  for (const plan::Transfer& transfer : plan.transfers) {
    nb::dict dict;
    dict["kind"] = plan::name(transfer.kind);
    dict["push"] = transfer.push;
    dict["any_order"] = transfer.any_order;
    dict["stage"] =
        transfer.stage == plan::stage_automatic ? nb::none() : nb::object(nb::int_(transfer.stage));
    dict["executor"] = transfer.executor();
    dict["dst"] = as_dict(transfer.dst);
    nb::list sources;
    for (const plan::Region& source : transfer.src) sources.append(as_dict(source));
    dict["src"] = sources;
    list.append(dict);
  }
  return list;
}

// (source rank, destination rank, index of the transfer) wherever bytes cross from rank to rank, in
// plan order.
std::vector<std::tuple<int32_t, int32_t, size_t>> edges(const plan::Plan& plan) {
  std::vector<std::tuple<int32_t, int32_t, size_t>> list;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const plan::Transfer& transfer = plan.transfers[i];
    if (transfer.kind == plan::TransferKind::token) continue;
    for (const plan::Region& source : transfer.src) {
      if (source.rank != transfer.dst.rank) list.emplace_back(source.rank, transfer.dst.rank, i);
    }
  }
  return list;
}

std::vector<std::string> transfer_texts(const plan::Plan& plan) {
  std::vector<std::string> list;
  for (const plan::Transfer& transfer : plan.transfers) list.push_back(plan::print(transfer));
  return list;
}

// (file, line) of each transfer; the file is empty and the line 0 where they are not known.
std::vector<std::pair<std::string, int32_t>> places(const plan::Plan& plan) {
  std::vector<std::pair<std::string, int32_t>> list;
  for (const plan::Transfer& transfer : plan.transfers) {
    const auto file = static_cast<size_t>(transfer.file);
    list.emplace_back(file < plan.files.size() ? plan.files[file] : std::string(), transfer.line);
  }
  return list;
}

nb::dict as_dict(const plan::Program& program, const plan::Step& step) {
  nb::dict dict;
  const plan::StepKindProperties& kind = plan::properties_of(step.kind);
  dict["kind"] = kind.name;
  dict["stage"] = step.stage;
  dict["transfer"] = step.number;
  if (plan::is_wait(step.kind)) dict["peer"] = step.peer;
  if (kind.form == plan::StepForm::peer_line || kind.form == plan::StepForm::own_line)
    dict["line"] = step.line;
  if (step.operand_count == 0) return dict;
  nb::list operands;
  for (int32_t i = 0; i < step.operand_count; ++i) {
    const plan::Operand& operand = program.operands[static_cast<size_t>(step.first_operand + i)];
    nb::dict entry;
    entry["space"] = name(operand.space);
    entry["rank"] = operand.rank;
    if (operand.space == plan::Space::line) entry["line"] = operand.line;
    entry["block"] = operand.block;
    if (operand.bypassable)
      entry["or"] = nb::make_tuple(name(operand.bypass_space), operand.bypass_block);
    if (kind.form == plan::StepForm::arriving_blocks && i > 0) {
      const plan::Arrival& arrival =
          program.arrivals[static_cast<size_t>(step.first_arrival + i - 1)];
      entry["after"] =
          arrival.peer < 0 ? nb::none() : nb::object(nb::make_tuple(arrival.peer, arrival.number));
    }
    operands.append(entry);
  }
  dict["operands"] = operands;
  if (step.elidable) dict["elidable"] = true;
  dict["blocks"] = nb::make_tuple(step.extent_first, step.extent_count);
  return dict;
}

nb::list steps(const plan::Program& program) {
  nb::list list;
  for (const plan::Step& step : program.steps) list.append(as_dict(program, step));
  return list;
}

plan::Carrier carrier_named(std::string_view word) {
  if (word == "line") return plan::Carrier::line;
  if (word == "slot") return plan::Carrier::slot;
  throw Error(Code::invalid_argument,
              "unknown carrier '" + std::string(word) + "'; known are line, slot");
}

// The programs of the ranks asked for; the work that all ranks share is done once.
std::vector<plan::Program> lower(const plan::Plan& plan, std::string_view word,
                                 const std::vector<int32_t>& ranks) {
  const plan::Carrier carrier = carrier_named(word);
  for (int32_t rank : ranks) {
    if (rank < 0 || rank >= plan.ranks) {
      throw Error(Code::invalid_argument, "rank " + std::to_string(rank) +
                                              " is out of range; ranks are 0 to " +
                                              std::to_string(plan.ranks - 1));
    }
  }
  const plan::Plan staged = plan::stage(plan);
  if (carrier == plan::Carrier::line && !plan::lines_serve(staged)) {
    throw Error(Code::invalid_argument,
                "this plan has regions of several blocks, which lines cannot carry; take slot");
  }
  return plan::lower(staged, plan::depend(staged, carrier), ranks, carrier);
}

nb::list algorithm_list() {
  nb::list list;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    nb::list collectives;
    for (plan::Collective collective : algorithm.collectives)
      collectives.append(plan::name(collective));
    nb::dict dict;
    dict["name"] = algorithm.name;
    dict["family"] = algorithm.family;
    dict["summary"] = algorithm.summary;
    dict["takes_degree"] = algorithm.takes_degree;
    dict["default_degree"] = algorithm.default_degree;
    dict["collectives"] = collectives;
    nb::list variants;
    for (std::string_view variant : algorithm.variants) variants.append(variant);
    dict["variants"] = variants;
    dict["usage"] = algo::usage(algorithm);
    dict["by_levels"] = algorithm.by_levels;
    dict["uniform"] = algorithm.uniform;
    dict["is_composed"] = algorithm.is_composed;
    list.append(dict);
  }
  return list;
}

void bind_plan_type(nb::module_& module) {
  nb::class_<plan::Plan>(module, "Plan",
                         "A collective written as transfers between the ranks' buffers.")
      .def_prop_ro("collective", [](const plan::Plan& plan) { return plan::name(plan.collective); })
      .def_ro("algorithm", &plan::Plan::algorithm)
      .def_ro("ranks", &plan::Plan::ranks)
      .def_ro("root", &plan::Plan::root)
      .def_ro("commutative", &plan::Plan::commutative)
      .def_ro("blocks", &plan::Plan::blocks)
      .def_ro("shape", &plan::Plan::shape,
              "The machine it was written for, such as node:4 core:8; empty: any.")
      .def_prop_ro("definition", &plan::Plan::definition,
                   "Who has which buffer, and what `out` must hold.")
      .def_prop_ro("moves", &plan::moves, "Blocks read and written by all transfers.")
      .def_ro("files", &plan::Plan::files, "Where its transfers were written.")
      .def_prop_ro("transfers", &transfers, "The transfers in plan order, as dictionaries.")
      .def_prop_ro("transfer_texts", &transfer_texts, "The transfers in plan order, as text.")
      .def_prop_ro("transfer_count", [](const plan::Plan& plan) { return plan.transfers.size(); })
      .def_prop_ro("places", &places, "(file, line) of each transfer, for messages.")
      .def_prop_ro("edges", &edges,
                   "(source rank, destination rank, transfer) wherever bytes go from rank to rank.")
      .def_prop_ro("text", [](const plan::Plan& plan) { return plan::print(plan); });
  nb::class_<plan::Verdict>(module, "Verdict",
                            "What the check found of a plan that computes its collective.")
      .def_ro("rank_order", &plan::Verdict::rank_order,
              "Results combine the ranks in order: serves any operation.")
      .def_ro("uniform", &plan::Verdict::uniform,
              "Every rank evaluates the same expression: the same bits.")
      .def_ro("in_place", &plan::Verdict::in_place,
              "Right also where ranks pass one buffer as in and out.")
      .def_ro("arrival", &plan::Verdict::arrival,
              "Reduces as data arrives: the bits may differ from run to run.");
  nb::class_<plan::Program>(module, "Program", "What one rank executes for a plan.")
      .def_ro("rank", &plan::Program::rank)
      .def_ro("transfers", &plan::Program::transfers)
      .def_ro("stages", &plan::Program::stages)
      .def_ro("lines", &plan::Program::lines)
      .def_ro("slot_blocks", &plan::Program::slot_blocks)
      .def_ro("min_positions", &plan::Program::min_positions)
      .def_prop_ro("steps", &steps, "The steps in the order of execution, as dictionaries.")
      .def_prop_ro("text", [](const plan::Program& program) { return plan::print(program); });
}

}  // namespace

void bind_plans(nb::module_& module) {
  bind_plan_type(module);
  module.def("algorithms", &algorithm_list, "The built-in algorithms, as dictionaries.");
  module.def(
      "generate",
      [](std::string_view word, std::string_view algorithm, int ranks, int root,
         std::string_view levels) {
        return algo::generate(plan::collective_named(word), algorithm, ranks, root,
                              placement::read_levels(levels));
      },
      "collective"_a, "algorithm"_a, "ranks"_a, "root"_a = 0, "levels"_a = "",
      "The plan that a built-in algorithm writes. `levels` are words NAME:GROUP,GROUP,... from the "
      "outside in, with a group "
      "for each rank.");
  module.def("leaves_without_congestion", &algo::leaves_without_congestion, "ranks"_a, "link"_a,
             "shared"_a,
             "How many leaves of a binary tree never wait for what all share (HMPI, equation 1), "
             "from times for a byte.");
  module.def("read_plan", &plan::read, "text"_a, "name"_a = "plan",
             "A plan from its text form; `name` is for messages.");
  module.def("check", &plan::check, "plan"_a,
             "Proves that a plan computes its collective, or raises Error.");
  module.def(
      "lines_serve", [](const plan::Plan& plan) { return plan::lines_serve(plan::stage(plan)); },
      "plan"_a, "True where short messages of this plan can travel in stamped lines.");
  module.def("lower", &lower, "plan"_a, "carrier"_a, "ranks"_a, "The programs of these ranks.");
  module.def("step_kinds", [] {
    nb::list list;
    for (const plan::StepKindProperties& kind : plan::step_kinds) {
      list.append(nb::make_tuple(kind.name, kind.operands, kind.meaning));
    }
    return list;
  });
}

}  // namespace tutti::python
