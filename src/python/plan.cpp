// Plans, their check, and the programs lowered from them.
#include <tuple>

#include "algo/algo.h"
#include "algo/branch.h"
#include "base/error.h"
#include "placement/levels.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "plan/plan.h"
#include "plan/program.h"
#include "plan/text.h"
#include "python/functions.h"

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

Dict as_dict(const plan::Region& region) {
  Dict dict;
  dict["rank"] = region.rank;
  dict["buffer"] = name(region.buffer);
  dict["first"] = region.first;
  dict["count"] = region.count;
  dict["stride"] = region.stride;
  return dict;
}

List transfers(const plan::Plan& plan) {
  List list;
  for (const plan::Transfer& transfer : plan.transfers) {
    Dict dict;
    dict["kind"] = plan::name(transfer.kind);
    dict["push"] = transfer.push;
    dict["any_order"] = transfer.any_order;
    dict["stage"] = transfer.stage == plan::stage_automatic ? none() : to_python(transfer.stage);
    dict["executor"] = transfer.executor();
    dict["dst"] = as_dict(transfer.dst);
    List sources;
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

Dict as_dict(const plan::Program& program, const plan::Step& step) {
  Dict dict;
  const plan::StepKindProperties& kind = plan::properties_of(step.kind);
  dict["kind"] = kind.name;
  dict["stage"] = step.stage;
  dict["transfer"] = step.number;
  if (plan::is_wait(step.kind)) dict["peer"] = step.peer;
  if (kind.form == plan::StepForm::peer_line || kind.form == plan::StepForm::own_line)
    dict["line"] = step.line;
  if (step.operand_count == 0) return dict;
  List operands;
  for (int32_t i = 0; i < step.operand_count; ++i) {
    const plan::Operand& operand = program.operands[static_cast<size_t>(step.first_operand + i)];
    Dict entry;
    entry["space"] = name(operand.space);
    entry["rank"] = operand.rank;
    if (operand.space == plan::Space::line) entry["line"] = operand.line;
    entry["block"] = operand.block;
    if (operand.bypassable)
      entry["or"] = tuple_of(name(operand.bypass_space), operand.bypass_block);
    if (kind.form == plan::StepForm::arriving_blocks && i > 0) {
      const plan::Arrival& arrival =
          program.arrivals[static_cast<size_t>(step.first_arrival + i - 1)];
      entry["after"] = arrival.peer < 0 ? none() : Object(tuple_of(arrival.peer, arrival.number));
    }
    operands.append(entry);
  }
  dict["operands"] = operands;
  if (step.elidable) dict["elidable"] = true;
  dict["blocks"] = tuple_of(step.extent_first, step.extent_count);
  return dict;
}

List steps(const plan::Program& program) {
  List list;
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

List algorithm_list() {
  List list;
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    List collectives;
    for (plan::Collective collective : algorithm.collectives)
      collectives.append(plan::name(collective));
    Dict dict;
    dict["name"] = algorithm.name;
    dict["family"] = algorithm.family;
    dict["summary"] = algorithm.summary;
    dict["takes_degree"] = algorithm.takes_degree;
    dict["default_degree"] = algorithm.default_degree;
    dict["collectives"] = collectives;
    List variants;
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

plan::Plan generate(std::string_view word, std::string_view algorithm, int ranks, int root,
                    std::string_view levels) {
  return algo::generate(plan::collective_named(word), algorithm, ranks, root,
                        placement::read_levels(levels));
}

bool lines_serve(const plan::Plan& plan) { return plan::lines_serve(plan::stage(plan)); }

List step_kinds() {
  List list;
  for (const plan::StepKindProperties& kind : plan::step_kinds)
    list.append(tuple_of(kind.name, kind.operands, kind.meaning));
  return list;
}

std::string_view collective_name(const plan::Plan& plan) { return plan::name(plan.collective); }
size_t transfer_count(const plan::Plan& plan) { return plan.transfers.size(); }
std::string plan_text(const plan::Plan& plan) { return plan::print(plan); }
std::string program_text(const plan::Program& program) { return plan::print(program); }

void bind_plan_type(Module& module) {
  Class<plan::Plan>(module.get(), "Plan",
                    "A collective written as transfers between the ranks' buffers.")
      .property<&collective_name>("collective")
      .property<&plan::Plan::algorithm>("algorithm")
      .property<&plan::Plan::ranks>("ranks")
      .property<&plan::Plan::root>("root")
      .property<&plan::Plan::commutative>("commutative")
      .property<&plan::Plan::blocks>("blocks")
      .property<&plan::Plan::shape>(
          "shape", "The machine it was written for, such as node:4 core:8; empty: any.")
      .property<&plan::Plan::definition>("definition",
                                         "Who has which buffer, and what `out` must hold.")
      .property<&plan::moves>("moves", "Blocks read and written by all transfers.")
      .property<&plan::Plan::files>("files", "Where its transfers were written.")
      .property<&transfers>("transfers", "The transfers in plan order, as dictionaries.")
      .property<&transfer_texts>("transfer_texts", "The transfers in plan order, as text.")
      .property<&transfer_count>("transfer_count")
      .property<&places>("places", "(file, line) of each transfer, for messages.")
      .property<&edges>(
          "edges", "(source rank, destination rank, transfer) wherever bytes go from rank to rank.")
      .property<&plan_text>("text")
      .add();
  Class<plan::Verdict>(module.get(), "Verdict",
                       "What the check found of a plan that computes its collective.")
      .property<&plan::Verdict::rank_order>(
          "rank_order", "Results combine the ranks in order: serves any operation.")
      .property<&plan::Verdict::uniform>("uniform",
                                         "Every rank evaluates the same expression: the same bits.")
      .property<&plan::Verdict::in_place>("in_place",
                                          "Right also where ranks pass one buffer as in and out.")
      .property<&plan::Verdict::arrival>(
          "arrival", "Reduces as data arrives: the bits may differ from run to run.")
      .add();
  Class<plan::Program>(module.get(), "Program", "What one rank executes for a plan.")
      .property<&plan::Program::rank>("rank")
      .property<&plan::Program::transfers>("transfers")
      .property<&plan::Program::stages>("stages")
      .property<&plan::Program::lines>("lines")
      .property<&plan::Program::slot_blocks>("slot_blocks")
      .property<&plan::Program::min_positions>("min_positions")
      .property<&steps>("steps", "The steps in the order of execution, as dictionaries.")
      .property<&program_text>("text")
      .add();
}

std::string levels_of_unbound(const std::vector<int>& cores, const std::string& shape) {
  return placement::levels_of_bound({cores}, shape).text();
}

}  // namespace

void bind_plans(Module& module) {
  bind_plan_type(module);
  module.def<&algorithm_list>("algorithms", "The built-in algorithms, as dictionaries.");
  module.def<&generate>(
      "generate", "collective"_a, "algorithm"_a, "ranks"_a, "root"_a = 0, "levels"_a = "",
      "The plan that a built-in algorithm writes. `levels` are words NAME:GROUP,GROUP,... from the "
      "outside in, with a group "
      "for each rank.");
  module.def<&levels_of_unbound>(
      "levels_of_unbound", "cores"_a, "shape"_a,
      "What is known of the levels of ranks that may all run on each of these cores of a node.");
  module.def<&algo::leaves_without_congestion>(
      "leaves_without_congestion", "ranks"_a, "link"_a, "shared"_a,
      "How many leaves of a binary tree never wait for what all share (HMPI, equation 1), "
      "from times for a byte.");
  module.def<&plan::read>("read_plan", "text"_a, "name"_a = "plan",
                          "A plan from its text form; `name` is for messages.");
  module.def<&plan::check>("check", "plan"_a,
                           "Proves that a plan computes its collective, or raises Error.");
  module.def<&lines_serve>("lines_serve", "plan"_a,
                           "True where short messages of this plan can travel in stamped lines.");
  module.def<&lower>("lower", "plan"_a, "carrier"_a, "ranks"_a, "The programs of these ranks.");
  module.def<&step_kinds>("step_kinds");
}

}  // namespace tutti::python
