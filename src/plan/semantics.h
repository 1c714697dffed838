// The rules of a program's steps, written once: for which segment a step runs, which number of whom
// it waits for, which number it publishes, and where the bytes of its operands are.
//
// The executor, the simulation and the header of a trace use them. Numbers are those of program.h,
// without the base of the operation, which the caller adds. The executor has steps of its own form
// (exec/bound.h), so the rules are functions of single members; those of a whole step are made of
// them. Pure, and inline because the executor's loop uses them; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "plan/program.h"

namespace tutti::plan {

// Segment s of a step at stage t runs at tick s + t.
constexpr int64_t ticks_of(int64_t segments, int64_t stages) { return segments + stages - 1; }
constexpr int64_t segment_at(int64_t tick, int64_t stage) { return tick - stage; }

// The number of a transfer in segment 0. Each further segment adds `transfers`, the distance of
// numbers between ticks.
constexpr int64_t first_number(int64_t transfers, int64_t stage, int64_t transfer) {
  return stage * transfers + transfer;
}
constexpr int64_t number_in(int64_t segment, int64_t first_number, int64_t transfers) {
  return first_number + segment * transfers;
}

// How many numbers an operation of `segments` segments takes. Its base plus this is the next base.
constexpr int64_t span_of(const Program& program, int64_t segments) {
  return ticks_of(segments, program.stages) * program.transfers + 1;
}

// The distance from the present segment back to the segment whose transfer a wait is for: a number
// of segments plus a number of rounds of the ring.
struct SegmentsBack {
  int64_t segments = 0;
  int64_t rounds = 0;  // each of as many segments as the operation has ring positions

  constexpr int64_t count(int64_t positions) const { return segments + rounds * positions; }
  constexpr bool operator==(const SegmentsBack&) const = default;
};
constexpr SegmentsBack segments_back(StepKind kind) {
  switch (kind) {
    case StepKind::wait_reuse: return {.rounds = 1};
    case StepKind::wait_before: return {.segments = 1};
    default: return {};
  }
}

// How many segments an operation has, and how many ring positions they take in turn.
struct Segments {
  int64_t count = 1;
  int64_t positions = 1;
};

// The segment whose transfer a wait is for when its step runs for `segment`; negative if it waits
// for nothing, because there is no earlier segment, or because it waits in the last segment only.
constexpr int64_t awaited_segment(StepKind kind, int64_t segment, const Segments& segments) {
  if (kind == StepKind::wait_return && segment != segments.count - 1) return -1;
  return segment - segments_back(kind).count(segments.positions);
}

// The rank whose word (or line, if the step's form is peer_line) must show a number, and the
// number.
struct AwaitedNumber {
  int32_t peer = -1;
  int64_t number = 0;
};
// Nothing if the step does not wait for a number in this segment.
constexpr std::optional<AwaitedNumber> awaited_number(const Program& program, const Step& step,
                                                      int64_t segment, const Segments& segments) {
  const int64_t awaited = awaited_segment(step.kind, segment, segments);
  if (!is_wait(step.kind) || awaited < 0) return std::nullopt;
  const int64_t first = first_number(program.transfers, step.number_stage, step.number);
  return AwaitedNumber{step.peer, number_in(awaited, first, program.transfers)};
}

// The number of the transfer that a step moves, publishes or stamps.
constexpr int64_t own_number(const Program& program, const Step& step, int64_t segment) {
  return number_in(segment, first_number(program.transfers, step.number_stage, step.number),
                   program.transfers);
}

// The number that makes a source of a reduce_any ready; nothing if it is ready from the start.
constexpr std::optional<AwaitedNumber> awaited_number(const Program& program,
                                                      const Arrival& arrival, int64_t segment) {
  if (arrival.peer < 0) return std::nullopt;
  const int64_t first = first_number(program.transfers, arrival.number_stage, arrival.number);
  return AwaitedNumber{arrival.peer, number_in(segment, first, program.transfers)};
}

// The number of a message's send: its tag at both ends.
constexpr int64_t tag_of(const Program& program, const Message& message, int64_t segment) {
  return number_in(segment, first_number(program.transfers, message.number_stage, message.number),
                   program.transfers);
}

// A long message, which waits for its receiver's consent, begins when it and the earlier ones of
// its rank that are under way have at most so many bytes together, or when none of these is under
// way. So many bytes keep a link of 3 GB/s busy for 0.3 ms, and one of 2 Gbit/s for 4 ms, which is
// more than their consents take.
inline constexpr size_t most_leaving = 1024 * 1024;
// The number of the transfer that posts a message at its receiver.
constexpr int64_t posted_number(const Program& program, const Message& message, int64_t segment) {
  return number_in(segment, first_number(program.transfers, message.posted_stage, message.posted),
                   program.transfers);
}

// The rank for which a step waits, or with which it exchanges a message; -1: none.
constexpr int32_t peer_of(const Program& program, const Step& step) {
  return is_message(step.kind) ? program.messages[static_cast<size_t>(step.message)].peer
                               : step.peer;
}

// The ring position of a segment, among those that the operation takes.
constexpr int64_t position_of(int64_t segment, int64_t positions) { return segment % positions; }

// Bytes of a user's vector (or part) that lie before a segment, and those of the segment itself.
constexpr size_t segment_begin(int64_t segment, size_t segment_bytes) {
  return static_cast<size_t>(segment) * segment_bytes;
}
constexpr size_t segment_length(size_t begin, size_t segment_bytes, size_t bytes) {
  return std::min(segment_bytes, bytes - begin);
}

// The bytes of `count` blocks from block `first` on, if `bytes` bytes are cut into blocks that
// start block_bytes apart. The last blocks may be short, or empty.
constexpr size_t extent_length(size_t first, size_t count, size_t block_bytes, size_t bytes) {
  const size_t begin = std::min(first * block_bytes, bytes);
  const size_t end = std::min((first + count) * block_bytes, bytes);
  return end - begin;
}

// The bytes that a part of `length` bytes has in the segment that begins at `begin` and has `bytes`
// in the longest part.
constexpr size_t part_length(size_t length, size_t begin, size_t bytes) {
  return length <= begin ? 0 : std::min(bytes, length - begin);
}

}  // namespace tutti::plan
