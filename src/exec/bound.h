// A program bound to a channel: every name of a place resolved, so that the loop only adds. Made by Channel::bind, immutable,
// and good for that channel alone; where it has several segments or parts, the executor adds their offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "exec/operation.h"
#include "plan/program.h"

namespace tutti::exec {

class Channel;

// A program with its addresses resolved for one channel.
struct BoundOperand {
  ptrdiff_t displacement = 0;  // from the base of the space
  uint32_t block = 0;
  uint32_t space = 0;          // plan::Space
};
struct BoundStep {
  plan::StepKind kind;
  int32_t stage;
  int32_t peer;
  uint16_t operand_count;
  bool then_stamp;             // a stamp step follows and is done with this one: `line` and `offset` are the stamp's
  bool offer;                  // plan::Step::offer
  uint64_t offset;             // stage * transfers + number of what is waited for, published or stamped
  ptrdiff_t line;              // displacement of the line, for wait_line and stamp
  BoundOperand operands[3];    // the first three: all of them for a copy and a reduce of two sources
  uint32_t more_operands;      // where the other sources start in BoundProgram::operands
  uint32_t first_arrival;      // of a reduce_any, in BoundProgram::arrivals
  uint32_t extent_first;
  uint32_t extent_count;
  uint32_t elsewhere;          // where its operands start in BoundProgram::elsewhere; `nowhere` where none is an offer's
  uint32_t message;            // of post, send, receive and sent: which of BoundProgram::messages
  static constexpr uint32_t nowhere = UINT32_MAX;
};
// Where the bytes of an operand are, too: in a buffer of the user of `rank`.
struct Elsewhere {
  int32_t rank = -1;           // -1: nowhere
  uint32_t space = 0;          // plan::Space::in or out
  uint32_t block = 0;
};
// What makes a source of a reduce_any ready.
struct BoundArrival {
  int32_t peer = -1;           // -1: ready from the start
  uint64_t offset = 0;         // as BoundStep::offset
  ptrdiff_t line = 0;          // displacement of the line, in programs that use lines
};
// One end of a copy between nodes (plan::Message), and where what it carries lies.
struct BoundPiece {
  BoundOperand operand;
  uint32_t extent_first = 0, extent_count = 1;
};
struct BoundMessage {
  int32_t peer = -1;           // a rank of the group
  uint64_t offset = 0;         // as BoundStep::offset: of its tag
  uint32_t first_piece = 0, piece_count = 0;
  uint32_t first_request = 0, in_flight = 1;
};
// A program of lines in which this rank posts its data, waits for one other, and combines both or has no result: the
// allreduce and the barrier of two ranks. exchange.cpp finds it and runs it.
struct Exchange {
  ptrdiff_t own_line = 0, their_line = 0;  // displacements
  uint64_t posted = 0, awaited = 0;        // as BoundStep::offset
  int32_t peer = -1;
  uint32_t lines = 0;                      // of the operation; 0: the program is none
  bool combines = false;
  bool theirs_first = false;               // in the order of combining
};
struct alignas(64) BoundProgram {
  // One cache line is all that an Exchange needs, the next one what the loop needs besides its steps.
  Code (*run)(Channel&, const BoundProgram&, const Operation&) = nullptr;  // the loop, compiled for what this needs
  uint64_t span = 0;           // of one segment
  Exchange exchange;
  std::vector<BoundStep> steps;
  std::shared_ptr<const plan::Program> program;
  size_t reach_from = SIZE_MAX;  // bytes from which readers may bypass slots, the same at all ranks; SIZE_MAX: never
  size_t cma_from = SIZE_MAX;    // and do so by the system's copies, where they have not mapped the buffer

  std::vector<BoundOperand> operands;
  std::vector<BoundArrival> arrivals;
  std::vector<Elsewhere> elsewhere;    // by operand of the steps that read offers
  std::vector<BoundMessage> messages;
  std::vector<BoundPiece> pieces;
  std::vector<BoundStep> returns;      // the wait_return steps, which are in no other list
  // Where a trace is recorded: the program's number in it, and by step of this program the place in `program`.
  uint32_t traced_as = 0;
  uint32_t traced_as_gather = 0;  // of an allgather, by which the records of a gather go
  std::vector<uint32_t> places;
};

// Where blocks are from the start of their buffers: a distance apart, or where a ragged operation says.
struct Offsets {
  size_t user = 0;
  size_t slot = 0;
  const Ragged* ragged = nullptr;

  ptrdiff_t of(const BoundOperand& operand) const {
    if (operand.space >= static_cast<uint32_t>(plan::Space::slot)) return static_cast<ptrdiff_t>(operand.block * slot);
    if (ragged == nullptr) return static_cast<ptrdiff_t>(operand.block * user);
    const bool is_in = operand.space == static_cast<uint32_t>(plan::Space::in);
    return (is_in ? ragged->in : ragged->out).at[operand.block];
  }
};

}  // namespace tutti::exec
