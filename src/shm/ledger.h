// A ledger: what a rank tells the other ranks of its communicator about the operations of one
// sequence, which it starts and completes in separate calls (records/sequence.h). Each rank's area
// has two (layout.h); those of private sequences are in the ranks' arenas.
//
// Only its rank writes it, and others read it. It is all zero before the first operation. The
// records themselves are lines in rings, which lie in the rank's arena and grow: when all lines of
// a ring hold records that some rank has not taken, the next ring is made, four times as long. The
// records of older operations stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/line.h"
#include "shm/order.h"

namespace tutti::shm {

// Where bytes lie in an arena (records/arena.h), as one rank tells another. Plain bytes.
struct ArenaPlace {
  uint64_t identity[2];  // the segment's identity (Segment::Location)
  uint64_t segment_bytes;
  int32_t process;
  int32_t descriptor;
  uint64_t at;  // bytes from the start of the segment's mapping
};
static_assert(sizeof(ArenaPlace) <= line_payload, "it fits a line");

// A rank's record of an operation: a Line, and the state of its data. Only records whose data is
// longer than the payload have the second part, which is in another cache line.
struct alignas(line_size) RecordLine {
  Word stamp;  // 1 + number of the operation
  Word call;
  // The data, or its ArenaPlace, which shares a cache line with the stamp.
  static constexpr size_t most_bytes = 80;
  unsigned char payload[most_bytes];

  // How many bytes of the data are in the arena; UINT64_MAX: all, and its tables.
  Word filled;
  // Where the ranks find the buffer that has the data, in the form of exec::Reach: bytes from the
  // start of what they have mapped. 0: the data is in the arena.
  Word lent;
  // Bits 0 to 15: ranks that read the buffer now; 16 to 31: ranks that have read it. Bit 63: the
  // data is in the arena, and no other rank may begin to read the buffer.
  Word uses;
  // The length of a tile, if the ranks share the work of a reduction (records/record_layout.h); 0:
  // each works for itself.
  Word tile_bytes;
};
static_assert(sizeof(RecordLine) == line_size);
static_assert(offsetof(RecordLine, tile_bytes) + sizeof(Word) == line_size);

struct alignas(line_size) Ledger {
  Word issued;  // operations that this rank has started
  Word taken;   // the longest run of operations, from the first, that this rank is done with

  static constexpr int most_rings = 10;
  // Operation `first` and those after it, up to the next ring's first, have their records here.
  struct Ring {
    Word made;  // 0: not yet; else 1 + first
    ArenaPlace lines;
  } rings[most_rings];

  // The lines of ring g: 64, 256, 1024, ...
  static constexpr uint64_t lines_of(int ring) { return uint64_t{64} << (2 * ring); }
};

// The ledgers in an area, by their sequences.
enum class LedgerOf : int {
  operations,  // those in the communicator's order
  openings,    // the openings of private sequences (records/private_sequence.h)
  count_
};

}  // namespace tutti::shm
