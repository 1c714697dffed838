#include <cstdio>

#include "plan/program.h"

namespace tutti::plan {
namespace {

std::string text_of(const Operand& operand, int32_t extent_count) {
  std::string text;
  switch (operand.space) {
    case Space::in: text = "in[" + std::to_string(operand.rank) + "]"; break;
    case Space::out: text = "out[" + std::to_string(operand.rank) + "]"; break;
    case Space::slot: text = "slot[" + std::to_string(operand.rank) + "]"; break;
    case Space::line:
      return "line[" + std::to_string(operand.rank) + "]." + std::to_string(operand.line);
  }
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

std::string operands_of(const Program& program, const Step& step) {
  switch (step.kind) {
    case StepKind::wait_word:
    case StepKind::wait_reuse:
    case StepKind::wait_return:
    case StepKind::wait_before:
      return "rank " + std::to_string(step.peer) + ", " + transfer_text(step);
    case StepKind::wait_line:
      return "line[" + std::to_string(step.peer) + "]." + std::to_string(step.line) + ", " +
             transfer_text(step);
    case StepKind::publish: return transfer_text(step);
    case StepKind::stamp:
      return "line[" + std::to_string(program.rank) + "]." + std::to_string(step.line) + ", " +
             transfer_text(step);
    case StepKind::post:
    case StepKind::send:
    case StepKind::receive:
    case StepKind::sent: return message_of(program, step);
    case StepKind::copy:
    case StepKind::reduce:
    case StepKind::reduce_any: break;
  }
  std::string text;
  for (int32_t i = 0; i < step.operand_count; ++i) {
    text += i == 0 ? "" : i == 1 ? " <- " : ", ";
    text += text_of(program.operands[step.first_operand + i], step.extent_count);
    if (step.kind == StepKind::reduce_any && i > 0)
      text += text_of(program, program.arrivals[step.first_arrival + i - 1]);
  }
  return text + "  (lengths of block " + std::to_string(step.extent_first) +
         (step.extent_count == 1
              ? ""
              : ".." + std::to_string(step.extent_first + step.extent_count - 1)) +
         (step.elidable ? "; elidable)" : ")");
}

}  // namespace

const std::vector<StepKindInfo>& step_kinds() {
  static const std::vector<StepKindInfo> table = {
      {StepKind::wait_word, "wait_word", "peer, transfer",
       "wait until the peer's word shows this segment's transfer"},
      {StepKind::wait_line, "wait_line", "peer's line, transfer",
       "wait until the line bears the transfer's stamp"},
      {StepKind::wait_reuse, "wait_reuse", "peer, transfer",
       "wait until the peer's word shows the transfer of the segment that used this ring position "
       "before"},
      {StepKind::copy, "copy", "destination, source", "copy blocks"},
      {StepKind::reduce, "reduce", "destination, sources",
       "combine blocks, in the order of the sources"},
      {StepKind::reduce_any, "reduce_any", "destination, sources with what each hangs on",
       "combine blocks, each source as soon as its peer's word, or line, shows its transfer"},
      {StepKind::publish, "publish", "transfer",
       "let this rank's word show this segment's transfer"},
      {StepKind::stamp, "stamp", "line, transfer",
       "let this rank's line bear the transfer's stamp"},
      {StepKind::wait_return, "wait_return", "peer, transfer",
       "where others read this rank's own buffers: wait until the peer's word shows the last "
       "segment's transfer"},
      {StepKind::wait_before, "wait_before", "peer, transfer",
       "wait until the peer's word shows the transfer of the segment before"},
      {StepKind::post, "post", "message", "let the message come: its place is free"},
      {StepKind::send, "send", "message", "let the message go"},
      {StepKind::receive, "receive", "message", "wait until the message has come"},
      {StepKind::sent, "sent", "message", "wait until the message's source may be written again"},
  };
  return table;
}

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
             std::string(step_kinds()[static_cast<size_t>(step.kind)].name).c_str());
    text += start + operands_of(program, step) + '\n';
  }
  return text;
}

}  // namespace tutti::plan
