// The calls on a communicator keep this memory for its next calls, which then allocate nothing and
// do not ask the host. A Communicator owns one object. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "exec/operation.h"
#include "group/scratch.h"
#include "mpi/host/types.h"

namespace tutti::mpi {

// Where the parts of a buffer are in one call (exec::Parts).
struct PartTable {
  std::vector<ptrdiff_t> at;  // bytes from the buffer's start
  std::vector<size_t> bytes;

  exec::Parts parts() const { return {at.data(), bytes.data()}; }

  // Makes room for this many parts. The table never shrinks.
  void hold(size_t parts) {
    if (at.size() >= parts) [[likely]]
      return;
    bytes.resize(parts);
    // Last, because the size of `at` shows that both have room, even if memory runs out in between.
    at.resize(parts);
  }
};

class CallMemory {
 public:
  // Where the parts of a call's buffers are, valid during the call. 0: in, 1: out.
  PartTable& parts(int which) { return parts_[static_cast<size_t>(which)]; }

  // Scratch memory of at least this many bytes for packed data. There are two, 0 and 1, which are
  // kept for later calls; release_scratch frees the large ones.
  std::byte* scratch(int which, size_t bytes) {
    std::vector<std::byte>& memory = scratch_[static_cast<size_t>(which)];
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }
  void release_scratch() {
    for (std::vector<std::byte>& memory : scratch_) group::release_scratch(memory);
  }

  // Bytes of a named datatype without gaps; 0 for any other. The last such type is remembered.
  size_t dense_bytes(Datatype type) {
    if (type == dense_type_ && dense_bytes_ != 0) [[likely]]
      return dense_bytes_;
    return find_dense_bytes(type);
  }

 private:
  size_t find_dense_bytes(Datatype type) {
    const NamedType* const named = named_type(type);
    if (named == nullptr || !named->dense) return 0;
    dense_type_ = type;
    dense_bytes_ = named->bytes;
    return dense_bytes_;
  }

  Datatype dense_type_{};
  size_t dense_bytes_ = 0;
  std::array<std::vector<std::byte>, 2> scratch_;
  std::array<PartTable, 2> parts_;
};

}  // namespace tutti::mpi
