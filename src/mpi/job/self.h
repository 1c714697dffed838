// The communicator of this process alone, for requests and packing that outlive the program's
// communicators.
//
// It is MPI_COMM_SELF between MPI_Init and MPI_Finalize while no session is open. Otherwise it is
// made from a session at the first use, by a call that involves no other process. Any thread.
#pragma once

#include "mpi/abi/host.h"

namespace tutti::mpi {

// MPI_COMM_NULL if there is none.
MPI_Comm self_communicator();

#ifdef TUTTI_SESSIONS
// A session that is open until leave_self().
void note_session_of_self(MPI_Session session);
#endif
// To be called before the last session closes: frees the communicator that was made.
void leave_self();

}  // namespace tutti::mpi
