// Progress of the host's messages while a rank or a server waits for something else.
#pragma once

#include "mpi/abi/host.h"
#include "mpi/abi/inside.h"
#include "mpi/job/self.h"

namespace tutti::mpi {

// Lets the host's messages progress, by a call that finds nothing. Between MPI's begin and its end.
inline void drive_host() {
  int flag = 0;
  const Inside inside;
  host().Iprobe(0, 0, self_communicator(), &flag, MPI_STATUS_IGNORE);
}

}  // namespace tutti::mpi
