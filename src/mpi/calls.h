// The collectives: from an MPI call to the communicator's group, or to the host MPI. The barrier is
// here, what moves data in moves.h, what combines it in reductions.h.
//
// Inline functions are the path of calls that were made before: find the communicator, find the
// call among those that its group has noted, run it. Calls on a communicator with a group that are
// not noted go to the functions named *_by_ready, everything else to those named *_by_any
// (route.h).
#pragma once

#include "mpi/book.h"
#include "mpi/moves.h"
#include "mpi/reductions.h"

namespace tutti::mpi {

// What a host that does not judge arguments does with one vector as input and output: it works, as
// if in place. Set inside MPI_Init.
void tolerate_aliases();

int barrier_by_any(MPI_Comm communicator);
int barrier_by_ready(Communicator& communicator);

[[gnu::always_inline]] inline int barrier(MPI_Comm communicator) {
  const Remembered* const known = ready_communicator(communicator);
  if (known == nullptr) [[unlikely]]
    return barrier_by_any(communicator);
  group::KnownCall* const call = known->group->known({plan::Collective::barrier, 0, 0, 0, 0});
  if (call != nullptr) [[likely]]
    return known->communicator->finish(known->group->run(*call, nullptr, nullptr));
  return barrier_by_ready(*known->communicator);
}

}  // namespace tutti::mpi
