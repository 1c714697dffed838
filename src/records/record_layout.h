// How the data of an operation lies in its rank's record. For the files of this room that start and
// take operations (operation.h). Pure functions; any thread.
//
// The blocks that the rank gives follow each other. If they differ in length, a table comes first:
// for each block the end of its data, in bytes from the end of the table. If the buffer is lent,
// another table follows the data: for each block the bytes from the start of the buffer.
//
// In an allreduce of a long vector by several ranks, each rank would combine all vectors. Instead
// they share the work: the result is cut into tiles, and a rank that takes its results claims tiles
// that nobody has claimed, combines each, and puts it where the others copy it from. Nobody waits
// for a tile that no rank has claimed. The results and the claims lie behind the data of rank 0's
// record, if that has a length of tiles. Each tile has a word: 0, or 1 + the rank that has claimed
// it, or tile_is_done.
#pragma once

#include <cstddef>
#include <cstdint>

#include "records/operation.h"
#include "exec/operation.h"
#include "plan/record_program.h"
#include "shm/order.h"

namespace tutti::records {

using TableEntry = uint64_t;

// The bits of a signature above its bytes: the root, also with the kind, and the collective.
constexpr int call_shift = 40;
static_assert(exec::most_ranks_with_kinds == 1 << (exec::kind_shift - call_shift));
static_assert(exec::most_kinds < 1 << 8, "the collective is above the kind's 8 bits");

// Data that is read while it is filled is written and read by pieces of so many bytes.
constexpr size_t piece_bytes = size_t{32} << 10;

inline uint64_t call_of(const Operation& operation) {
  const plan::RecordProgram& program = *operation.program;
  return exec::call_signature(program.collective, 0, program.root) | operation.kind
                                                                         << exec::kind_shift;
}
// start() has set operation.call.
inline uint64_t signature(const Operation& operation, size_t bytes) {
  return operation.call | (bytes & ((uint64_t{1} << call_shift) - 1));
}

inline size_t bytes_in(const Operation& operation, int32_t block) {
  return operation.parts == nullptr ? operation.in_bytes
                                    : operation.parts->in.bytes[static_cast<size_t>(block)];
}

inline const std::byte* address_in(const Operation& operation, int32_t block) {
  const auto i = static_cast<size_t>(block);
  return operation.in + (operation.parts == nullptr ? static_cast<ptrdiff_t>(i * operation.in_bytes)
                                                    : operation.parts->in.at[i]);
}

// True if this rank's own blocks are read from its record, because results may overwrite `in`, or
// because `in` is not packed.
inline bool own_from_record(const Operation& operation) {
  return operation.in_place || operation.packs_in != nullptr;
}

constexpr uint64_t tile_is_done = UINT64_MAX;

// The tiles of a vector of `bytes` bytes.
struct TileArea {
  TileArea(size_t bytes, size_t tile_bytes)
      : results(to_line(bytes)),
        claims(2 * results),
        tiles((bytes + tile_bytes - 1) / tile_bytes),
        end(claims + tiles * sizeof(shm::Word)) {}
  static size_t to_line(size_t bytes) { return (bytes + line_size - 1) / line_size * line_size; }

  size_t results, claims;  // bytes from the start of the record
  size_t tiles, end;
};

inline size_t table_bytes(const Operation& operation) {
  return operation.parts == nullptr ? 0 : operation.program->gives.size() * sizeof(TableEntry);
}

}  // namespace tutti::records
