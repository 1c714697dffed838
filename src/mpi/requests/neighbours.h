// The neighbourhood collectives, in all their forms. The host serves them; Tutti records them for
// the report and for traces, and counts the blocking and persistent ones among the first calls of a
// communicator.
//
// Each function is called by the entry points of its form, on any thread, and returns an MPI error
// code.
#pragma once

#include "mpi/collectives/call.h"

namespace tutti::mpi {

// Serves MPI_Neighbor_alltoall and the like.
int serve_neighbours(const Call& call, MPI_Comm comm);
// Starts MPI_Ineighbor_alltoall and the like.
int start_neighbours(const Call& call, MPI_Comm comm, MPI_Request* request);
// Makes the request of MPI_Neighbor_alltoall_init and the like.
int neighbours_init(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request);

}  // namespace tutti::mpi
