#include "exec/executor.h"

#include <vector>

#include "exec/combine.h"
#include "exec/exchange.h"
#include "exec/execution.h"

namespace tutti::exec {
namespace {

constexpr uint32_t sources_inline = 64;  // more are gathered on the heap

}  // namespace

void Channel::combine_many(const BoundProgram& bound, const BoundStep& step,
                           const Operation& operation, std::byte* const* base_of,
                           const Offsets& offsets, size_t bytes) {
  auto address = [&](const BoundOperand& operand) {
    return base_of[operand.space] + operand.displacement() + offsets.of(operand);
  };
  const uint32_t count = step.operand_count - 1u;
  const void* few[sources_inline];
  std::vector<const void*> many(count > sources_inline ? count : 0);
  const void** sources = many.empty() ? few : many.data();
  for (uint32_t i = 0; i < count; ++i) {
    sources[i] = address(i < 2 ? step.operands[i + 1]
                               : bound.operands[bound.details[step.details].more_operands + i - 2]);
  }
  combine(*operation.combine, address(step.operands[0]), sources, static_cast<int>(count), bytes);
}

template <bool yielding, Shape shape, bool arrivals, bool traced, Beyond beyond>
Code Channel::run(Channel& channel, const Start& start, const Operation& operation) {
  using Run = Execution<yielding, shape, arrivals, traced, beyond>;
  std::byte* base_of[Run::spaces];
  typename Run::Records recorder(channel.tracer_);
  return Run(channel, start, operation, base_of, recorder).run();
}

template <bool yielding, bool arrivals, bool traced>
Code Channel::run_slots(Channel& channel, const Start& start, const Operation& operation) {
  const bool whole = operation.segment_bytes >= operation.bytes;
  return whole ? run<yielding, Shape::whole, arrivals, traced>(channel, start, operation)
               : run<yielding, Shape::segmented, arrivals, traced>(channel, start, operation);
}

// Long messages take so long that one instance can serve programs with arrivals and without.
template <bool yielding, bool arrivals, bool traced>
Code Channel::run_offers(Channel& channel, const Start& start, const Operation& operation) {
  const BoundProgram& bound = *start.bound;
  const size_t element = operation.combine != nullptr ? operation.combine->element : 1;
  const bool reaching =
      operation.bytes >= bound.reach_from &&
      (operation.v_parts == nullptr || plan::has_table(*bound.program, channel.resources_, element,
                                                       operation.bytes, operation.segment_bytes));
  if (bound.program->parted) {
    return reaching ? run<yielding, Shape::parts, true, traced, Beyond::buffers>(channel, start,
                                                                                 operation)
                    : run<yielding, Shape::parts, arrivals, traced>(channel, start, operation);
  }
  return reaching ? run<yielding, Shape::segmented, true, traced, Beyond::buffers>(channel, start,
                                                                                   operation)
                  : run_slots<yielding, arrivals, traced>(channel, start, operation);
}

template <bool yielding, bool traced>
Channel::Runner Channel::net_runner(const plan::Program& program) {
  constexpr Beyond nodes = Beyond::nodes;
  if (program.parted && !program.uses_lines)
    return &run<yielding, Shape::parts, true, traced, nodes>;
  if (program.parted) return &run<yielding, Shape::part_lines, true, traced, nodes>;
  return program.uses_lines ? &run<yielding, Shape::lines, true, traced, nodes>
                            : &run<yielding, Shape::segmented, true, traced, nodes>;
}

// Recording costs time anyway, so one instance serves programs with arrivals and without.
Channel::Runner Channel::runner_for(const BoundProgram& bound) const {
  const bool arrivals = !bound.arrivals.empty();
  const bool traced = traces(*bound.program);
  if (style_ == WaitStyle::yield) {
    if (traced) return runner<true, true, true>(bound);
    return arrivals ? runner<true, true, false>(bound) : runner<true, false, false>(bound);
  }
  if (traced) return runner<false, true, true>(bound);
  return arrivals ? runner<false, true, false>(bound) : runner<false, false, false>(bound);
}

}  // namespace tutti::exec
