// The beginning and end of MPI in a process: what Tutti does before and after the host's MPI_Init
// and MPI_Finalize, which one thread of the process calls, and those of sessions, which any thread
// may begin and end. The registry of communicators is open from the first beginning to the last
// end.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// MPI's functions of these names, in C. Those that begin MPI read the environment first, and end
// the process with one line if it is malformed (exit code 2) or if this node is in no cluster. If
// servers are asked for, they ask the host for MPI_THREAD_MULTIPLE, which servers need;
// MPI_Query_thread then reports the level that the program would have got. Those that end it write
// the trace and the report first: MPI_Abort the report of this rank alone.
int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int query_thread(int* provided);
int finalize();
int abort(Comm communicator, int code);
int session_init(Info info, Errhandler handler, Session* session);
int session_finalize(Session* session);

}  // namespace tutti::mpi
