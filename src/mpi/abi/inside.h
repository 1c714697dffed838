// Marks a thread as inside Tutti or the host: MPI calls that arrive there meanwhile go to the host.
//
// Each thread has a depth of its own.
#pragma once

#include "net/abi.h"

namespace tutti::mpi {

class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  static constinit TUTTI_PER_THREAD int depth;
};

}  // namespace tutti::mpi
