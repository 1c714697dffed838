#include "exec/program_text.h"

#include "base/json.h"
#include "plan/semantics.h"

namespace tutti::exec {
namespace {

Json operands_of(const plan::Program& program, const plan::Step& step) {
  Json operands = Json::array();
  for (int32_t i = 0; i < step.operand_count; ++i) {
    const plan::Operand& operand = program.operands[static_cast<size_t>(step.first_operand + i)];
    for (const int32_t number :
         {static_cast<int32_t>(operand.space), operand.rank, operand.line, operand.block})
      operands.push_back(number);
  }
  return operands;
}

Json arrivals_of(const plan::Program& program, const plan::Step& step) {
  Json arrivals = Json::array();
  if (step.kind != plan::StepKind::reduce_any) return arrivals;
  for (int32_t i = 0; i + 1 < step.operand_count; ++i) {
    const plan::Arrival& arrival = program.arrivals[static_cast<size_t>(step.first_arrival + i)];
    for (const int32_t number : {arrival.peer, arrival.number, arrival.number_stage})
      arrivals.push_back(number);
  }
  return arrivals;
}

Json steps_of(const plan::Program& program) {
  Json steps = Json::array();
  for (const plan::Step& step : program.steps) {
    const plan::SegmentsBack back = plan::segments_back(step.kind);
    steps.push_back(Json::array({static_cast<int32_t>(step.kind), step.stage, step.number,
                                 step.number_stage, plan::peer_of(program, step), step.line,
                                 step.extent_first, step.extent_count, back.segments, back.rounds,
                                 operands_of(program, step), arrivals_of(program, step)}));
  }
  return steps;
}

}  // namespace

trace::ProgramText program_text(const plan::Program& program, plan::Collective collective) {
  Json description{{"collective", plan::name(collective)},
                   {"algorithm", program.algorithm},
                   {"ranks", program.ranks},
                   {"rank", program.rank},
                   {"root", program.root},
                   {"blocks", program.blocks},
                   {"transfers", program.transfers},
                   {"stages", program.stages},
                   {"carrier", program.uses_lines ? "line" : "slot"},
                   {"steps", nullptr}};
  trace::ProgramText text;
  text.without_steps = json_text(description);
  description["steps"] = steps_of(program);
  text.whole = json_text(description);
  return text;
}

}  // namespace tutti::exec
