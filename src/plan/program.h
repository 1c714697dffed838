// A program: what one rank executes for a plan, as a list of steps over operands. Programs are
// plain data and constant once lowered; any thread may read them.
//
// Numbers. The transfers of the staged plan are numbered 1 to `transfers` in plan order, the same
// at all ranks. In segment s, transfer i at stage t has the number (s + t) * transfers + i. Every
// rank executes in the order of these numbers: all transfers of a tick, then those of the next
// tick. Its word, minus the base of the operation, is the number that it published last. Every wait
// is for a smaller number than that of the transfer that it precedes, so the least unexecuted step
// can always run, and no rank waits for ever. A reduce_any waits for whichever of its sources comes
// first, and ends when it has taken all of them. semantics.h has the rule of each kind of step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/step_kinds.h"

namespace tutti::plan {

// The memory that holds the bytes of an operand: this rank's `in` or `out`, the slot of a rank, or
// a line of a rank.
enum class Space : uint8_t { in, out, slot, line };
inline constexpr std::array<std::string_view, 4> space_names = {"in", "out", "slot", "line"};
constexpr std::string_view name(Space space) { return space_names[static_cast<size_t>(space)]; }

struct Operand {
  Space space = Space::in;
  int32_t rank = 0;   // the owner of the slot or line; this rank for in and out
  int32_t line = 0;   // the number of the rank's line in this operation
  int32_t block = 0;  // the first block
  // True: the same bytes are in a user's buffer of `rank`, too. A reader that reaches this buffer
  // reads them there and bypasses the slot.
  bool bypassable = false;
  Space bypass_space = Space::in;
  int32_t bypass_block = 0;
  bool operator==(const Operand&) const = default;
};

// The event that makes a source of a reduce_any ready: the peer's word (in a program that uses
// lines, the stamp of its line) shows transfer `number` of this segment. A source without a peer is
// ready from the start.
struct Arrival {
  int32_t peer = -1;
  int32_t number = 0;        // 1-based
  int32_t number_stage = 0;  // stage of that transfer
  int32_t line = 0;          // the peer's line
  bool operator==(const Arrival&) const = default;
};

// A run of blocks that travels in a message, and where they are at this end.
struct Piece {
  Operand operand;
  int32_t extent_first = 0;  // as in Step
  int32_t extent_count = 1;
  bool operator==(const Piece&) const = default;
};

// One end of a copy between nodes; its two steps refer to it.
struct Message {
  int32_t peer = -1;   // the other end
  bool sends = false;  // true: this rank sends it; false: it receives
  // The sending transfer and its stage. With the segment they make the tag, the same at both ends.
  int32_t number = 0;
  int32_t number_stage = 0;
  // The transfer by which the receiver posts it, and its stage: the message can end only after it.
  int32_t posted = 0;
  int32_t posted_stage = 0;
  int32_t first_piece = 0;  // in Program::pieces
  int32_t piece_count = 0;  // 0: the message carries no data
  // Segment s uses request first_request + s modulo in_flight, of Program::requests.
  int32_t first_request = 0;
  int32_t in_flight = 1;  // how many segments may be under way at once
  bool operator==(const Message&) const = default;
};

struct Step {
  StepKind kind = StepKind::copy;
  int32_t stage = 0;         // the stage of the transfer that this step serves
  int32_t number = 0;        // the transfer waited for, moved, published or stamped (from 1)
  int32_t number_stage = 0;  // the stage of that transfer
  // The members below have a meaning in steps of some forms only (step_kinds.h).
  int32_t peer = -1;
  int32_t line = 0;
  int32_t first_operand = 0;  // in Program::operands, the destination first
  int32_t operand_count = 0;
  int32_t first_arrival = 0;  // in Program::arrivals, in the order of the sources
  // The items (Definition) whose lengths the movement has. The items of a vector are its blocks;
  // the last may be short, and all may be empty. If buffers have parts, these are items; each may
  // be empty.
  int32_t extent_first = 0;
  int32_t extent_count = 1;
  // A copy into the slot, which its owner leaves out if the readers reach its source.
  bool elidable = false;
  int32_t message = -1;  // in Program::messages
  bool operator==(const Step&) const = default;
};

struct Program {
  // The members that the executor reads in each operation come first, in one cache line.
  Collective collective{};
  int32_t ranks = 1;
  int32_t rank = 0;
  int32_t root = 0;
  int32_t blocks = 1;     // the blocks of a vector; 1 if buffers have parts
  int32_t transfers = 0;  // the transfers of the staged plan: the distance of numbers between ticks
  int32_t stages = 1;     // largest stage + 1
  int32_t requests = 0;   // how many messages may be under way at once
  int32_t message_blocks = 0;  // blocks of the largest message of all ranks
  int32_t slot_blocks = 0;     // blocks of a ring position of a slot, the most of all ranks
  int32_t lines = 0;           // lines that a rank stamps in an operation, the most of all ranks
  // The fewest ring positions with which every wait_reuse is for a smaller number.
  int32_t min_positions = 1;
  bool parted = false;  // the blocks of user buffers are parts, whose length is the operation's
  bool uses_lines = false;
  bool writes_shared = false;  // this rank writes a slot or a line
  // When the program ends at this rank, every rank of its node has entered the operation.
  bool knows_all = false;
  bool in_place = true;              // Verdict::in_place
  bool has_elidable_copies = false;  // at any rank
  // This rank's elidable copies may be left out also if its `in` and `out` are one buffer.
  bool elides_in_place = false;
  int32_t last_segment = 0;  // as in Plan
  std::string algorithm;
  std::vector<Step> steps;
  std::vector<Operand> operands;
  std::vector<Arrival> arrivals;
  std::vector<Message> messages;
  std::vector<Piece> pieces;
  bool operator==(const Program&) const = default;
};

// The program as text for people, one line for each step.
std::string print(const Program& program);

}  // namespace tutti::plan
