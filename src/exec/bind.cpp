// Binding: the places that a program names become addresses in one rank's memory.
#include <algorithm>
#include <utility>
#include <vector>

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

bool hears_all(const BoundProgram& bound, int ranks) {
  std::vector<bool> is_heard(static_cast<size_t>(ranks));
  for (const BoundStep& step : bound.steps)
    if (step.kind == plan::StepKind::wait_line) is_heard[static_cast<size_t>(step.peer)] = true;
  return std::count(is_heard.begin(), is_heard.end(), true) == ranks - 1;
}

BoundOperand named(plan::Space space, int32_t block) {
  BoundOperand operand;
  operand.block = static_cast<uint32_t>(block) & BoundOperand::most_blocks;
  operand.space = static_cast<uint8_t>(space);
  return operand;
}

}  // namespace

// Binds one program for the rank of one channel.
class Channel::Binder {
 public:
  Binder(const Channel& channel, const plan::Program& program, BoundProgram& bound)
      : channel_(channel), program_(program), bound_(bound) {}

  void steps() {
    for (const plan::Step& step : program_.steps) {
      BoundStep bound = without_line(step);
      if (step.kind == plan::StepKind::stamp && is_stamped_with_last_step(bound)) {
        bound_.steps.back().then_stamp = true;
        bound_.steps.back().line = line_of(channel_.index_, step.line);
      } else if (step.kind == plan::StepKind::wait_return) {
        bound_.returns.push_back(bound);
      } else {
        const bool is_peers = step.kind == plan::StepKind::wait_line;
        bound.line = line_of(is_peers ? bound.peer : channel_.index_, step.line);
        bound_.steps.push_back(bound);
      }
    }
  }

  void arrivals() {
    for (const plan::Arrival& arrival : program_.arrivals) {
      const int32_t peer = index_of(arrival.peer);
      bound_.arrivals.push_back({peer, offset_of(arrival.number_stage, arrival.number),
                                 peer < 0 ? 0 : line_of(peer, arrival.line)});
    }
  }

  void messages() {
    for (const plan::Piece& piece : program_.pieces) {
      bound_.pieces.push_back({bind(piece.operand), static_cast<uint32_t>(piece.extent_first),
                               static_cast<uint32_t>(piece.extent_count)});
    }
    for (const plan::Message& message : program_.messages) {
      bound_.messages.push_back(
          {message.peer, offset_of(message.number_stage, message.number),
           offset_of(message.posted_stage, message.posted),
           static_cast<uint32_t>(message.first_piece), static_cast<uint32_t>(message.piece_count),
           static_cast<uint32_t>(message.first_request), static_cast<uint32_t>(message.in_flight)});
    }
  }

 private:
  // Negative numbers stand for no rank and stay.
  int32_t index_of(int32_t rank) const { return rank < 0 ? rank : channel_.index_of(rank); }

  uint32_t line_of(int index, int32_t line) const {
    const size_t stride = channel_.stride_ / shm::line_size;
    return static_cast<uint32_t>(static_cast<size_t>(index) * stride + static_cast<size_t>(line));
  }

  uint64_t offset_of(int32_t stage, int32_t number) const {
    return static_cast<uint64_t>(plan::first_number(program_.transfers, stage, number));
  }

  BoundOperand bind(const plan::Operand& operand) const {
    BoundOperand bound = named(operand.space, operand.block);
    if (operand.space == plan::Space::slot) bound.lines = line_of(index_of(operand.rank), 0);
    if (operand.space == plan::Space::line)
      bound.lines = line_of(index_of(operand.rank), operand.line);
    return bound;
  }

  BoundStep without_line(const plan::Step& step) {
    BoundStep bound{};
    bound.kind = step.kind;
    bound.operand_count = static_cast<uint16_t>(step.operand_count);
    bound.elidable = step.elidable;
    bound.stage = step.stage;
    bound.peer = index_of(step.peer);
    bound.offset = offset_of(step.number_stage, step.number);
    bound.details = static_cast<uint32_t>(bound_.details.size());
    bound.place = static_cast<uint32_t>(&step - program_.steps.data());
    bound_.details.push_back(
        {static_cast<uint32_t>(bound_.operands.size()), static_cast<uint32_t>(step.first_arrival),
         static_cast<uint32_t>(step.extent_first), static_cast<uint32_t>(step.extent_count),
         static_cast<uint32_t>(step.message)});
    const plan::Operand* const operands = program_.operands.data() + step.first_operand;
    for (int32_t i = 0; i < step.operand_count; ++i) {
      if (i < 3) {
        bound.operands[i] = bind(operands[i]);
      } else {
        bound_.operands.push_back(bind(operands[i]));
      }
    }
    bound.elsewhere = second_places(operands, step.operand_count);
    return bound;
  }

  // Where the operands' second places start in BoundProgram::elsewhere.
  uint32_t second_places(const plan::Operand* operands, int32_t count) {
    const auto is_bypassable = [](const plan::Operand& operand) { return operand.bypassable; };
    if (std::none_of(operands, operands + count, is_bypassable)) return BoundStep::nowhere;
    const auto first = static_cast<uint32_t>(bound_.elsewhere.size());
    for (const plan::Operand* operand = operands; operand != operands + count; ++operand) {
      bound_.elsewhere.push_back(
          operand->bypassable
              ? Elsewhere{operand->rank, named(operand->bypass_space, operand->bypass_block)}
              : Elsewhere{});
    }
    return first;
  }

  // True if a stamp belongs to the last step, which writes the line that it stamps.
  bool is_stamped_with_last_step(const BoundStep& stamp) const {
    return !bound_.steps.empty() && bound_.steps.back().operand_count > 0 &&
           bound_.steps.back().offset == stamp.offset;
  }

  const Channel& channel_;
  const plan::Program& program_;
  BoundProgram& bound_;
};

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
  Binder binder(*this, program, bound);
  binder.steps();
  binder.arrivals();
  binder.messages();
  if (net_ != nullptr) net_->reserve(static_cast<size_t>(program.requests));
  if (traces(program)) {
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
  start.hears_all = hears_all(bound, layout_.ranks);
  start.run = runner_for(bound);
  return made;
}

}  // namespace tutti::exec
