// A program that is bound to a channel: every place is an address or a displacement, so that the
// loop only adds. Channel::bind makes it for that channel alone, and it never changes. The
// executor adds the offsets of segments and parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "exec/operation.h"
#include "plan/program.h"
#include "shm/layout.h"

namespace tutti::exec {

class Channel;

// Most of the memory that a call reads are steps, so steps are small: they count places in shared
// memory in lines (shm::line_size), and fields that few steps need lie elsewhere.
struct BoundOperand {
  uint32_t lines = 0;  // from the base of the space
  uint32_t block : 24 = 0;
  uint8_t space = 0;  // plan::Space; a byte of its own, which takes one instruction to read

  static constexpr uint32_t most_blocks = (1 << 24) - 1;
  size_t displacement() const { return static_cast<size_t>(lines) * shm::line_size; }
  bool operator==(const BoundOperand&) const = default;
};
static_assert(sizeof(BoundOperand) == 8 && plan::max_blocks <= BoundOperand::most_blocks);
struct alignas(64) BoundStep {
  plan::StepKind kind;
  // A stamp follows and is executed with this step; `line` and `offset` are the stamp's.
  bool then_stamp;
  bool elidable;  // plan::Step::elidable
  uint16_t operand_count;
  int32_t stage;
  int32_t peer;
  uint64_t offset;           // plan::first_number of the transfer of a wait, publish or stamp
  BoundOperand operands[3];  // the first three: all of them for a copy and a reduce of two sources
  uint32_t line;  // for wait_line and stamp: from rank 0's first one of the operation, in lines
  uint32_t elsewhere;  // where its operands start in BoundProgram::elsewhere, or `nowhere`
  uint32_t details;    // its index in BoundProgram::details
  uint32_t place;      // the step's place in the program, for traces
  static constexpr uint32_t nowhere = UINT32_MAX;  // no operand has a second place
};
static_assert(sizeof(BoundStep) == 64, "one cache line");
struct BoundDetails {
  uint32_t more_operands;  // where the other sources start in BoundProgram::operands
  uint32_t first_arrival;  // a reduce_any's first arrival in BoundProgram::arrivals
  uint32_t extent_first;   // as in plan::Step
  uint32_t extent_count;
  uint32_t message;  // the index in BoundProgram::messages of a post, send, receive or sent
};
// A second place of an operand's bytes: a buffer of the user of `rank`.
struct Elsewhere {
  int32_t rank = -1;     // -1: nowhere
  BoundOperand operand;  // a block of `in` or `out`; it is given by its number alone
};
// The hand-over that makes a source of a reduce_any ready.
struct BoundArrival {
  int32_t peer = -1;    // -1: ready from the start
  uint64_t offset = 0;  // as BoundStep::offset
  uint32_t line = 0;    // as BoundStep::line, in programs that use lines
};
// One end of a copy between nodes (plan::Message), and the places of the data that it carries.
struct BoundPiece {
  BoundOperand operand;
  uint32_t extent_first = 0, extent_count = 1;
};
struct BoundMessage {
  int32_t peer = -1;    // a rank of the group
  uint64_t offset = 0;  // as BoundStep::offset: of its tag
  uint64_t posted = 0;  // the same of the transfer that posts it at the receiver
  uint32_t first_piece = 0, piece_count = 0;
  uint32_t first_request = 0, in_flight = 1;
};
// A program of lines in which this rank posts its data, waits for one other, and combines both or
// has no result: the allreduce and the barrier of two ranks. exchange.cpp finds it and runs it.
struct Exchange {
  uint32_t own_line = 0, their_line = 0;  // as BoundStep::line
  uint32_t posted = 0, awaited = 0;       // as BoundStep::offset
  int32_t peer = -1;                      // -1: the program is no exchange
  bool combines = false;
  bool theirs_first = false;  // in the order of combining
};
struct BoundProgram;
// All that a run of a bound program reads besides its steps. A table of calls keeps a copy beside
// each call, so that a call whose data has left the caches waits for memory once, and not for one
// pointer after another. Its pointers are valid as long as the BoundProgram lives.
struct Start {
  // The loop, compiled for what the program needs.
  Code (*run)(Channel&, const Start&, const Operation&) = nullptr;
  const BoundProgram* bound = nullptr;
  const plan::Program* program = nullptr;
  const BoundStep* steps = nullptr;
  uint32_t step_count = 0;
  uint32_t lines = 0;  // plan::Program::lines
  uint64_t span = 0;   // the span of one segment
  Exchange exchange;
  bool knows_all = false;  // plan::Program::knows_all
  // The rank waits for a line of every other rank's own, so it notices by the lines alone if any
  // makes another call.
  bool hears_all = false;
};
struct BoundProgram {
  BoundProgram() = default;
  BoundProgram(const BoundProgram&) = delete;  // `start` points here

  Start start;
  std::vector<BoundStep> steps;
  std::shared_ptr<const plan::Program> program;
  // Bytes from which readers may bypass slots, the same at all ranks; SIZE_MAX: never.
  size_t reach_from = SIZE_MAX;
  // Bytes from which they use the system's copies for buffers that they have not mapped.
  size_t cma_from = SIZE_MAX;

  std::vector<BoundDetails> details;
  std::vector<BoundOperand> operands;
  std::vector<BoundArrival> arrivals;
  std::vector<Elsewhere> elsewhere;  // indexed by operand of the steps that read elidable copies
  std::vector<BoundMessage> messages;
  std::vector<BoundPiece> pieces;
  bool within_node = false;        // the ranks of a node run it among themselves
  std::vector<BoundStep> returns;  // the wait_return steps, which are in no other list
  uint32_t traced_as = 0;          // the program's number in a trace, if one is recorded
  uint32_t traced_as_gather = 0;   // the number of an allgather's program for gathers of records
};

// The offsets of blocks in their buffers: blocks lie at equal distances, or where a v-collective's
// arguments say.
struct Offsets {
  size_t user = 0;
  size_t slot = 0;
  const VParts* v_parts = nullptr;

  ptrdiff_t of(const BoundOperand& operand) const {
    if (operand.space >= static_cast<uint32_t>(plan::Space::slot))
      return static_cast<ptrdiff_t>(operand.block * slot);
    if (v_parts == nullptr) return static_cast<ptrdiff_t>(operand.block * user);
    const bool is_in = operand.space == static_cast<uint32_t>(plan::Space::in);
    return (is_in ? v_parts->in : v_parts->out).at[operand.block];
  }
};

}  // namespace tutti::exec
