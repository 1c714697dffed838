// The error messages of a simulated run.
#include <algorithm>

#include "base/error.h"
#include "plan/simulated_run.h"

namespace tutti::plan {
namespace {

std::string operand_text(const Operand& operand, int32_t k) {
  const int32_t which = operand.space == Space::line ? operand.line : operand.block + k;
  return std::string(name(operand.space)) + "[" + std::to_string(operand.rank) + "]." +
         std::to_string(which);
}

}  // namespace

void refuse_programs(const std::string& message) {
  throw Error(Code::invalid_plan, "simulation: " + message);
}

std::string step_text(const Program& program, int32_t step) {
  if (step < 0) return "its user's access";
  return "step " + std::to_string(step) + " (" + std::string(name(program.steps[step].kind)) +
         ", transfer " + std::to_string(program.steps[step].number) + ")";
}

void SimulatedRun::check_destination(int32_t rank, const Operand& operand) const {
  if (operand.space == Space::in) refuse_programs(context(rank) + ": writes a user's `in`");
  if (operand.space == Space::line && operand.rank != rank) {
    refuse_programs(context(rank) + ": writes a line of rank " + std::to_string(operand.rank));
  }
}

void SimulatedRun::check_source(int32_t rank, Symbol symbol, const Operand& operand, int32_t k,
                                int32_t extent) const {
  if (symbol.expression == 0) {
    refuse_programs(context(rank) + ": reads " + operand_text(operand, k) + ", which nobody wrote");
  }
  if (symbol.item != extent) {
    const std::string what = parted(plan_.collective) ? "item " : "block ";
    refuse_programs(context(rank) + ": moves " + what + std::to_string(symbol.item) +
                    " of the vector, in " + operand_text(operand, k) + ", with the length of " +
                    what + std::to_string(extent));
  }
}

void SimulatedRun::refuse_race(int32_t rank, const char* does, const Operand& operand, int32_t k,
                               const Access& other) const {
  refuse_programs(context(rank) + ": " + does + " " + operand_text(operand, k) +
                  ", not ordered after " + step_text(what_.programs[other.rank], other.step) +
                  " of rank " + std::to_string(other.rank) + ", operation " +
                  std::to_string(other.operation) + ", segment " + std::to_string(other.segment));
}

void SimulatedRun::refuse_use(int32_t rank, Space space, int32_t block, const Access& other) const {
  refuse_programs(context(rank) + ": its user has " + operand_text({space, rank, 0, block}, 0) +
                  " while it is in use by " + step_text(what_.programs[other.rank], other.step) +
                  " of rank " + std::to_string(other.rank) + ", segment " +
                  std::to_string(other.segment));
}

// The place of a rank in its operation, for messages.
std::string SimulatedRun::context(int32_t rank) const {
  const Rank& self = ranks_[rank];
  const std::string text = "interleaving " + std::to_string(interleaving_) + ", rank " +
                           std::to_string(rank) + ", operation " + std::to_string(self.operation);
  if (self.at == 0 || self.at > what_.orders[rank].size()) return text;
  const SimulatedStep at = what_.orders[rank][self.at - 1];
  return text + ", segment " + std::to_string(at.segment) + ", " +
         step_text(what_.programs[rank], at.step);
}

void SimulatedRun::refuse_stuck() const {
  const std::vector<int32_t> stuck = all_unfinished();
  if (stuck.empty()) return;
  constexpr size_t shown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(stuck.size(), shown); ++i)
    text += (i == 0 ? "" : "; ") + context(stuck[i]);
  refuse_programs(std::to_string(stuck.size()) + " ranks wait for ever: " + text);
}

void SimulatedRun::check_results() {
  if (!has_data(plan_.collective)) return;  // each exit is checked when it happens
  for (int32_t operation = 0; operation < operations(); ++operation) {
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      if (plan_.definition().has_out(rank)) check_result(operation, rank);
    }
  }
}

void SimulatedRun::check_result(int32_t operation, int32_t rank) {
  for (int32_t segment = 0; segment < what_.schedule.segments; ++segment) {
    for (int32_t block = 0; block < plan_.definition().out_blocks(); ++block) {
      const Symbol held = user(operation, rank, Space::out, segment, block).symbol();
      if (held.expression == what_.results[what_.result(operation, segment, rank, block)]) continue;
      refuse_programs("interleaving " + std::to_string(interleaving_) + ": rank " +
                      std::to_string(rank) +
                      (in_place_[size_t(operation) * plan_.ranks + rank] ? ", in place," : "") +
                      " ends operation " + std::to_string(operation) + " with a wrong block " +
                      std::to_string(block) + " in segment " + std::to_string(segment));
    }
  }
}

}  // namespace tutti::plan
