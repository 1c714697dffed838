// Binding: the places that a program names become addresses in one rank's memory.
#include <utility>

#include "exec/exchange.h"
#include "exec/program_text.h"
#include "plan/semantics.h"

namespace tutti::exec {

namespace {

// The fields of steps are narrow. A program or a layout that is too large for them is so at all
// ranks.
void require_narrow(const plan::Program& program, const shm::Layout& layout) {
  if (layout.bytes() > shm::most_bytes)
    throw Error(
        Code::unavailable,
        "the ranks of a group have " + std::to_string(layout.bytes() >> 30) +
            " GiB of shared memory; at most 511 can be addressed; lower TUTTI_SHM_BYTES_PER_RANK");
  if (static_cast<uint32_t>(program.slot_blocks) > BoundOperand::most_blocks)
    throw Error(Code::unavailable,
                program.algorithm + " needs " + std::to_string(program.slot_blocks) +
                    " blocks of a slot; at most " + std::to_string(BoundOperand::most_blocks) +
                    " can be addressed");
}

BoundOperand named(plan::Space space, int32_t block) {
  BoundOperand operand;
  operand.block = static_cast<uint32_t>(block) & BoundOperand::most_blocks;
  operand.space = static_cast<uint8_t>(space);
  return operand;
}

void append_elsewhere(BoundProgram& bound, const plan::Program& program, const plan::Step& step) {
  for (int32_t i = 0; i < step.operand_count; ++i) {
    const plan::Operand& operand = program.operands[static_cast<size_t>(step.first_operand + i)];
    bound.elsewhere.push_back(
        operand.bypassable
            ? Elsewhere{operand.rank, named(operand.bypass_space, operand.bypass_block)}
            : Elsewhere{});
  }
}

}  // namespace

std::unique_ptr<const BoundProgram> Channel::bind(std::shared_ptr<const plan::Program> shared,
                                                  ReachChoice reach, Among among) const {
  const plan::Program& program = *shared;
  require_narrow(program, layout_);
  auto made = std::make_unique<BoundProgram>();
  BoundProgram& bound = *made;
  const plan::ReachFrom from = plan::reach_from(program, resources_, reach);
  bound.within_node = among == Among::node;
  bound.reach_from = from.any;
  bound.cma_from = from.cma;
  const size_t stride = stride_ / shm::line_size;
  auto line_of = [&](int index, int32_t line) {
    return static_cast<uint32_t>(static_cast<size_t>(index) * stride + static_cast<size_t>(line));
  };
  auto resolve = [&](const plan::Operand& operand) {
    BoundOperand resolved = named(operand.space, operand.block);
    if (operand.space == plan::Space::slot) resolved.lines = line_of(index_of(operand.rank), 0);
    if (operand.space == plan::Space::line)
      resolved.lines = line_of(index_of(operand.rank), operand.line);
    return resolved;
  };
  auto offset_of = [&](int32_t stage, int32_t number) {
    return static_cast<uint64_t>(plan::first_number(program.transfers, stage, number));
  };
  for (const plan::Step& step : program.steps) {
    BoundStep resolved{};
    resolved.kind = step.kind;
    resolved.operand_count = static_cast<uint16_t>(step.operand_count);
    resolved.elidable = step.elidable;
    resolved.elsewhere = BoundStep::nowhere;
    resolved.stage = step.stage;
    resolved.peer = step.peer < 0 ? step.peer : index_of(step.peer);
    resolved.details = static_cast<uint32_t>(bound.details.size());
    resolved.place = static_cast<uint32_t>(&step - program.steps.data());
    bound.details.push_back(
        {static_cast<uint32_t>(bound.operands.size()), static_cast<uint32_t>(step.first_arrival),
         static_cast<uint32_t>(step.extent_first), static_cast<uint32_t>(step.extent_count),
         static_cast<uint32_t>(step.message)});
    for (int32_t i = 0; i < step.operand_count; ++i) {
      const BoundOperand operand =
          resolve(program.operands[static_cast<size_t>(step.first_operand + i)]);
      if (program.operands[static_cast<size_t>(step.first_operand + i)].bypassable &&
          resolved.elsewhere == BoundStep::nowhere) {
        resolved.elsewhere = static_cast<uint32_t>(bound.elsewhere.size());
        append_elsewhere(bound, program, step);
      }
      if (i < 3) {
        resolved.operands[i] = operand;
      } else {
        bound.operands.push_back(operand);
      }
    }
    resolved.offset = offset_of(step.number_stage, step.number);
    if (step.kind == plan::StepKind::stamp && !bound.steps.empty() &&
        bound.steps.back().operand_count > 0 && bound.steps.back().offset == resolved.offset) {
      bound.steps.back().then_stamp = true;
      bound.steps.back().line = line_of(index_, step.line);
      continue;
    }
    if (step.kind == plan::StepKind::wait_return) {
      bound.returns.push_back(resolved);
      continue;
    }
    const int32_t owner = step.kind == plan::StepKind::wait_line ? resolved.peer : index_;
    resolved.line = line_of(owner, step.line);
    bound.steps.push_back(resolved);
  }
  for (const plan::Arrival& arrival : program.arrivals) {
    const int32_t peer = arrival.peer < 0 ? arrival.peer : index_of(arrival.peer);
    bound.arrivals.push_back({peer, offset_of(arrival.number_stage, arrival.number),
                              peer < 0 ? 0 : line_of(peer, arrival.line)});
  }
  for (const plan::Piece& piece : program.pieces) {
    bound.pieces.push_back({resolve(piece.operand), static_cast<uint32_t>(piece.extent_first),
                            static_cast<uint32_t>(piece.extent_count)});
  }
  for (const plan::Message& message : program.messages) {
    bound.messages.push_back(
        {message.peer, offset_of(message.number_stage, message.number),
         offset_of(message.posted_stage, message.posted),
         static_cast<uint32_t>(message.first_piece), static_cast<uint32_t>(message.piece_count),
         static_cast<uint32_t>(message.first_request), static_cast<uint32_t>(message.in_flight)});
  }
  if (net_ != nullptr) net_->reserve(static_cast<size_t>(program.requests));
  if (tracer_ != nullptr) {
    bound.traced_as = bound.traced_as_gather = tracer_->program(program_text(program));
    if (program.parted && program.collective == plan::Collective::allgather)
      bound.traced_as_gather = tracer_->program(program_text(program, plan::Collective::gather));
  }
  bound.program = std::move(shared);
  Start& start = bound.start;
  start.bound = &bound;
  start.program = &program;
  start.steps = bound.steps.data();
  start.step_count = static_cast<uint32_t>(bound.steps.size());
  start.lines = static_cast<uint32_t>(program.lines);
  start.span = static_cast<uint64_t>(plan::span_of(program, 1));
  start.exchange = find_exchange(bound, program);
  start.knows_all = program.knows_all;
  start.run = runner_for(bound);
  return made;
}

}  // namespace tutti::exec
