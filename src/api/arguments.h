// The checks of a C API call's arguments, before anything happens: pure functions of plain data,
// for any thread.
//
// Each throws Error(invalid_argument) with one line that names the argument and what to pass
// instead. Nothing is owned and no buffer is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "exec/executor.h"
#include "tutti/tutti.h"

namespace tutti::api {

inline constexpr int max_team = 4096;  // ranks

void require(bool holds, const char* message);

// A type and an operation as the kernels name them.
kernels::Type kernel_type(tutti_type type);
kernels::Op kernel_op(tutti_op op);
// How the elements of a call that starts are combined.
struct Reduction {
  exec::Combine combine;
  kernels::ReduceAll all = nullptr;  // records::Operation::all
  bool averages = false;             // the sum is divided by the number of ranks
  uint64_t kind = 0;                 // kind_of
};
Reduction reduction_of(tutti_type type, tutti_op op);
// The kind of a reduction's call (exec/operation.h), of a type and an operation that are valid.
inline uint64_t kind_of(tutti_type type, tutti_op op) {
  return 1 + static_cast<uint64_t>(op) * (TUTTI_FLOAT16 + 1) + static_cast<uint64_t>(type);
}
// The name of a kind: "sum of float32".
std::string name_of_reduction(uint64_t kind);
// The kernel for elements of this type under this operation.
exec::Combine combine_of(tutti_type type, tutti_op op);

void require_root(int root, int ranks);

// Bytes of `parts` parts of `count` elements of `element` bytes each; throws if no buffer can be so
// long.
size_t bytes_of(size_t count, size_t element, int parts);

// A buffer as a call passes it. If it has no bytes, `data` may be null or anything else.
struct Buffer {
  const void* data = nullptr;
  size_t bytes = 0;
  size_t own = 0;  // offset of the rank's own part, if the call's other buffer may be that part
};
// Throws if a buffer is null although it has bytes, or if the two overlap and are not one buffer as
// `in_place` says (in C, for the message).
void require_buffers(const Buffer& in, const Buffer& out, const char* in_place = "out = in");

}  // namespace tutti::api
