// MPI_Dist_graph_create where the host's own may lose edges. Any thread.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// MPI_Dist_graph_create (MPI 4.1, section 8.5.4) by two alltoalls of the host and its
// MPI_Dist_graph_create_adjacent, which is the one in `functions`. Collective over `comm`. Open
// MPI gets the call as it is. So does a host that will refuse the lists of some rank: the first
// alltoall tells all ranks, so that all make the host's call and none waits for another.
//
// MPICH finds each part of the graph by MPI_Probe and receives it by MPI_Recv, both from
// MPI_ANY_SOURCE. Over libfabric the second may receive another message than the first has found:
// seldom if nothing else runs, and often beside a second thread that makes progress, such as a
// server. The new communicator then lacks edges or has ones that nobody asked for, without an error
// (docs/servers.md).
//
// The neighbours of a rank are in the order of the ranks that list the edges, and of their lists.
// The standard names no order.
int dist_graph_create(const CommunicatorFunctions<HouseTypes>* functions, Comm comm, int n,
                      const int sources[], const int degrees[], const int destinations[],
                      const int weights[], Info info, int reorder, Comm* made);

}  // namespace tutti::mpi
