// Beginning and end: what happens around the host's MPI_Init and MPI_Finalize, which one thread of
// the process calls, and around its sessions, which any thread may begin and end. The registry is
// open from the first beginning to the last end.
#pragma once

#include "mpi/abi/host.h"

namespace tutti::mpi {

// Before the host's: reads the environment; ends the process with one line and exit code 2 where it
// is malformed.
void before_init();
// After the host's, if that went well; an MPI error code.
int after_init();
void before_finalize();
// Before the host's MPI_Abort: leaves the report, of this rank alone.
void before_abort();

#ifdef TUTTI_SESSIONS
int after_session_init(MPI_Session session);
void before_session_finalize(MPI_Session session);
int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
int session_finalize(MPI_Session* session);
#endif

int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int finalize();
int abort(MPI_Comm communicator, int code);

}  // namespace tutti::mpi
