// The neighbourhood collectives, in all their forms. On one node Tutti serves them by records that
// only the neighbours read (communicators/neighbour_records.h). A blocking one is started and
// completed in one call. Over several nodes, non-blocking and persistent ones run in lanes, if
// there are servers (requests/lane_request.h). Otherwise the host makes them, and blocking and
// persistent ones count among the first calls of a communicator.
//
// Each function is called by the entry points of its form, on any thread, and returns an MPI error
// code.
#pragma once

#include "mpi/collectives/call.h"

namespace tutti::mpi {

// Serves MPI_Neighbor_alltoall and the like.
int serve_neighbours(const Call& call, Comm comm);
// Starts MPI_Ineighbor_alltoall and the like.
int start_neighbours(const Call& call, Comm comm, Request* request);
// Makes the request of MPI_Neighbor_alltoall_init and the like.
int neighbours_init(const Call& call, Comm comm, Info info, Request* request);

}  // namespace tutti::mpi
