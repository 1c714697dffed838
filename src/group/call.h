// A group::Call is a call of a collective as a group gets it: its data is packed bytes, and MPI's
// datatypes and handles are not in it. It is a value on the stack of the calling thread. Its
// pointers refer to the caller's memory and are valid until the call returns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/operation.h"
#include "plan/collective.h"

namespace tutti::group {

// The value of Call::longest if the ranks do not know the longest part before the call.
inline constexpr size_t unknown_length = SIZE_MAX;

// `in` and `out` are the same memory if the call is in place, as the collective's definition says
// (plan/collective.h). In a bcast, a reduction, a scan or an alltoall the whole buffers are the
// same; in a gather or an allgather a rank's `in` is its own part of `out`; in a scatter its `out`
// is its own part of `in`. A group ignores a buffer that the rank does not have by that definition,
// and does not change rank 0's `out` of an exscan.
struct Call {
  plan::Collective collective{};
  const void* in = nullptr;
  void* out = nullptr;
  size_t count = 0;  // elements of the vector, or of one part; bytes if nothing is combined
  int root = 0;
  const exec::Combine* combine = nullptr;  // null if nothing is combined

  // The places and lengths of the parts of this rank's buffers, for a v-collective; null for any
  // other. Each array of an exec::Parts has an entry for each rank of the group, or one entry if
  // the buffer is a single part; it is null if the rank has no such buffer. The sender and the
  // receiver of a part give the same length, as MPI requires. A v-collective does not use `count`.
  const exec::VParts* parts = nullptr;
  // The bytes of the longest part of all ranks, for a v-collective; they decide how the data
  // travels. In a reduce_scatter all ranks know them. In any other v-collective the value may be
  // unknown_length: the ranks then agree on the length first, and short parts move with this
  // agreement (exec/record.h).
  size_t longest = 0;
};

}  // namespace tutti::group
