// How the data of an operation lies in its rank's record. For the files of this room that start and
// take operations (operation.h). Pure functions; any thread.
//
// The blocks that the rank gives follow each other. If they differ in length, a table comes first:
// for each block the end of its data, in bytes from the end of the table. If the buffer is lent,
// another table follows the data: for each block the bytes from the start of the buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "eager/operation.h"
#include "exec/operation.h"
#include "plan/eager.h"

namespace tutti::eager {

using TableEntry = uint64_t;

constexpr int call_shift = 40;  // the bits of a signature above its bytes: collective and root

// Data that is read while it is filled is written and read by pieces of so many bytes.
constexpr size_t piece_bytes = size_t{32} << 10;

inline uint64_t signature(const Operation& operation, size_t bytes) {
  return exec::call_signature(operation.program->collective, bytes, operation.program->root);
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

inline size_t table_bytes(const Operation& operation) {
  return operation.parts == nullptr ? 0 : operation.program->gives.size() * sizeof(TableEntry);
}

}  // namespace tutti::eager
