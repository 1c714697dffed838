#include "mpi/requests/record_trace.h"

#include <algorithm>
#include <vector>

#include "exec/program_text.h"

namespace tutti::mpi {
namespace {

using plan::Space;
using plan::StepKind;

// A kind of step that only traces have (trace/ring.h).
constexpr auto elsewhere = static_cast<StepKind>(trace::Kind::elsewhere);

plan::Operand operand(Space space, int rank, int32_t block) {
  return {.space = space, .rank = rank, .block = block};
}

void add(plan::Program& program, plan::Step step, const std::vector<plan::Operand>& operands = {}) {
  step.first_operand = static_cast<int32_t>(program.operands.size());
  step.operand_count = static_cast<int32_t>(operands.size());
  program.operands.insert(program.operands.end(), operands.begin(), operands.end());
  program.steps.push_back(step);
}

uint32_t number_of(StepKind kind) { return static_cast<uint32_t>(kind); }

// A `tmp` block of a plan is in a slot, but records have it in memory of the rank alone.
Space space_of(plan::Buffer buffer) {
  return buffer == plan::Buffer::out ? Space::out : Space::slot;
}

// The operands of a take: its destination, and its sources.
std::vector<plan::Operand> operands_of(const plan::RecordProgram& program, const plan::Take& take) {
  std::vector<plan::Operand> operands{operand(space_of(take.buffer), program.rank, take.block)};
  for (int32_t i = 0; i < take.source_count; ++i) {
    const plan::TakeSource& source = program.sources[static_cast<size_t>(take.first_source + i)];
    operands.push_back(source.rank < 0
                           ? operand(space_of(source.buffer), program.rank, source.block)
                           : operand(Space::slot, source.rank, source.block));
  }
  return operands;
}

StepKind kind_of(const plan::Take& take) {
  return take.source_count == 1 ? StepKind::copy : StepKind::reduce;
}

uint32_t number_of_program(const plan::RecordProgram& program, std::string_view algorithm) {
  plan::Program text;
  text.collective = program.collective;
  text.algorithm = algorithm;
  text.ranks = program.ranks;
  text.rank = program.rank;
  text.root = program.root;
  text.blocks = program.blocks;
  text.transfers = program.ranks * (1 + program.blocks);
  text.stages = 2;
  if (!program.gives.empty())
    add(text,
        {.kind = StepKind::copy,
         .number = program.rank + 1,
         .extent_count = static_cast<int32_t>(program.gives.size())},
        {operand(Space::slot, program.rank, 0), operand(Space::in, program.rank, 0)});
  add(text, {.kind = StepKind::publish, .number = program.rank + 1});
  add(text, {.kind = elsewhere});
  for (const int32_t rank : program.awaits)
    add(text, {.kind = StepKind::wait_word, .stage = 1, .number = rank + 1, .peer = rank});
  // A barrier's takes move nothing and are not executed.
  for (size_t i = 0; plan::has_data(program.collective) && i < program.takes.size(); ++i) {
    const int32_t place = std::min(static_cast<int32_t>(i), program.blocks - 1);
    add(text,
        {.kind = kind_of(program.takes[i]),
         .stage = 1,
         .number = program.ranks + program.rank * program.blocks + place + 1,
         .number_stage = 1,
         .extent_first = program.takes[i].block},
        operands_of(program, program.takes[i]));
  }
  return tracer()->program(exec::program_text(text));
}

}  // namespace

void RecordTrace::begin_completion(const plan::RecordProgram& program, size_t record_bytes) {
  program_ = &program;
  recorder_.emplace(tracer(), entry_, static_cast<uint32_t>(program.collective));
  uint32_t index = 0;
  if (!program.gives.empty())
    recorder_->step_until(filled_, number_of(StepKind::copy), index++, record_bytes);
  recorder_->step_until(published_, number_of(StepKind::publish), index++, 0);
  recorder_->step(number_of(elsewhere), index, 0, -1, 0);
}

void RecordTrace::waited(size_t awaited) {
  recorder_->step(number_of(StepKind::wait_word), place_of_waits() + static_cast<uint32_t>(awaited),
                  0, program_->awaits[awaited], 0);
}

void RecordTrace::took(const plan::RecordProgram& program, size_t take, size_t bytes) noexcept {
  const size_t place = place_of_waits() + program.awaits.size() + take;
  recorder_->step(number_of(kind_of(program.takes[take])), static_cast<uint32_t>(place), 0, -1,
                  bytes);
}

void RecordTrace::exit(const What& what) {
  if (!recorder_) return;  // memory ran out
  if (what.program != described_ || what.communicator != described_on_)
    number_ = number_of_program(*what.program, what.algorithm);
  described_ = what.program;
  described_on_ = what.communicator;
  recorder_->exit(
      {number_, what.communicator, what.number, what.bytes, what.bytes, 1, 1, what.program->root});
  recorder_.reset();
}

}  // namespace tutti::mpi
