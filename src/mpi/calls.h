// The collectives: from an MPI call to the communicator's group, or to the host MPI. The barrier is here, what moves data
// in moves.h, what combines it in reductions.h.
//
// Inline functions are the path of short calls on predefined types: look up the communicator, look up the kernel or the
// bytes of an element, call the group. Whatever they do not serve goes to the functions named *_by_any (route.h). About 40
// instructions from entry to group.
#pragma once

#include "base/error.h"
#include "mpi/book.h"
#include "mpi/moves.h"
#include "mpi/reductions.h"

namespace tutti::mpi {

// What a host that does not judge arguments does with one vector as input and output: it works, as if in place. Set
// inside MPI_Init.
void tolerate_aliases();

int barrier_by_any(MPI_Comm communicator);

// Errors are thrown before the rank arrives, and by all ranks alike; the general path meets them again.
[[gnu::always_inline]] inline int barrier(MPI_Comm communicator) {
  try {
    if (Communicator* known = ready_communicator(communicator)) [[likely]] return known->finish(known->group()->barrier());
  } catch (const Error&) {
  }
  return barrier_by_any(communicator);
}

}  // namespace tutti::mpi
