// The blocking neighbourhood collectives; nonblocking.h and persistent.h have the others. On one
// node Tutti serves all of them by records that only the neighbours read
// (communicators/neighbour_records.h). A blocking one is started and completed in one call. Over
// several nodes, non-blocking and persistent ones run in lanes, if there are servers
// (requests/lane_request.h). Otherwise the host makes them, and blocking and persistent ones count
// among the first calls of a communicator.
#pragma once

#include "mpi/collectives/call.h"

namespace tutti::mpi {

// Serves MPI_Neighbor_alltoall and the like, on any thread. Returns an MPI error code.
int serve_neighbours(const Call& call, Comm comm);

}  // namespace tutti::mpi
