#include <cstdio>

#include "plan/program.h"

namespace tutti::plan {
namespace {

std::string text_of(const Operand& operand, int32_t extent_count) {
  std::string text = std::string(name(operand.space)) + "[" + std::to_string(operand.rank) + "]";
  if (operand.space == Space::line) return text + "." + std::to_string(operand.line);
  text += "." + std::to_string(operand.block);
  if (extent_count > 1) text += "+" + std::to_string(extent_count);
  if (!operand.bypassable) return text;
  Operand there{operand.bypass_space, operand.rank, 0, operand.bypass_block};
  return text + " or " + text_of(there, extent_count);
}

std::string transfer_text(const Step& step) {
  return "transfer " + std::to_string(step.number) + " at stage " +
         std::to_string(step.number_stage);
}

std::string text_of(const Program& program, const Arrival& arrival) {
  if (arrival.peer < 0) return {};
  const std::string from = program.uses_lines ? "" : "rank " + std::to_string(arrival.peer) + ", ";
  return " (after " + from + "transfer " + std::to_string(arrival.number) + " at stage " +
         std::to_string(arrival.number_stage) + ")";
}

std::string message_of(const Program& program, const Step& step) {
  const Message& message = program.messages[static_cast<size_t>(step.message)];
  std::string text = (message.sends ? "to rank " : "from rank ") + std::to_string(message.peer) +
                     ", " + transfer_text(step) + ", tag of transfer " +
                     std::to_string(message.number) + " at stage " +
                     std::to_string(message.number_stage) + ":";
  if (message.piece_count == 0) return text + " nothing";
  for (int32_t i = 0; i < message.piece_count; ++i) {
    const Piece& piece = program.pieces[static_cast<size_t>(message.first_piece + i)];
    text += (i == 0 ? " " : ", ") + text_of(piece.operand, piece.extent_count);
  }
  return text;
}

std::string line_text(int32_t rank, int32_t line) {
  return "line[" + std::to_string(rank) + "]." + std::to_string(line);
}

// The operands of a movement, and the blocks whose lengths it has.
std::string movement_of(const Program& program, const Step& step) {
  const bool arriving = properties_of(step.kind).form == StepForm::arriving_blocks;
  std::string text;
  for (int32_t i = 0; i < step.operand_count; ++i) {
    if (i > 0) text += i == 1 ? " <- " : ", ";
    text += text_of(program.operands[step.first_operand + i], step.extent_count);
    if (arriving && i > 0) text += text_of(program, program.arrivals[step.first_arrival + i - 1]);
  }
  text += "  (lengths of block " + std::to_string(step.extent_first);
  if (step.extent_count > 1)
    text += ".." + std::to_string(step.extent_first + step.extent_count - 1);
  return text + (step.elidable ? "; elidable)" : ")");
}

std::string operands_of(const Program& program, const Step& step) {
  switch (properties_of(step.kind).form) {
    case StepForm::peer_word:
      return "rank " + std::to_string(step.peer) + ", " + transfer_text(step);
    case StepForm::peer_line: return line_text(step.peer, step.line) + ", " + transfer_text(step);
    case StepForm::own_word: return transfer_text(step);
    case StepForm::own_line: return line_text(program.rank, step.line) + ", " + transfer_text(step);
    case StepForm::message: return message_of(program, step);
    case StepForm::blocks:
    case StepForm::arriving_blocks: break;
  }
  return movement_of(program, step);
}

}  // namespace

std::string print(const Program& program) {
  std::string text = "program of rank " + std::to_string(program.rank) + " of " +
                     std::to_string(program.ranks) + ": " + std::string(name(program.collective));
  if (!program.algorithm.empty()) text += " " + program.algorithm;
  if (rooted(program.collective)) text += ", root " + std::to_string(program.root);
  text += program.uses_lines
              ? ", " + std::to_string(program.lines) + " lines"
              : ", " + std::to_string(program.slot_blocks) + " slot blocks in at least " +
                    std::to_string(program.min_positions) + " positions";
  text += ", " + std::to_string(program.stages) + " stages, " + std::to_string(program.transfers) +
          " transfers\n";
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    char start[64];
    snprintf(start, sizeof start, "%4zu  stage %-3d %-10s ", i, step.stage,
             std::string(name(step.kind)).c_str());
    text += start + operands_of(program, step) + '\n';
  }
  return text;
}

}  // namespace tutti::plan
