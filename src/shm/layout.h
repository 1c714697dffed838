// How the shared memory of one group is laid out: one area for each rank, all of one size, in rank
// order. The creator of the group owns the memory, which outlives the group.
//
//   area of a rank:  Control | Ledgers | lines (a ring of line_count) | slot (a ring of bytes)
//
// A rank writes its own Control, Ledgers and lines. Its slot is written by the rank that a plan
// names (itself, or the rank that executes a push). Others only read, except that sleepers also
// write the doorbell and the leader writes `parked`. New areas are all zero. There are no pointers
// in them, so they serve processes (which map them at different addresses) and threads alike.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/line.h"
#include "shm/doorbell.h"
#include "shm/ledger.h"
#include "shm/order.h"

namespace tutti::shm {

using tutti::line_payload;
using tutti::line_size;

// Short data with its stamp; both are in one cache line.
struct alignas(line_size) Line {
  Word stamp;  // base of the operation + number of the transfer; never used twice
  Word call;   // the writer's collective (call_signature), so that readers notice a mismatch
  unsigned char payload[line_payload];
};
static_assert(sizeof(Line) == line_size);
static_assert(offsetof(Line, payload) + line_payload == 64);

struct alignas(line_size) Control {
  // First line: all ranks that wait for this rank poll it. Each store takes the cache line away
  // from them, so all its words are written together when the rank publishes, and else only in slow
  // waits.
  Word word;  // progress: base of the operation + number of the last published transfer
  // 1 + base of the operation that `entered_call` belongs to, 0 while the two change
  // (exec/entered.h). Set by operations over slots, and by those in which this rank waited for
  // long.
  Word entered;
  Word entered_call;  // the call signature of the operation in `entered`
  // Second line: the state of this rank.
  // The addresses at which others reach this rank's `in` and `out` (exec/reached.h).
  alignas(line_size) Word buffers[2];
  Word call;  // call signature of the last operation of any kind, for messages
  // Its exec::Combine::kind, for messages; written only in slow waits.
  Word kind;
  Word waits_for;    // 1 + the rank that this one waits for, 0 if none; written only in slow waits
  Word waits_value;  // the value that it waits for
  Word process;      // pid; 0 for threads
  // The message that this rank waits for: 2 * (1 + the peer, a rank of another node), plus 1 if the
  // peer is to receive it; 0 if none.
  Word waits_for_message;
  // The value of waits_for_message while the rank is in the host MPI's own collective.
  static constexpr uint64_t among_leaders = 1;
  // The state of the rank's service: in use, parked or retired (mpi/communicators/service.h).
  Word parked;
  // 1: the rank has ended MPI, and its arena may be gone (mpi/communicators/records.h).
  Word ended;
  // Third line: the ranks that sleep until this rank publishes.
  Doorbell doorbell;
  // Fourth line: what the rank passes to its last two calls, if calls are compared
  // (exec/passed.h).
  struct Told {
    // Twice the number of the call, from 2 on; one more if the rank enters the call without waiting
    // for what others tell. Published behind the words.
    Word number;
    Word words[3];  // exec::Passed
  };
  alignas(line_size) Told told[2];
};
static_assert(sizeof(Control) == 4 * line_size);

struct Layout {
  int32_t ranks = 1;
  int32_t line_count = 0;  // an operation's lines are consecutive and never wrap round the ring
  size_t slot_bytes = 0;   // multiple of line_size

  static constexpr size_t ledger_offset(LedgerOf which) {
    return sizeof(Control) + static_cast<size_t>(which) * sizeof(Ledger);
  }
  static constexpr size_t lines_offset() { return ledger_offset(LedgerOf::count_); }
  size_t slot_offset() const {
    return lines_offset() + static_cast<size_t>(line_count) * line_size;
  }
  size_t stride() const { return slot_offset() + slot_bytes; }  // bytes of one rank's area
  size_t bytes() const { return stride() * static_cast<size_t>(ranks); }

  // The layout that uses at most `bytes_per_rank`; lines take at most a quarter of it. Throws
  // Error(unavailable) if `bytes_per_rank` is less than smallest_area.
  static Layout fit(int32_t ranks, size_t bytes_per_rank);
};

// The limit for the areas of all ranks of a node together: bound steps name places in them by the
// number of a line, in 32 bits (exec/bound.h).
inline constexpr size_t most_bytes = size_t{UINT32_MAX} * line_size;

// The slots of smaller areas pipeline badly. A communicator gets such areas only if shared memory
// is short.
inline constexpr size_t comfortable_area = 8 * 1024;

// A rank's area if memory is scarce: in /dev/shm, and between threads, which seldom need slots.
inline constexpr size_t modest_area = 256 * 1024;

// An area whose slot is a deep ring: about twice a second-level cache, so that a line has left its
// reader's cache before it is written again (docs/decisions/deep-rings.md). All ranks of a node
// together take at most a 64th of its memory and at most 120 MiB, but each rank takes at least a
// modest area. With many ranks a rank's lines should leave its readers' caches sooner, because
// these read from many rings.
size_t deep_area(int32_t ranks);

// The area of the communicator of all ranks of a node, which takes the first memory of the node's
// segment (Team::grant_areas in src/mpi/job). It is half of what was asked for
// (TUTTI_SHM_BYTES_PER_RANK), so that other communicators find the rest, or a deep area if nothing
// was asked for (0). `scarce`: the segment has only modest areas, because it is in /dev/shm or the
// system refused a larger one.
size_t first_area(int32_t ranks, size_t asked, bool scarce);

// Control, ledgers, 16 lines and a slot of 2 KiB.
inline constexpr size_t smallest_area = Layout::lines_offset() + 16 * line_size + 2048;

}  // namespace tutti::shm
