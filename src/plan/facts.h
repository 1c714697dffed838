// What passes over a staged plan tell of its transfers before any rank's program is written.
// Internal to src/plan.
//
// Of one lowering; the same whichever ranks' programs are written. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lower.h"

namespace tutti::plan {

// Posting a message writes nothing yet.
inline bool writes_tmp(const Transfer& transfer) {
  return transfer.dst.buffer == Buffer::tmp && transfer.dst.count > 0 && transfer.writes() &&
         transfer.kind != TransferKind::post;
}

// What one pass over the staged plan tells about every transfer, whoever executes it.
struct Facts {
  std::vector<int32_t>
      line;  // which of its executor's lines it writes, or stamps for a token; -1: none
  std::vector<bool> awaited;  // somebody waits for it within its segment
  std::vector<std::vector<int32_t>>
      source_writer;  // by source: the transfer whose line holds it; -1 for user buffers
  std::vector<int32_t>
      extent;         // the vector's block whose length the first block of the transfer has
  int32_t lines = 0;  // the most that a rank writes
  struct Ends {       // of a message: its four transfers
    int32_t post = -1, send = -1, receive = -1, sent = -1;
    std::vector<int32_t> extents;  // by block
  };
  std::vector<Ends> messages;
  int32_t message_blocks = 0;  // of the largest message
};

Facts gather_facts(const Plan& staged, const Dependences& dependences);

// Before the first write of a slot's block in a segment: who touched it in the segment that had
// this ring position before, and the last transfer that did. Also what every rank must publish for
// that, and how many positions keep those waits pointing backwards.
struct Reuse {
  std::vector<std::vector<int32_t>> waits;  // by transfer
  std::vector<bool> awaited;
  int32_t min_positions = 1;
};

Reuse find_reuse(const Plan& staged);

}  // namespace tutti::plan
