// Inside marks the calling thread as inside Tutti or the host MPI for as long as the object lives.
// The thread's MPI calls then go to the host: some hosts call MPI_* themselves, and a user's
// operation may.
//
// Objects nest, and each thread counts its own.
#pragma once

#include "mpi/host/abi.h"

namespace tutti::mpi {

class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  static constinit TUTTI_PER_THREAD int depth;
};

}  // namespace tutti::mpi
