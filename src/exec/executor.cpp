#include "exec/executor.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "exec/arrival.h"
#include "exec/combine.h"
#include "exec/program_text.h"
#include "exec/wait.h"

namespace tutti::exec {
namespace {

using plan::Space;
using plan::StepKind;

constexpr size_t spaces = 4;
constexpr uint32_t slot_space = static_cast<uint32_t>(Space::slot);

// Sizes found by measuring (docs/performance.md): up to where a message goes in one piece, and the segments beyond.
constexpr size_t most_short_slots = 16 * 1024;
constexpr size_t most_whole = 8 * 1024;
constexpr size_t least_segment = 4 * 1024;
constexpr size_t most_segment = 16 * 1024;
constexpr size_t copy_through_least = 2048;
constexpr uint32_t sources_inline = 64;  // more are gathered on the heap

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// In the place of trace::Recorder where nothing is recorded: leaves nothing in the code.
struct Unrecorded {
  explicit Unrecorded(trace::Tracer*) {}
  void step(uint32_t, uint32_t, int64_t, int32_t, uint64_t) {}
  void exit(const trace::Recorder::What&) {}
};
trace::Recorder* address_of(trace::Recorder& recorder) { return &recorder; }
trace::Recorder* address_of(Unrecorded&) { return nullptr; }

// Where the blocks of one segment are.
struct Geometry {
  size_t segment_bytes;   // of the user's vector, but for the last segment
  size_t block_bytes;     // of every block; a vector's last ones may be short or empty
  size_t position_bytes;  // of a ring position of a slot
  int64_t segments;
  int64_t positions;      // ring positions that this operation takes
};

// The distance of blocks in a segment of so many bytes. A user's vector of one block has no second one, so there only
// the slot is concerned; blocks of several start on cache lines where elements fit.
size_t block_bytes_of(const plan::Program& program, size_t element, size_t segment_bytes) {
  const auto blocks = static_cast<size_t>(program.blocks);
  if (blocks == 1) return round_up(segment_bytes, shm::line_size);
  const size_t elements = (segment_bytes / element + blocks - 1) / blocks;
  return shm::line_size % element == 0 ? round_up(elements * element, shm::line_size) : elements * element;
}

size_t position_bytes_of(const plan::Program& program, size_t element, size_t segment_bytes) {
  return round_up(static_cast<size_t>(program.slot_blocks) * block_bytes_of(program, element, segment_bytes),
                  shm::line_size);
}

// Segments are multiples of it.
size_t grain_of(size_t element) { return shm::line_size % element == 0 ? shm::line_size : element; }

// What segments of this size need: as many positions as the waits between them do, and enough to let ranks run apart.
size_t ring_bytes_of(const plan::Program& program, size_t element, size_t segment_bytes) {
  return position_bytes_of(program, element, segment_bytes) * static_cast<size_t>(std::max(program.min_positions, 4));
}

// All ranks compute the same: from the program, the vector's bytes and the segment size alone.
Geometry geometry_of_whole(const plan::Program& program, const Operation& operation, size_t element) {
  return {operation.bytes, block_bytes_of(program, element, operation.bytes),
          position_bytes_of(program, element, operation.bytes), 1, 1};
}

Geometry geometry_of_segments(const plan::Program& program, const Operation& operation, size_t element, size_t slot_bytes) {
  const size_t segment = operation.segment_bytes;
  Geometry geometry{segment, block_bytes_of(program, element, segment), position_bytes_of(program, element, segment),
                    static_cast<int64_t>((operation.bytes + segment - 1) / segment), 1};
  const size_t fit = geometry.position_bytes == 0 ? 1 : slot_bytes / geometry.position_bytes;
  geometry.positions = std::min<int64_t>(geometry.segments, static_cast<int64_t>(fit));
  return geometry;
}

size_t extent_bytes(const BoundStep& step, const Geometry& geometry, size_t vector_bytes) {
  const size_t begin = std::min(step.extent_first * geometry.block_bytes, vector_bytes);
  const size_t end = std::min((step.extent_first + step.extent_count) * geometry.block_bytes, vector_bytes);
  return end - begin;
}

}  // namespace

std::string describe_call(uint64_t call) {
  if (call == 0) return "nothing";
  const auto collective = static_cast<plan::Collective>((call >> 60) - 1);
  std::string text{plan::name(collective)};
  if (collective != plan::Collective::barrier) {
    text += " of " + std::to_string(call & ((uint64_t{1} << 40) - 1)) + " bytes";
  }
  if (plan::rooted(collective)) text += ", root " + std::to_string((call >> 40) & 0xFFFFF);
  return text;
}

Channel::Channel(std::byte* areas, const shm::Layout& layout, int rank, const Settings& settings)
    : first_line_(areas + layout.lines_offset()),
      first_slot_(areas + layout.slot_offset()),
      areas_(areas),
      stride_(layout.stride()),
      layout_(layout),
      rank_(rank),
      style_(settings.style),
      copy_through_from_(settings.stores_past_cache ? copy_through_least : SIZE_MAX),
      hook_(settings.hook),
      tracer_(settings.tracer),
      communicator_(settings.communicator) {
  own_ = &control(rank);
  shm::jot(own_->process, settings.process);
  short_slots_.size = short_slots_.limit = std::min(most_short_slots, layout.slot_bytes / 4 / shm::line_size * shm::line_size);
  long_slots_.size = long_slots_.limit = layout.slot_bytes - short_slots_.size;
  lines_.size = lines_.limit = static_cast<uint64_t>(layout.line_count);
}

Code Channel::fail(Code code, std::string message) {
  failed_ = code;
  failure_ = std::move(message);
  return code;
}

Code Channel::fail_mismatch(int peer, uint64_t call) {
  return fail(Code::mismatch, "rank " + std::to_string(rank_) + " called " + describe_call(call) + " while rank " +
                                  std::to_string(peer) + " called " + describe_call(shm::glance(control(peer).call)) +
                                  "; all ranks of a communicator must make the same collective calls in the same order");
}

std::string Channel::standing(int rank) const {
  const shm::Control& its = control(rank);
  std::string text = "rank " + std::to_string(rank);
  if (const uint64_t process = shm::glance(its.process); process != 0) text += " (process " + std::to_string(process) + ")";
  const uint64_t word = shm::glance(its.word);
  const std::string call = describe_call(shm::glance(its.call));
  if (shm::glance(its.call) == 0) return text + ": has not entered any collective";
  if (const uint64_t peer = shm::glance(its.waits_for); peer != 0) {
    return text + ": in " + call + ", waits for rank " + std::to_string(peer - 1) + " to reach " +
           std::to_string(shm::glance(its.waits_value)) + " (that rank's word is " +
           std::to_string(shm::glance(control(static_cast<int>(peer - 1)).word)) + ")";
  }
  return text + ": last entered " + call + "; its word is " + std::to_string(word);
}

size_t Channel::segment_bytes(const plan::Program& program, size_t element, size_t bytes, size_t wanted) const {
  if (bytes <= whole_up_to(program, wanted)) return bytes;
  const size_t target = wanted != 0 ? wanted : std::clamp(bytes / 4, least_segment, most_segment);
  const size_t grain = grain_of(element);
  size_t segment = std::max(target / grain, size_t{1}) * grain;
  while (segment > grain && ring_bytes_of(program, element, segment) > long_slots_.size) {
    segment = std::max(segment * 7 / 8 / grain, size_t{1}) * grain;
  }
  return segment;
}

size_t Channel::whole_up_to(const plan::Program& program, size_t wanted) const {
  if (program.slot_blocks == 0) return SIZE_MAX;
  const size_t limit = wanted != 0 ? wanted : most_whole;
  // The largest element makes the largest position; a block may be cut short by one and padded by a line.
  const size_t fits = long_slots_.size / static_cast<size_t>(program.slot_blocks);
  const size_t slack = 2 * shm::line_size;
  const size_t blocks = static_cast<size_t>(program.blocks);
  return fits <= slack ? 0 : std::min(limit, (fits - slack) * blocks);
}

bool Channel::fits(const plan::Program& program, size_t element) const {
  if (program.uses_lines) return static_cast<uint64_t>(program.lines) <= lines_.size;
  return ring_bytes_of(program, element, grain_of(element)) <= long_slots_.size;
}

Code Channel::make_room(Ring& ring, uint64_t units, bool writes, const Operation& operation) {
  if (ring.make_room(units) || !writes) return Code::ok;
  Checkpoint past = checkpoint_;
  const uint64_t needed = ring.cursor + units - ring.size;
  const uint64_t passed = &ring == &lines_ ? past.lines : &ring == &short_slots_ ? past.short_slots : past.long_slots;
  if (passed < needed) past = here();
  for (int peer = 0; peer < layout_.ranks; ++peer) {
    if (peer == rank_) continue;
    const Awaited ended{&control(peer).word, past.base, peer, nullptr};
    if (shm::observe(*ended.word) >= ended.value) continue;
    if (const Code code = wait_for(*this, ended, operation.call); code != Code::ok) return code;
  }
  lines_.safe = std::max(lines_.safe, past.lines);
  short_slots_.safe = std::max(short_slots_.safe, past.short_slots);
  long_slots_.safe = std::max(long_slots_.safe, past.long_slots);
  checkpoint_ = here();
  ring.make_room(units);
  return Code::ok;
}

void Channel::combine_many(const BoundProgram& bound, const BoundStep& step, const Operation& operation,
                           std::byte* const* base_of, size_t block_bytes, size_t bytes) {
  auto address = [&](const BoundOperand& operand) {
    return base_of[operand.space] + operand.displacement + operand.block * block_bytes;
  };
  const uint32_t count = step.operand_count - 1u;
  const void* few[sources_inline];
  std::vector<const void*> many(count > sources_inline ? count : 0);
  const void** sources = many.empty() ? few : many.data();
  for (uint32_t i = 0; i < count; ++i) {
    sources[i] = address(i < 2 ? step.operands[i + 1] : bound.operands[step.more_operands + i - 2]);
  }
  combine(*operation.combine, address(step.operands[0]), sources, static_cast<int>(count), bytes);
}

// The path of every call: no allocation, lock, system call, string or log while nothing is waited for. What depends on
// the shape is decided at compile time; a line program of three steps takes about 130 instructions
// (tests/mpi/test_cost.py holds the whole call to 300).
template <bool yielding, Channel::Shape shape, bool arrivals, bool traced>
Code Channel::run(Channel& channel, const BoundProgram& bound, const Operation& operation) {
  constexpr bool lines_only = shape == Shape::lines;
  constexpr bool segmented = shape == Shape::segmented;
  const plan::Program& program = *bound.program;
  const uint64_t base = channel.base_;
  std::conditional_t<traced, trace::Recorder, Unrecorded> recorder(channel.tracer_);
  Geometry geometry{};
  if constexpr (!lines_only) {
    const size_t element = operation.combine != nullptr ? operation.combine->element : 1;
    geometry = segmented ? geometry_of_segments(program, operation, element, channel.long_slots_.size)
                         : geometry_of_whole(program, operation, element);
  }
  const uint64_t share = lines_only ? static_cast<uint64_t>(program.lines)
                                    : geometry.position_bytes * static_cast<size_t>(geometry.positions);

  shm::Control& own = *channel.own_;
  shm::jot(own.call, operation.call);
  if constexpr (!lines_only) shm::jot(own.entered, (base + 1) << 32 | entered_tag(operation.call));
  const bool is_short = shape == Shape::whole && share <= channel.short_slots_.size / 2;
  Ring& ring = lines_only ? channel.lines_ : is_short ? channel.short_slots_ : channel.long_slots_;
  const uint64_t start = ring.cursor;
  if (start + share > ring.limit) [[unlikely]] {
    const Code code = channel.make_room(ring, share, program.writes_shared, operation);
    if (code != Code::ok) return code;
    recorder.step(static_cast<uint32_t>(trace::Kind::make_room), 0, 0, -1, 0);
  }
  std::byte* const lines = channel.first_line_ + channel.lines_.position() * shm::line_size;
  std::byte* const slots = lines_only ? nullptr : channel.first_slot_ + ring.position() + (is_short ? 0 : channel.short_slots_.size);
  std::byte* base_of[spaces] = {static_cast<std::byte*>(const_cast<void*>(operation.in)),
                                static_cast<std::byte*>(operation.out), slots, lines + offsetof(shm::Line, payload)};

  auto stamp = [&](const BoundStep& step) {
    auto& line = *reinterpret_cast<shm::Line*>(lines + step.line);
    shm::jot(line.call, operation.call);
    shm::publish(line.stamp, base + step.offset);
    if constexpr (yielding) wake_sleepers(own);
  };

  const int64_t ticks = segmented ? geometry.segments + program.stages - 1 : 1;
  for (int64_t tick = 0; tick < ticks; ++tick) {
    for (const BoundStep& step : bound.steps) {
      int64_t segment = 0;
      uint64_t number = base + step.offset;
      if constexpr (segmented) {
        segment = tick - step.stage;
        if (segment < 0 || segment >= geometry.segments) continue;
        number += static_cast<uint64_t>(segment) * static_cast<uint64_t>(program.transfers);
      }
      auto ended = [&](StepKind kind, uint32_t further, int32_t peer, size_t bytes) {
        if constexpr (traced) {
          const uint32_t place = bound.places[static_cast<size_t>(&step - bound.steps.data())];
          recorder.step(static_cast<uint32_t>(kind), place + further, segment, peer, bytes);
        }
      };
      // Movement first: it is most of a short program, and the count of operands tells all that its dispatch needs.
      if (step.operand_count != 0) {
        size_t bytes = operation.bytes;
        if constexpr (segmented) {
          const size_t at = static_cast<size_t>(segment) * geometry.segment_bytes;
          base_of[0] = static_cast<std::byte*>(const_cast<void*>(operation.in)) + at;
          base_of[1] = static_cast<std::byte*>(operation.out) + at;
          base_of[2] = slots + static_cast<size_t>(segment % geometry.positions) * geometry.position_bytes;
          bytes = std::min(geometry.segment_bytes, operation.bytes - at);
        }
        if constexpr (!lines_only) {
          if (program.blocks > 1) bytes = extent_bytes(step, geometry, bytes);
        }
        if constexpr (arrivals) {
          // Even of no bytes: what it waits for orders more than its own data.
          if (step.kind == StepKind::reduce_any) {
            const uint64_t before = base + static_cast<uint64_t>(segment) * static_cast<uint64_t>(program.transfers);
            const ArrivalReduce::Place place{base_of, lines, geometry.block_bytes, bytes, before};
            const ArrivalReduce::Record record{address_of(recorder), segment};
            const Code code = ArrivalReduce(channel, bound, step, operation, place, record).run();
            if (code != Code::ok) return code;
            ended(StepKind::reduce_any, 0, -1, bytes);
            if (step.then_stamp) {
              stamp(step);
              ended(StepKind::stamp, 1, -1, 0);
            }
            continue;
          }
        }
        if constexpr (!lines_only) {
          if (bytes == 0) continue;
        }
        auto address = [&](const BoundOperand& operand) {
          std::byte* at = base_of[operand.space] + operand.displacement;
          if constexpr (!lines_only) at += operand.block * geometry.block_bytes;
          return at;
        };
        if (step.operand_count == 2) {
          std::byte* const dst = address(step.operands[0]);
          const std::byte* const src = address(step.operands[1]);
          if (segmented && bytes >= channel.copy_through_from_ && step.operands[0].space == slot_space) {
            kernels::copy_through(dst, src, bytes);
          } else if (src != dst) {
            kernels::copy(dst, src, bytes);
          }
        } else if (step.operand_count == 3 && operation.combine->kernel != nullptr) [[likely]] {
          operation.combine->kernel(address(step.operands[0]), address(step.operands[1]), address(step.operands[2]),
                                    lines_only ? operation.count : operation.count_of(bytes));
        } else {
          combine_many(bound, step, operation, base_of, geometry.block_bytes, bytes);
        }
        ended(step.kind, 0, -1, bytes);
        if (step.then_stamp) {
          stamp(step);
          ended(StepKind::stamp, 1, -1, 0);
        }
        continue;
      }
      if (step.kind == StepKind::wait_line) {
        const auto& line = *reinterpret_cast<const shm::Line*>(lines + step.line);
        if (shm::observe(line.stamp) != number) {
          const Code code = wait_for(channel, {&line.stamp, number, step.peer, &line}, operation.call);
          if (code != Code::ok) return code;
        }
        if (shm::glance(line.call) != operation.call) [[unlikely]] return channel.fail_mismatch(step.peer, operation.call);
      } else if (step.kind == StepKind::stamp) {
        stamp(step);
      } else if (step.kind == StepKind::publish) {
        shm::publish(own.word, number);
        if constexpr (yielding) wake_sleepers(own);
      } else {  // wait_word, wait_reuse
        if (step.kind == StepKind::wait_reuse) {
          if (!segmented || segment < geometry.positions) continue;
          number -= static_cast<uint64_t>(geometry.positions) * static_cast<uint64_t>(program.transfers);
        }
        const shm::Control& peer = channel.control(step.peer);
        if (shm::observe(peer.word) < number) {
          const Code code = wait_for(channel, {&peer.word, number, step.peer, nullptr}, operation.call);
          if (code != Code::ok) return code;
        }
        const uint64_t entered = shm::glance(peer.entered);
        if (static_cast<uint32_t>(entered >> 32) == static_cast<uint32_t>(base + 1) &&
            static_cast<uint32_t>(entered) != entered_tag(operation.call)) [[unlikely]] {
          return channel.fail_mismatch(step.peer, operation.call);
        }
      }
      ended(step.kind, 0, step.peer, 0);
    }
  }

  uint64_t next = base + bound.span;
  if constexpr (segmented) next = base + static_cast<uint64_t>(program.span(geometry.segments));
  channel.base_ = next;
  shm::publish(own.word, next);
  if constexpr (yielding) wake_sleepers(own);
  ring.cursor += share;
  // Where every rank is known to have entered this operation, it has ended all earlier ones.
  if (program.knows_all) ring.safe = start;
  if constexpr (traced) {
    const bool several = geometry.segments > 1;
    recorder.exit({bound.traced_as, channel.communicator_, channel.epoch_++, operation.bytes,
                   several ? geometry.segment_bytes : operation.bytes, several ? static_cast<uint32_t>(geometry.segments) : 1,
                   several ? static_cast<uint32_t>(geometry.positions) : 1, program.root});
  }
  return Code::ok;
}

template <bool yielding, bool arrivals, bool traced>
Code Channel::run_slots(Channel& channel, const BoundProgram& bound, const Operation& operation) {
  const bool whole = operation.segment_bytes >= operation.bytes;
  return whole ? run<yielding, Shape::whole, arrivals, traced>(channel, bound, operation)
               : run<yielding, Shape::segmented, arrivals, traced>(channel, bound, operation);
}

// What is recorded costs anyway, so one instance serves programs with arrivals and without.
Channel::Runner Channel::runner_for(const plan::Program& program) const {
  const bool lines = program.uses_lines, arrivals = !program.arrivals.empty();
  if (style_ == WaitStyle::yield) {
    if (tracer_ != nullptr) return runner<true, true, true>(lines);
    return arrivals ? runner<true, true, false>(lines) : runner<true, false, false>(lines);
  }
  if (tracer_ != nullptr) return runner<false, true, true>(lines);
  return arrivals ? runner<false, true, false>(lines) : runner<false, false, false>(lines);
}

BoundProgram Channel::bind(std::shared_ptr<const plan::Program> shared) const {
  const plan::Program& program = *shared;
  BoundProgram bound;
  const auto stride = static_cast<ptrdiff_t>(stride_);
  auto resolve = [&](const plan::Operand& operand) {
    BoundOperand resolved{0, static_cast<uint32_t>(operand.block), static_cast<uint32_t>(operand.space)};
    if (operand.space == Space::slot) resolved.displacement = operand.rank * stride;
    if (operand.space == Space::line) {
      resolved.displacement = operand.rank * stride + operand.line * static_cast<ptrdiff_t>(shm::line_size);
    }
    return resolved;
  };
  auto offset_of = [&](int32_t stage, int32_t number) {
    return static_cast<uint64_t>(stage) * static_cast<uint64_t>(program.transfers) + static_cast<uint64_t>(number);
  };
  for (const plan::Step& step : program.steps) {
    BoundStep resolved{};
    resolved.kind = step.kind;
    resolved.operand_count = static_cast<uint16_t>(step.operand_count);
    resolved.extent_first = static_cast<uint32_t>(step.extent_first);
    resolved.extent_count = static_cast<uint32_t>(step.extent_count);
    resolved.stage = step.stage;
    resolved.peer = step.peer;
    resolved.more_operands = static_cast<uint32_t>(bound.operands.size());
    resolved.first_arrival = static_cast<uint32_t>(step.first_arrival);
    for (int32_t i = 0; i < step.operand_count; ++i) {
      const BoundOperand operand = resolve(program.operands[static_cast<size_t>(step.first_operand + i)]);
      if (i < 3) {
        resolved.operands[i] = operand;
      } else {
        bound.operands.push_back(operand);
      }
    }
    resolved.offset = offset_of(step.number_stage, step.number);
    if (step.kind == StepKind::stamp && !bound.steps.empty() && bound.steps.back().operand_count > 0 &&
        bound.steps.back().offset == resolved.offset) {
      bound.steps.back().then_stamp = true;
      bound.steps.back().line = rank_ * stride + step.line * static_cast<ptrdiff_t>(shm::line_size);
      continue;
    }
    const int32_t owner = step.kind == StepKind::wait_line ? step.peer : rank_;
    resolved.line = owner * stride + step.line * static_cast<ptrdiff_t>(shm::line_size);
    bound.steps.push_back(resolved);
    bound.places.push_back(static_cast<uint32_t>(&step - program.steps.data()));
  }
  for (const plan::Arrival& arrival : program.arrivals) {
    bound.arrivals.push_back({arrival.peer, offset_of(arrival.number_stage, arrival.number),
                              arrival.peer * stride + arrival.line * static_cast<ptrdiff_t>(shm::line_size)});
  }
  bound.run = runner_for(program);
  if (tracer_ != nullptr) bound.traced_as = tracer_->program(program_head(program), program_steps(program));
  bound.span = static_cast<uint64_t>(program.span(1));
  bound.program = std::move(shared);
  return bound;
}

}  // namespace tutti::exec
