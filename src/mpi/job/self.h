// The communicator of this process alone, for requests and packing that outlive the program's
// communicators.
//
// It is MPI_COMM_SELF between MPI_Init and MPI_Finalize. While sessions alone are open, it is made
// from the one that was opened first, at its first use, by a call that involves no other process;
// before that session closes, it is freed, and another open session takes its place. Whoever keeps
// it for later must ask again. Any thread.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// MPI_COMM_NULL if there is none.
Comm self_communicator();

// Notes that MPI_COMM_SELF lives: from the end of MPI_Init to the begin of MPI_Finalize.
void note_world_of_self(bool lives);
// Call it when a session has opened, and before it closes.
void note_session_of_self(Session session);
void leave_session_of_self(Session session);

}  // namespace tutti::mpi
