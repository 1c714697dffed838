// How the shared memory of one group is laid out: one area a rank, all of one size, in rank order.
//
//   area of a rank:  Control | lines (a ring of line_count) | slot (a ring of bytes)
//
// Who writes: a rank writes its own Control and lines; its slot is written by the rank that a plan
// names (itself, or the executor of a push). Everything else only reads, but for the doorbell,
// which sleepers and publishers share. All zero when new. The same layout serves processes (mapped
// at different addresses) and threads: no pointers inside.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shm/order.h"

namespace tutti::shm {

inline constexpr size_t line_size = 128;    // what adjacent-line prefetchers fetch together
inline constexpr size_t line_payload = 48;  // stamp, call and payload share one 64-byte cache line

// Short data with its stamp: one cache line brings both.
struct alignas(line_size) Line {
  Word stamp;  // base of the operation + number of the transfer; unique for ever
  Word call;   // which collective the writer is in (call_signature), so that readers notice a
               // mismatch
  unsigned char payload[line_payload];
};
static_assert(sizeof(Line) == line_size);
static_assert(offsetof(Line, payload) + line_payload == 64);

struct alignas(line_size) Control {
  // First line: polled by all who wait for this rank. Each store to it takes the line away from
  // them, so it is written when the rank publishes, all at once, and at no other time but in slow
  // waits.
  Word word;     // progress: base of the operation + number of the last published transfer
  Word entered;  // 1 + base of the operation that `entered_call` belongs to, 0 while they change
                 // (exec/entered.h); of operations over slots, and of those in which this rank
                 // waited for long
  Word entered_call;  // that operation's call signature
  // Second line: what this rank is in.
  alignas(
      line_size) Word buffers[2];  // where others reach this rank's `in` and `out` (exec/reached.h)
  Word call;                       // call signature of the last operation of any kind, for messages
  Word waits_for;    // 1 + the rank that this one waits for, 0 if none; written only in slow waits
  Word waits_value;  // the value that it waits for
  Word process;      // pid; 0 for threads
  Word waits_for_message;  // of the rank of another node, 0 if none: twice 1 + its rank, and 1
                           // where it is to take one
  static constexpr uint64_t among_leaders = 1;  // in its place: in the host MPI's own collective
  Word parked;  // whether the rank's part waits for another communicator of the same ranks
                // (mpi/service.h)
  // Third line: who sleeps until this rank publishes.
  struct alignas(line_size) Doorbell {
    Count sleepers;
    Count rings;  // the futex
  } doorbell;
};
static_assert(sizeof(Control) == 3 * line_size);

struct Layout {
  int32_t ranks = 1;
  int32_t line_count = 0;  // an operation's lines are consecutive, so reservations never wrap
  size_t slot_bytes = 0;   // multiple of line_size

  size_t lines_offset() const { return sizeof(Control); }
  size_t slot_offset() const {
    return lines_offset() + static_cast<size_t>(line_count) * line_size;
  }
  size_t stride() const { return slot_offset() + slot_bytes; }  // bytes of one rank's area
  size_t bytes() const { return stride() * static_cast<size_t>(ranks); }

  // The layout that uses at most `bytes_per_rank`; lines take at most a quarter. Throws
  // Error(unavailable) where it is less than the smallest area that works (smallest_area).
  static Layout fit(int32_t ranks, size_t bytes_per_rank);
};

// The areas of all ranks of a node together take at most so much: bound steps name places in them
// by lines, in 32 bits (exec/bound.h).
inline constexpr size_t most_bytes = size_t{UINT32_MAX} * line_size;

// Of a rank where memory is dear: in /dev/shm, and between threads, which seldom need slots.
inline constexpr size_t modest_area = 256 * 1024;

// An area whose slot is a deep ring: about twice a second-level cache, so that a line has left the
// cache of whoever read it before its turn to be written comes again
// (docs/decisions/deep-rings.md). All ranks of a node together take at most a 64th of its memory,
// but each a modest area.
size_t deep_area(int32_t ranks);
// From this size on a slot's ring counts as deep.
inline constexpr size_t deep_ring = 1024 * 1024;

// Control, 16 lines and a slot of 2 KiB.
inline constexpr size_t smallest_area = sizeof(Control) + 16 * line_size + 2048;

}  // namespace tutti::shm
