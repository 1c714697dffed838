// One operation of one rank: the loop over its program's steps, and the work of each kind of step.
// Internal to executor.cpp.
//
// An Execution lives on the stack of the executing rank. It is the path of every call: while it
// need not wait it makes no allocation and no system call, takes no lock, and touches no string and
// no log. The shape is known at compile time, and an instance becomes one function that keeps its
// members in registers. Therefore no function that is not inlined gets the address of a member; the
// recorder and the bases of the operands, whose addresses others need, lie outside of the object.
// Waits are marked unlikely, so that the compiler does not prepare them before the loop. A line
// program of three steps takes about 130 instructions; the most frequent one has a path of its own
// (exchange.h). plan/semantics.h has the rules of steps: which numbers they await and publish, and
// where their bytes are.
//
// In a lane (Beyond::lanes) an Execution outlives the functions that advance it (in_flight.h): it
// executes the same steps by the same rules, but suspends itself where it would wait.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "exec/arrival.h"
#include "exec/entered.h"
#include "exec/lines.h"
#include "exec/messages.h"
#include "exec/reached.h"
#include "exec/record.h"
#include "plan/semantics.h"

namespace tutti::exec {

// Replaces trace::Recorder if nothing is recorded. It leaves nothing in the code.
struct Unrecorded {
  explicit Unrecorded(trace::Tracer*) {}
  void step(uint32_t, uint32_t, int64_t, int32_t, uint64_t) {}
  void exit(const trace::Recorder::What&) {}
};
inline trace::Recorder* address_of(trace::Recorder& recorder) { return &recorder; }
inline trace::Recorder* address_of(Unrecorded&) { return nullptr; }

template <bool yielding, Shape shape, bool arrivals, bool traced, Beyond beyond>
class Channel::Execution {
 public:
  static constexpr size_t spaces = 4;
  static constexpr bool reaching = beyond == Beyond::buffers;
  static constexpr bool suspends = beyond == Beyond::lanes;  // where it would wait
  static constexpr bool has_messages = beyond == Beyond::nodes || suspends;
  using Records = std::conditional_t<traced, trace::Recorder, Unrecorded>;

  // Members whose address other functions get are references to objects outside.
  Execution(Channel& channel, const Start& start, const Operation& operation,
            std::byte* (&base_of)[spaces], Records& recorder)
      : channel_(channel),
        start_(start),
        bound_(*start.bound),
        program_(*start.program),
        operation_(operation),
        own_(*channel.own_),
        base_(channel.base_),
        base_of_(base_of),
        recorder_(recorder),
        reached_(channel, *start.bound, operation) {}
  Execution(const Execution&) = delete;

  // Returns when all steps have been executed, or when a wait has failed.
  [[gnu::always_inline]] Code run() {
    if (const Code code = enter(); code != Code::ok) return code;
    // Steps stand in the order of stages, so that one segment needs one pass.
    const bool several = segmented && geometry_.segments > 1;
    const int64_t ticks = several ? plan::ticks_of(geometry_.segments, program_.stages) : 1;
    for (int64_t tick = 0; tick < ticks; ++tick) {
      for (const BoundStep& step : std::span(start_.steps, start_.step_count)) {
        const int64_t segment = several ? plan::segment_at(tick, step.stage) : 0;
        if (several && segment < 0) break;
        if (several && segment >= geometry_.segments) continue;
        if (const Code code = execute(step, segment); code != Code::ok) return code;
      }
    }
    if constexpr (reaching) {
      if (const Code code = wait_for_readers(); code != Code::ok) return code;
    }
    leave();
    return Code::ok;
  }

  // The same in pieces: returns would_wait where a step would have to wait, and goes on with that
  // step when it is called again.
  Code advance() {
    static_assert(suspends);
    if (!has_entered_) {
      if (const Code code = enter(); code != Code::ok) return code;
      has_entered_ = true;
    }
    const bool several = segmented && geometry_.segments > 1;
    const int64_t ticks = several ? plan::ticks_of(geometry_.segments, program_.stages) : 1;
    for (; tick_ < ticks; ++tick_, next_ = 0) {
      for (; next_ < start_.step_count; ++next_, ++executed_) {
        const BoundStep& step = start_.steps[next_];
        const int64_t segment = several ? plan::segment_at(tick_, step.stage) : 0;
        if (several && segment < 0) break;
        if (several && segment >= geometry_.segments) continue;
        if (const Code code = execute(step, segment); code != Code::ok) return code;
      }
    }
    leave();
    return Code::ok;
  }
  // How many steps advance() has executed or left out so far.
  uint64_t executed() const { return executed_; }

 private:
  using StepKind = plan::StepKind;

  // Operations that the ranks of a node run among themselves count apart in a trace, because other
  // nodes may run fewer.
  static constexpr uint64_t first_epoch_within_node = uint64_t{1} << 31;
  static constexpr uint32_t slot_space = static_cast<uint32_t>(plan::Space::slot);
  static constexpr bool lines_only = shape == Shape::lines || shape == Shape::part_lines;
  static constexpr bool has_parts = shape == Shape::part_lines || shape == Shape::parts;
  static constexpr bool segmented =
      shape == Shape::segmented || shape == Shape::parts;  // into one segment, maybe

  // Movements are tested first: most steps of a short program are movements, and the count of
  // operands is all that their dispatch needs.
  [[gnu::always_inline]] Code execute(const BoundStep& step, int64_t segment) {
    return step.operand_count != 0 ? move(step, segment) : hand_over(step, segment);
  }

  // Tells peers which call this rank is in, and takes the operation's share of a ring.
  [[gnu::always_inline]] Code enter() {
    if constexpr (!lines_only) {
      const size_t element = operation_.combine != nullptr ? operation_.combine->element : 1;
      const bool several = segmented && operation_.segment_bytes < operation_.bytes;
      geometry_ = several ? plan::geometry_of_segments(program_, element, operation_.bytes,
                                                       operation_.segment_bytes,
                                                       channel_.long_slots_.size - table_share())
                          : plan::geometry_of_whole(program_, element, operation_.bytes);
    }
    share_ = lines_only ? static_cast<uint64_t>(start_.lines)
                        : geometry_.position_bytes * static_cast<size_t>(geometry_.positions) +
                              table_share();
    shm::store_relaxed(own_.call, operation_.call);
    const bool is_short = !lines_only && (shape != Shape::segmented || has_messages) &&
                          geometry_.segments == 1 && share_ <= channel_.most_short_;
    ring_ = &channel_.lines_;
    if constexpr (!lines_only) ring_ = is_short ? &channel_.short_slots_ : &channel_.long_slots_;
    begin_ = ring_->cursor;
    if (begin_ + share_ > ring_->limit) [[unlikely]] {
      const Code code =
          channel_.make_room(*ring_, share_, program_.writes_shared, operation_, suspends);
      if (code != Code::ok) return code;
      recorder_.step(static_cast<uint32_t>(trace::Kind::make_room), 0, 0, -1, 0);
    }
    lines_ = channel_.first_line_ + channel_.lines_.position() * shm::line_size;
    if constexpr (!lines_only) {
      slots_ =
          channel_.first_slot_ + ring_->position() + (is_short ? 0 : channel_.short_slots_.size);
    }
    if constexpr (reaching) {
      reached_.announce(table_share() > 0 ? slots_ : nullptr);
      slots_ += table_share();
    }
    base_of_[0] = static_cast<std::byte*>(const_cast<void*>(operation_.in));
    base_of_[1] = static_cast<std::byte*>(operation_.out);
    base_of_[2] = slots_;
    base_of_[3] = lines_ + offsetof(shm::Line, payload);
    return Code::ok;
  }

  // The bytes of the slot that the table of places takes, if only owners know where their parts
  // are.
  [[gnu::always_inline]] size_t table_share() const {
    return reaching && has_parts && operation_.v_parts != nullptr
               ? plan::table_bytes(program_.ranks)
               : 0;
  }

  // A rank whose buffers others read directly must not return before they have read them.
  [[gnu::always_inline]] Code wait_for_readers() {
    if (!reached_.any_of_own()) return Code::ok;
    const int64_t last = geometry_.segments - 1;
    for (const BoundStep& step : bound_.returns) {
      const int64_t awaited = awaited_segment(StepKind::wait_return, last);
      if (const Code code = wait_word(step, number_in(awaited, step)); code != Code::ok)
        return code;
      if constexpr (traced)
        recorder_.step(static_cast<uint32_t>(step.kind), step.place, last, step.peer, 0);
    }
    return Code::ok;
  }

  [[gnu::always_inline]] void leave() {
    uint64_t next = base_ + start_.span;
    if constexpr (segmented)
      next = base_ + static_cast<uint64_t>(plan::span_of(program_, geometry_.segments));
    if constexpr (!lines_only) say_entered(own_, base_, operation_.call);
    if constexpr (has_messages) {
      if (!bound_.within_node) channel_.messages_base_ += next - base_;
    }
    channel_.end<yielding>(next);
    ring_->cursor += share_;
    // A rank that has entered this operation has ended all earlier ones.
    if (start_.knows_all) ring_->safe = begin_;
    if constexpr (traced) {
      const bool several = geometry_.segments > 1;
      trace::Recorder::What what{bound_.traced_as,
                                 channel_.communicator_,
                                 bound_.within_node
                                     ? first_epoch_within_node + channel_.epoch_within_node_++
                                     : channel_.epoch_++,
                                 operation_.bytes,
                                 several ? geometry_.segment_bytes : operation_.bytes,
                                 several ? static_cast<uint32_t>(geometry_.segments) : 1,
                                 several ? static_cast<uint32_t>(geometry_.positions) : 1,
                                 program_.root};
      if constexpr (has_parts)
        if (operation_.v_parts != nullptr && operation_.v_parts->agreement != nullptr)
          name_records(what, bound_, operation_);
      recorder_.exit(what);
    }
  }

  // The bytes of a part that the step moves in the segment that begins at `before`. If the caller
  // gives no lengths by item, every movement has a user's buffer at one end, which has the part's
  // length.
  [[gnu::always_inline]] size_t part_bytes(const BoundStep& step, size_t before,
                                           size_t bytes) const {
    if (operation_.v_parts == nullptr) return bytes;
    if constexpr (has_messages) {
      if (operation_.v_parts->by_item != nullptr) {
        const uint32_t item = bound_.details[step.details].extent_first;
        return plan::part_length(operation_.v_parts->by_item[item], before, bytes);
      }
    }
    constexpr auto first_shared = static_cast<uint32_t>(plan::Space::slot);
    const BoundOperand& user = step.operands[step.operands[0].space < first_shared ? 0 : 1];
    const bool is_in = user.space == static_cast<uint32_t>(plan::Space::in);
    const Parts& parts = is_in ? operation_.v_parts->in : operation_.v_parts->out;
    return plan::part_length(parts.bytes[user.block], before, bytes);
  }

  // Sets the bases of the operands to the segment, and returns the segment's bytes.
  [[gnu::always_inline]] size_t go_to(int64_t segment) {
    if constexpr (!segmented) return operation_.bytes;
    const size_t at = plan::segment_begin(segment, geometry_.segment_bytes);
    base_of_[0] = static_cast<std::byte*>(const_cast<void*>(operation_.in)) + at;
    base_of_[1] = static_cast<std::byte*>(operation_.out) + at;
    const int64_t position = plan::position_of(segment, geometry_.positions);
    base_of_[2] = slots_ + static_cast<size_t>(position) * geometry_.position_bytes;
    return plan::segment_length(at, geometry_.segment_bytes, operation_.bytes);
  }

  // Sets the bases in the same way, but returns the bytes that the step moves in the segment.
  [[gnu::always_inline]] size_t go_to(const BoundStep& step, int64_t segment) {
    size_t bytes = go_to(segment);
    if constexpr (segmented) {
      if constexpr (has_parts)
        return part_bytes(step, plan::segment_begin(segment, geometry_.segment_bytes), bytes);
    } else if constexpr (has_parts) {
      return part_bytes(step, 0, bytes);
    }
    if constexpr (!lines_only) {
      if (program_.blocks > 1) {
        const BoundDetails& details = bound_.details[step.details];
        bytes = plan::extent_length(details.extent_first, details.extent_count,
                                    geometry_.block_bytes, bytes);
      }
    }
    return bytes;
  }

  // Parts lie side by side, unless the operation says where; lines hold one block each.
  [[gnu::always_inline]] Offsets offsets() const {
    if constexpr (shape == Shape::lines) return {};
    if constexpr (has_parts) {
      return {operation_.bytes, geometry_.block_bytes, operation_.v_parts};
    }
    return {geometry_.block_bytes, geometry_.block_bytes};
  }

  [[gnu::always_inline]] std::byte* address(const BoundOperand& operand) const {
    std::byte* at = base_of_[operand.space] + operand.displacement();
    if constexpr (shape != Shape::lines) at += offsets().of(operand);
    return at;
  }

  // copy, reduce and reduce_any, and a stamp that is executed with one of them.
  [[gnu::always_inline]] Code move(const BoundStep& step, int64_t segment) {
    if constexpr (has_parts) {
      if (operation_.v_parts != nullptr && operation_.v_parts->agreement != nullptr) [[unlikely]] {
        moved(step, segment, move_record(step, operation_, base_of_, offsets()));
        return Code::ok;
      }
    }
    const size_t bytes = go_to(step, segment);
    if constexpr (arrivals) {
      // It waits even if it has no bytes, because its waits order more than its own data.
      if (step.kind == StepKind::reduce_any) {
        const Code code = reduce_any(step, segment, bytes);
        if (code == Code::ok) moved(step, segment, bytes);
        return code;
      }
    }
    if constexpr (shape == Shape::part_lines) {
      if (bytes == 0) {  // others may still wait for the line
        moved(step, segment, 0);
        return Code::ok;
      }
    } else if constexpr (!lines_only) {
      if (bytes == 0) return Code::ok;
    }
    if constexpr (reaching) {
      if (step.elidable && reached_.of_own(step.operands[1].space)) return Code::ok;
      if (step.elsewhere != BoundStep::nowhere) {
        const size_t at = plan::segment_begin(segment, geometry_.segment_bytes);
        const Code code = reached_.move(step, {base_of_, offsets(), at, bytes});
        if (code == Code::ok) moved(step, segment, bytes);
        return code;
      }
    }
    if (step.operand_count == 2) {
      copy(step, bytes);
    } else if (step.operand_count == 3 && operation_.combine->kernel != nullptr) [[likely]] {
      operation_.combine->kernel(
          address(step.operands[0]), address(step.operands[1]), address(step.operands[2]),
          shape == Shape::lines ? operation_.count : operation_.count_of(bytes));
    } else {
      combine_many(bound_, step, operation_, base_of_, offsets(), bytes);
    }
    moved(step, segment, bytes);
    return Code::ok;
  }

  [[gnu::always_inline]] void copy(const BoundStep& step, size_t bytes) {
    std::byte* const dst = address(step.operands[0]);
    const std::byte* const src = address(step.operands[1]);
    if (!lines_only && bytes >= SlotStores::least_bytes && step.operands[0].space == slot_space) {
      channel_.stores_.copy(dst, src, bytes);
    } else if (!lines_only && bytes >= SlotStores::least_bytes &&
               step.operands[1].space == slot_space) {
      kernels::copy_from_other(dst, src, bytes);
    } else if (src != dst) {
      kernels::copy(dst, src, bytes);
    }
  }

  [[gnu::always_inline]] Code reduce_any(const BoundStep& step, int64_t segment, size_t bytes) {
    const ArrivalReduce::ReducedSegment reduced{base_of_, lines_, offsets(), bytes,
                                                base_in(segment)};
    const ArrivalReduce::Record record{address_of(recorder_), segment};
    ArrivalReduce reduce(channel_, bound_, step, operation_, reduced, record);
    if constexpr (suspends) return reduce.run_if_arrived();
    return reduce.run();
  }

  [[gnu::always_inline]] void moved(const BoundStep& step, int64_t segment, size_t bytes) {
    record(step, step.kind, 0, segment, -1, bytes);
    if (step.then_stamp) {
      stamp(step);
      record(step, StepKind::stamp, 1, segment, -1, 0);
    }
  }

  // The step kinds that move nothing: waits, publish and stamp.
  [[gnu::always_inline]] Code hand_over(const BoundStep& step, int64_t segment) {
    if constexpr (has_messages) {
      if (plan::is_message(step.kind)) return message(step, segment);
    }
    uint64_t number = number_in(segment, step);
    if (step.kind == StepKind::wait_line) {
      if (const Code code = wait_line(step, number); code != Code::ok) return code;
    } else if (step.kind == StepKind::stamp) {
      stamp(step);
    } else if (step.kind == StepKind::publish) {
      say_entered(own_, base_, operation_.call);  // with the number, in one cache line
      shm::publish(own_.word, number);
      if constexpr (yielding) wake_sleepers(own_);
    } else {
      if (step.kind != StepKind::wait_word) {
        // Two kinds are left, so that the compiler need not ask for others.
        const bool reuse = step.kind == StepKind::wait_reuse;
        const int64_t awaited =
            awaited_segment(reuse ? StepKind::wait_reuse : StepKind::wait_before, segment);
        if (awaited < 0) return Code::ok;
        number = number_in(awaited, step);
      }
      if (const Code code = wait_word(step, number); code != Code::ok) return code;
    }
    record(step, step.kind, 0, segment, step.peer, 0);
    return Code::ok;
  }

  [[gnu::noinline]] Code message(const BoundStep& step, int64_t segment) {
    const size_t bytes = go_to(segment);
    const plan::Geometry* const geometry = lines_only ? nullptr : &geometry_;
    const size_t before = segmented ? plan::segment_begin(segment, geometry_.segment_bytes) : 0;
    const uint64_t number = channel_.messages_base_ + (base_in(segment) - base_);
    const MessageStep::MessageSegment carried{base_of_,  offsets(), geometry, bytes,   before,
                                              has_parts, segment,   number,   suspends};
    size_t moved = 0;
    const Code code = MessageStep(channel_, bound_, step, operation_, carried).run(moved);
    if (code == Code::ok) record(step, step.kind, 0, segment, -1, moved);
    return code;
  }

  // The number from which the offsets of steps count in a segment.
  [[gnu::always_inline]] uint64_t base_in(int64_t segment) const {
    if constexpr (!segmented) return base_;
    return base_ + static_cast<uint64_t>(plan::number_in(segment, 0, program_.transfers));
  }
  [[gnu::always_inline]] uint64_t number_in(int64_t segment, const BoundStep& step) const {
    return base_in(segment) + step.offset;
  }

  // Negative where the step waits for nothing.
  [[gnu::always_inline]] int64_t awaited_segment(StepKind kind, int64_t segment) const {
    const plan::Segments one;
    const plan::Segments cut{geometry_.segments, geometry_.positions};
    return plan::awaited_segment(kind, segment, segmented ? cut : one);
  }

  [[gnu::always_inline]] Code wait_line(const BoundStep& step, uint64_t number) {
    const auto& line = *reinterpret_cast<const shm::Line*>(lines_ + step.line * shm::line_size);
    if constexpr (suspends) {
      const Awaited awaited{&line.stamp, number, step.peer, &line};
      if (!awaited.here()) return channel_.suspend(awaited, operation_.call);
    }
    return channel_.expect(line, number, step.peer, operation_);
  }

  [[gnu::always_inline]] Code wait_word(const BoundStep& step, uint64_t number) {
    const shm::Control& peer = channel_.control(step.peer);
    if (shm::observe(peer.word) < number) [[unlikely]] {
      const Awaited awaited{&peer.word, number, step.peer, nullptr};
      if constexpr (suspends) return channel_.suspend(awaited, operation_.call);
      if (const Code code = channel_.wait_for(awaited, operation_); code != Code::ok) return code;
    }
    if (entered_other_call(peer, base_, operation_.call)) [[unlikely]]
      return channel_.fail_mismatch(step.peer, operation_);
    return Code::ok;
  }

  [[gnu::always_inline]] void stamp(const BoundStep& step) {
    channel_.post<yielding>(*reinterpret_cast<shm::Line*>(lines_ + step.line * shm::line_size),
                            number_in(0, step), operation_.call);
  }

  [[gnu::always_inline]] void record(const BoundStep& step, StepKind kind, uint32_t further,
                                     int64_t segment, int32_t peer, size_t bytes) {
    if constexpr (traced) {
      int32_t rank = peer;
      if constexpr (has_messages) {
        if (plan::is_message(kind))
          rank = bound_.messages[bound_.details[step.details].message].peer;
        else if (peer >= 0)
          rank = channel_.rank_of(peer);
      }
      recorder_.step(static_cast<uint32_t>(kind), step.place + further, segment, rank, bytes);
    }
  }

  Channel& channel_;
  const Start& start_;
  const BoundProgram& bound_;
  const plan::Program& program_;
  const Operation& operation_;
  shm::Control& own_;
  const uint64_t base_;
  std::byte* (&base_of_)[spaces];  // indexed by space
  Records& recorder_;
  std::conditional_t<reaching, Reached, Unreached> reached_;
  plan::Geometry geometry_{};
  Ring* ring_ = nullptr;        // the ring that the operation goes through
  uint64_t share_ = 0;          // the units that the operation takes of the ring
  uint64_t begin_ = 0;          // from this cursor on
  std::byte* lines_ = nullptr;  // rank 0's first line and slot of the operation
  std::byte* slots_ = nullptr;
  // The place at which advance() continues.
  bool has_entered_ = false;
  int64_t tick_ = 0;
  uint32_t next_ = 0;  // step
  uint64_t executed_ = 0;
};

}  // namespace tutti::exec
