// Lowering: from a checked plan to one small program for each rank, in three passes.
//
//   stage    leads every access of a rank to another rank's `in` or `out` through `tmp` (staged
//            reach): the owner copies into its slot, and the reader reads the slot. A copy from one
//            node to another becomes a message: four transfers post, send, receive and end it. A
//            reduce's source on another node is brought into `tmp` first. A message is posted as
//            early as its destination is free, and ends when its source is to be overwritten, or
//            last. schedule() gives transfers their stages and sorts them by stage.
//   depend   finds, for every transfer, the transfers of other ranks that must have run before it:
//            those that touch a common block, one of the two writing it, and that no other wait
//            implies. In a large plan on one node, a rank looks at its slice alone (slice.h).
//   lower    writes one rank's program: waits, movements of data, and a publication wherever
//            another rank waits.
//
// All of it is deterministic and the same at all ranks. Pure; any thread may call it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lists.h"
#include "plan/plan.h"
#include "plan/program.h"

namespace tutti::plan {

// The user's buffers of a rank: they may be one, or are two. If no rank does, a message may arrive
// in `out` while another leaves from the block of `in` that would be the same memory.
enum class Buffers : uint8_t { maybe_one, two };

// The plan in which no rank touches another's user buffers, sorted by stage. The index of a
// transfer in it, plus 1, is the transfer's number in all ranks' programs.
Plan stage(Plan plan, const placement::Nodes& nodes = {}, Buffers buffers = Buffers::maybe_one);

// Gives every transfer its stage (the longest chain of hand-overs between ranks that leads to it,
// or the explicit one) and sorts by it, keeping the order within a stage.
void schedule(Plan& plan, Buffers buffers = Buffers::maybe_one);

// The means by which data goes from rank to rank.
enum class Carrier : uint8_t {
  line,  // each written region of `tmp` has a stamped line of its own, of at most line_payload
         // bytes; there is one segment
  slot,  // data is in the rings of the slots, and words announce it
};

// True where lines can serve the plan: every region is one block, a whole vector or a part, and no
// rank writes more than `lines` blocks of `tmp`.
bool lines_serve(const Plan& staged, int32_t lines = INT32_MAX);

// Copies into slots that their owners may leave out, because readers that reach the user's blocks
// bypass the slots (elidable_copies.h).
struct ElidableCopies {
  std::vector<bool> copies;  // indexed by transfer
  // Indexed by rank: its elidable copies may be left out also where its `in` and `out` are one
  // buffer.
  std::vector<bool> in_place;
  // Indexed by rank: the transfers of others that must have run before it returns, in plan order.
  std::vector<std::vector<int32_t>> returns;
  bool any = false;
};

struct Dependences {
  // Indexed by transfer: the earlier transfers by other ranks that its executor must wait for.
  Lists waits;
  // Indexed by transfer in any order and by source: the transfer that must have run before this
  // source may be read, beside `waits`; -1: none. Empty for other transfers.
  Lists arrivals;
  // Indexed by token: the transfers of the segment before that its executor must wait for, one for
  // each rank that has no transfer before the token in its own segment. Empty for other transfers.
  Lists segment_before;
  // Indexed by rank: its waits imply that every rank has executed a transfer, and so has entered
  // the operation.
  std::vector<bool> knows_all;
  ElidableCopies elidable;  // empty where lines carry the data
};

// Finds the dependences of a scheduled plan. Lines are not overwritten within an operation, so
// there only true dependences count. A wait may be left out if others imply it. In a large plan on
// one node, only other waits for the same rank count for that (pairs_decide).
Dependences depend(const Plan& staged, Carrier carrier);
Dependences depend(const Plan& staged, Carrier carrier, bool pairs);
inline constexpr size_t most_clocked_uses = 256;
// True for a plan on one node, without tokens, whose transfers read and write more blocks.
bool pairs_decide(const Plan& staged);

Program lower(const Plan& staged, const Dependences& dependences, int32_t rank, Carrier carrier);
// The programs of several ranks, each named once, in one walk over the plan.
std::vector<Program> lower(const Plan& staged, const Dependences& dependences,
                           const std::vector<int32_t>& ranks, Carrier carrier);

// The program of one rank of a scheduled plan. It is the one that lower() of depend() makes. Where
// pairs decide, this walks over the whole plan twice, to find the rank's slice (slice.h), and works
// on the slice alone after that.
Program program_of(const Plan& staged, int32_t rank, Carrier carrier);

// All of the above for one rank.
Program lower(const Plan& plan, int32_t rank, Carrier carrier, const placement::Nodes& nodes = {});

}  // namespace tutti::plan
