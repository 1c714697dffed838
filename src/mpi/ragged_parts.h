// Where the parts of a buffer are in one call (exec::Parts). A communicator keeps two, so that calls allocate nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace tutti::mpi {

struct PartTable {
  std::vector<ptrdiff_t> at;  // bytes from the buffer's start
  std::vector<size_t> bytes;
};

}  // namespace tutti::mpi
