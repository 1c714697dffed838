// The places of a buffer's parts in one call (exec::Parts). A Communicator owns two tables and uses
// them again in each call, so that calls allocate nothing. One thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/operation.h"

namespace tutti::mpi {

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

}  // namespace tutti::mpi
