// Where on its node a rank of a communicator sleeps when it is idle (exec/idle.h). Any thread; no
// communication.
#pragma once

#include "mpi/host/host.h"
#include "mpi/job/team.h"

namespace tutti::mpi {

// From now on, idle ranks sleep. `team`: the world's on this node; null: this rank is alone there.
void sleep_when_idle(Team* team);
// The same for the host's MPI_Finalize, if ranks slept before and their doorbells have ended with
// the team. Nobody rings then. Returns whether ranks sleep from now on only by this call.
bool sleep_in_finalize();

// Rings for a rank of a communicator, or of the other side of an intercommunicator, if it is on
// this node and sleeps. Nothing for MPI_PROC_NULL and MPI_ANY_SOURCE.
void ring_rank(Comm communicator, int rank);
// The communicator ends, and its handle may come again.
void forget_places(Comm communicator);

}  // namespace tutti::mpi
