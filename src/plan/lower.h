// Lowering: from a checked plan to one small program for each rank.
//
//   stage      every access of a rank to another's `in` or `out` is led through `tmp` (staged
//   reach): the owner copies
//              into its slot, the reader reads the slot. What another node has comes as a message:
//              a copy of one node's region into another's (a reduce's source into `tmp`) becomes
//              four transfers, which post, send, receive and end it. A message is posted as early
//              as its place is free and ends when its source is overwritten, or last. `schedule`
//              gives transfers their stages and sorts them.
//   depend     for every transfer, the transfers of other ranks that must have run before it: those
//   that conflict
//              (they touch a common block and one of them writes it) and are not implied by another
//              wait.
//   lower      one rank's program: waits, data movement, and a publish where somebody waits.
//
// All of it is deterministic and the same at all ranks. Pure; safe to call from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "plan/program.h"

namespace tutti::plan {

// A plan in which no rank touches another's user buffers, sorted by stage. Its transfers' numbers
// (index + 1) are the numbers of the steps in all ranks' programs.
Plan stage(const Plan& plan, const placement::Nodes& nodes = {});

// Gives every transfer its stage (the longest chain of hand-overs between ranks that leads to it,
// or the explicit one) and sorts by it, keeping the order within a stage.
void schedule(Plan& plan);

// How hand-overs travel.
enum class Carrier : uint8_t {
  line,  // each written region of `tmp` in a stamped line of its own: at most line_payload bytes,
         // one segment
  slot,  // data in the slots' rings, announced by progress words
};

// True where lines can serve the plan: they need single-block regions, of whole vectors or parts.
bool lines_serve(const Plan& staged);

// Copies into slots that readers can pass by where they reach the user's blocks themselves
// (elidable_copies.h).
struct ElidableCopies {
  std::vector<bool> copies;    // by transfer
  std::vector<bool> in_place;  // by rank: its elidable copies may be left out where its `in` and
                               // `out` are one buffer
  // By rank: the transfers of others, in plan order, that it must know to have been executed before
  // it returns.
  std::vector<std::vector<int32_t>> returns;
  bool any = false;
};

struct Dependences {
  // For each transfer, the indices of the earlier transfers by other ranks that its executor must
  // wait for.
  std::vector<std::vector<int32_t>> waits;
  // For each transfer in any order, by source: the transfer that must have run before this source
  // may be read, beside `waits`; -1 where there is none. Empty for others.
  std::vector<std::vector<int32_t>> arrivals;
  // For each token, the transfers of the segment before that its executor must wait for: of those
  // ranks that have nothing before it in its own segment. Empty for others.
  std::vector<std::vector<int32_t>> segment_before;
  // By rank: what it waited for implies that every rank has executed something, so has entered the
  // operation.
  std::vector<bool> knows_all;
  ElidableCopies elidable;  // of programs over slots; empty for lines
};

// Of a scheduled plan. With lines nothing is overwritten within an operation, so only true
// dependences count.
Dependences depend(const Plan& staged, Carrier carrier);

Program lower(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier);
// Of several ranks, each named once, in one walk over the plan.
std::vector<Program> lower(const Plan& staged, const Dependences& dependences,
                           const std::vector<int32_t>& ranks, Carrier carrier);

// All of the above for one rank.
Program lower(const Plan& plan, int32_t rank, Carrier carrier, const placement::Nodes& nodes = {});

}  // namespace tutti::plan
