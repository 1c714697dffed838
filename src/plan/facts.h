// Facts about the transfers of a staged plan, gathered before any rank's program is written.
// Internal to src/plan.
//
// One lowering owns them; they do not depend on which ranks' programs it writes. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lower.h"
#include "plan/slice.h"

namespace tutti::plan {

// False for the post of a message, which writes nothing yet.
inline bool writes_tmp(const Transfer& transfer) {
  return transfer.dst.buffer == Buffer::tmp && transfer.dst.count > 0 && transfer.writes() &&
         transfer.kind != TransferKind::post;
}

// The item that a block of a user's buffer holds (Definition). Blocks of one item have one length.
inline int32_t item_of(const Plan& plan, const Region& region, int32_t block) {
  const Definition definition = plan.definition();
  // A plan moves every item, so the items that it names are fewer than max_moves.
  return static_cast<int32_t>(region.buffer == Buffer::in
                                  ? definition.item_in(region.rank, block)
                                  : definition.item_out(region.rank, block));
}

// The vectors are by transfer, whichever rank executes it.
struct Facts {
  // The line that the transfer writes, or only stamps for a token, numbered at its executor; -1:
  // none.
  LargeVector<int32_t> line;
  // True where another rank waits for it within its segment.
  std::vector<bool> awaited;
  // Indexed by source: the transfer whose line holds it; -1 for user buffers.
  Lists source_writer;
  // The item whose length the first block of the transfer has; in a vector, a block's number.
  LargeVector<int32_t> extent;
  // Indexed by rank: the first transfer that writes its `out`; past the end: none.
  std::vector<int32_t> first_out;
  int32_t lines = 0;  // the most that a rank writes
  // The four transfers of a message.
  struct Ends {
    int32_t post = -1, send = -1, receive = -1, sent = -1;
    std::vector<int32_t> extents;  // the items, by block
  };
  std::vector<Ends> messages;
  int32_t message_blocks = 0;  // blocks of the largest message
};

// `slice`: the plan is that of this slice; null: it is a whole one.
Facts gather_facts(const Plan& staged, const Dependences& dependences, const Slice* slice);

// The waits before a ring position is used again. The first write of a slot's block in a segment
// waits for every rank that touched the block in the segment that had the position before.
struct Reuse {
  Lists waits;                // indexed by transfer: the last one of each rank to wait for
  std::vector<bool> awaited;  // indexed by transfer: its executor must publish it for that
  int32_t min_positions = 1;  // the fewest with which each of these waits is for a smaller number
};

Reuse find_reuse(const Plan& staged);

}  // namespace tutti::plan
