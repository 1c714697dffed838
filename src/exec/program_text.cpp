#include "exec/program_text.h"

#include "trace/file.h"

namespace tutti::exec {
namespace {

template <class... Numbers>
void append(std::string& text, Numbers... numbers) {
  ((text += std::to_string(static_cast<int64_t>(numbers)) + ','), ...);
}

void close(std::string& text) {
  if (text.back() == ',') text.pop_back();
  text += ']';
}

}  // namespace

std::string program_head(const plan::Program& program, plan::Collective collective) {
  const auto number = [](const char* name, int64_t value) {
    return std::string(",\"") + name + "\":" + std::to_string(value);
  };
  return "\"collective\":" + trace::json_text(plan::name(collective)) +
         ",\"algorithm\":" + trace::json_text(program.algorithm) + number("ranks", program.ranks) +
         number("rank", program.rank) + number("root", program.root) +
         number("blocks", program.blocks) + number("transfers", program.transfers) +
         number("stages", program.stages) +
         ",\"carrier\":" + (program.uses_lines ? "\"line\"" : "\"slot\"");
}

std::string program_steps(const plan::Program& program) {
  std::string text = "[";
  for (const plan::Step& step : program.steps) {
    text += '[';
    const int32_t peer = plan::is_message(step.kind)
                             ? program.messages[static_cast<size_t>(step.message)].peer
                             : step.peer;
    append(text, step.kind, step.stage, step.number, step.number_stage, peer, step.line,
           step.extent_first, step.extent_count);
    text += '[';
    for (int32_t i = 0; i < step.operand_count; ++i) {
      const plan::Operand& operand = program.operands[static_cast<size_t>(step.first_operand + i)];
      append(text, operand.space, operand.rank, operand.line, operand.block);
    }
    close(text);
    text += ",[";
    if (step.kind == plan::StepKind::reduce_any) {
      for (int32_t i = 0; i + 1 < step.operand_count; ++i) {
        const plan::Arrival& arrival =
            program.arrivals[static_cast<size_t>(step.first_arrival + i)];
        append(text, arrival.peer, arrival.number, arrival.number_stage);
      }
    }
    close(text);
    text += "],";
  }
  close(text);
  return text;
}

}  // namespace tutti::exec
