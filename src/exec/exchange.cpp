#include "exec/exchange.h"

namespace tutti::exec {
namespace {

using plan::StepKind;

bool is(const BoundOperand& operand, plan::Space space) {
  return operand.space == static_cast<uint32_t>(space);
}

// A barrier posts a stamp alone.
bool posts(const BoundStep& step, bool combining) {
  if (!combining) return step.kind == StepKind::stamp;
  return step.kind == StepKind::copy && step.then_stamp &&
         is(step.operands[0], plan::Space::line) && step.operands[0].lines == step.line &&
         is(step.operands[1], plan::Space::in);
}

// out <- in, the line or the other way round.
bool combines(const BoundStep& step, uint32_t their_line) {
  if (step.kind != StepKind::reduce || step.operand_count != 3 || step.then_stamp) return false;
  const bool theirs_first = is(step.operands[1], plan::Space::line);
  const BoundOperand& theirs = step.operands[theirs_first ? 1 : 2];
  return is(step.operands[0], plan::Space::out) &&
         is(step.operands[theirs_first ? 2 : 1], plan::Space::in) &&
         is(theirs, plan::Space::line) && theirs.lines == their_line;
}

}  // namespace

Exchange find_exchange(const BoundProgram& bound, const plan::Program& program) {
  const std::vector<BoundStep>& steps = bound.steps;
  const bool combining = plan::combines(program.collective);
  const bool fits =
      program.uses_lines && !program.parted && program.knows_all && program.writes_shared;
  if (!fits || program.ranks != 2 || steps.size() != (combining ? 3 : 2)) return {};
  if (!posts(steps[0], combining) || steps[1].kind != StepKind::wait_line) return {};
  if (combining && !combines(steps[2], steps[1].line)) return {};
  return {steps[0].line,
          steps[1].line,
          static_cast<uint32_t>(steps[0].offset),
          static_cast<uint32_t>(steps[1].offset),
          steps[1].peer,
          combining,
          combining && is(steps[2].operands[1], plan::Space::line)};
}

}  // namespace tutti::exec
