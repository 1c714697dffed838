// A program: what one rank executes for a plan. Flat steps over operands; plain data, immutable
// once lowered.
//
// Numbers. The transfers of the staged plan are numbered 1..transfers in plan order, the same at
// all ranks. Segment s of transfer i at stage t has number (s + t) * transfers + i: every rank
// executes in the order of these numbers (all transfers of a tick, then the next tick), and its
// progress word, less the base of the operation, is the number of the last published one. Every
// wait is for a smaller number than that of the transfer it precedes, so the least unexecuted step
// can always run and nothing deadlocks. A reduce_any does not wait for its sources one after
// another but for whichever comes first; it ends when it has taken all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace tutti::plan {

enum class StepKind : uint8_t {
  wait_word,    // until the word of `peer` shows transfer `number` of this segment
  wait_line,    // until line `line` of `peer` bears the stamp of transfer `number`
  wait_reuse,   // until the word of `peer` shows transfer `number` of the segment that used this
                // ring position before
  copy,         // operands: dst, src
  reduce,       // operands: dst, src, src, ...
  reduce_any,   // likewise, each source as soon as its arrival is there
  publish,      // word = number of this segment
  stamp,        // line `line` of this rank bears transfer `number`
  wait_return,  // as wait_word in the last segment, where others read this rank's own buffers
  wait_before,  // until the word of `peer` shows transfer `number` of the segment before this one
  post,         // message `message` may come: its place here is free
  send,         // it goes
  receive,      // until it has come
  sent,         // until its source may be written again
};

// The one table of step kinds: printers, checkers and tracers take names, operands and meaning from
// it.
struct StepKindInfo {
  StepKind kind;
  std::string_view name;
  std::string_view operands;
  std::string_view meaning;
};
const std::vector<StepKindInfo>& step_kinds();

// Steps that wait for a peer, and do nothing else.
inline bool is_wait(StepKind kind) {
  return kind == StepKind::wait_word || kind == StepKind::wait_line ||
         kind == StepKind::wait_reuse || kind == StepKind::wait_return ||
         kind == StepKind::wait_before;
}

inline bool is_message(StepKind kind) { return kind >= StepKind::post && kind <= StepKind::sent; }

// Where the bytes of an operand are: the base of its space, plus `line` or slot of `rank`, plus the
// block's offset.
enum class Space : uint8_t { in, out, slot, line };

struct Operand {
  Space space = Space::in;
  int32_t rank = 0;   // whose slot or line; this rank's own for in and out
  int32_t line = 0;   // which of the rank's lines in this operation
  int32_t block = 0;  // the first block; all blocks of a vector, all parts and all blocks of tmp
                      // start a size apart
  // The same bytes are in a buffer of this rank's user, too: a reader that reaches it takes them
  // from there.
  bool bypassable = false;
  Space bypass_space = Space::in;
  int32_t bypass_block = 0;
};

// What makes a source of a reduce_any ready: the peer's word (in a program that uses lines: its
// line's stamp) shows transfer `number` of this segment. A source without a peer is ready from the
// start.
struct Arrival {
  int32_t peer = -1;
  int32_t number = 0;        // 1-based
  int32_t number_stage = 0;  // stage of that transfer
  int32_t line = 0;          // of the peer
};

// A run of blocks that goes in a message, where it lies at this end.
struct Piece {
  Operand operand;
  int32_t extent_first = 0;  // as in Step
  int32_t extent_count = 1;
};

// One end of a copy between nodes: what its steps refer to.
struct Message {
  int32_t peer = -1;   // the other end
  bool sends = false;  // this rank sends it; else it receives
  int32_t number =
      0;  // of the sending transfer, and its stage: with the segment the message's tag at both ends
  int32_t number_stage = 0;
  int32_t first_piece = 0;  // in Program::pieces; none: it carries no data
  int32_t piece_count = 0;
  int32_t first_request =
      0;  // among Program::requests; segment s uses the one behind it at s modulo `in_flight`
  int32_t in_flight = 1;  // segments that may be under way at once
};

struct Step {
  StepKind kind = StepKind::copy;
  int32_t stage = 0;          // of the transfer that this step serves
  int32_t number = 0;         // of the transfer waited for, moved, published or stamped (1-based)
  int32_t number_stage = 0;   // stage of that transfer
  int32_t peer = -1;          // of waits
  int32_t line = 0;           // of wait_line and stamp
  int32_t first_operand = 0;  // of copy, reduce and reduce_any
  int32_t operand_count = 0;
  int32_t first_arrival = 0;  // of reduce_any: one arrival a source, in the order of the sources
  // The blocks of the user's vector whose lengths this movement has (the last may be short, or all
  // empty).
  int32_t extent_first = 0;
  int32_t extent_count = 1;
  bool elidable = false;  // a copy into the slot that is left out where others reach its source
  int32_t message = -1;   // of post, send, receive and sent: which of Program::messages
};

struct Program {
  // What the executor reads of it in each operation comes first: one cache line.
  Collective collective = Collective::barrier;
  int32_t ranks = 1;
  int32_t rank = 0;
  int32_t root = 0;
  int32_t blocks = 1;          // into which a vector is cut; 1 where buffers have parts
  int32_t transfers = 0;       // of the staged plan: the distance of numbers between ticks
  int32_t stages = 1;          // largest stage + 1
  int32_t requests = 0;        // messages that may be under way at once
  int32_t message_blocks = 0;  // blocks of a message (the largest of all ranks)
  int32_t slot_blocks = 0;     // blocks of a ring position of a slot (the largest of all ranks)
  int32_t lines = 0;           // lines that a rank posts in an operation (the largest of all ranks)
  int32_t min_positions =
      1;                // ring positions needed so that every reuse wait is for a smaller number
  bool parted = false;  // blocks of user buffers are parts, each as long as the operation says
  bool uses_lines = false;
  bool writes_shared = false;  // this rank writes a slot or a line in it
  bool knows_all = false;  // its end implies, at this rank, that every rank of its node has entered
                           // the operation
  bool in_place = true;    // Verdict::in_place
  bool has_elidable_copies = false;  // of any rank
  bool elides_in_place = false;  // this rank's offers hold where its `in` and `out` are one buffer
  std::string algorithm;
  std::vector<Step> steps;
  std::vector<Operand> operands;
  std::vector<Arrival> arrivals;
  std::vector<Message> messages;
  std::vector<Piece> pieces;

  // The numbers that an operation of this many segments takes from every rank's word.
  int64_t span(int64_t segments) const { return (segments + stages - 1) * transfers + 1; }
};

// One step a line, for people.
std::string print(const Program& program);

}  // namespace tutti::plan
