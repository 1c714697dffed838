// Where the parts of a buffer are in one call (exec::Parts). A communicator keeps two, so that
// calls allocate nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/operation.h"

namespace tutti::mpi {

struct PartTable {
  std::vector<ptrdiff_t> at;  // bytes from the buffer's start
  std::vector<size_t> bytes;

  exec::Parts parts() const { return {at.data(), bytes.data()}; }

  // Room for so many parts; a call of fewer leaves the rest as it was.
  void hold(size_t parts) {
    if (at.size() >= parts) [[likely]]
      return;
    bytes.resize(parts);
    at.resize(parts);  // last: it is what tells that there is room, also where memory runs out
                       // between the two
  }
};

}  // namespace tutti::mpi
