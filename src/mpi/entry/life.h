// The beginning and end of MPI in a process: what Tutti does before and after the host's MPI_Init
// and MPI_Finalize, which one thread of the process calls, and those of sessions, which any thread
// may begin and end. The registry of communicators is open from the first beginning to the last
// end.
#pragma once

#include "mpi/host/host.h"

namespace tutti::mpi {

// Call it before the host's MPI_Init. Reads the environment, and ends the process with one line if
// it is malformed (exit code 2) or if this node is in no cluster.
void before_init();
// Call it after the host's MPI_Init has succeeded. Returns an MPI error code.
int after_init();
// Call it before the host's MPI_Finalize. Writes the trace and the report, and ends what MPI_Init
// has begun.
void before_finalize();
// Call it before the host's MPI_Abort. Writes the report of this rank alone.
void before_abort();

int after_session_init(Session session);
void before_session_finalize(Session session);
int session_init(Info info, Errhandler handler, Session* session);
int session_finalize(Session* session);

// The host's MPI_Init or MPI_Init_thread, for a program that requires this level. If servers are
// asked for, asks the host for MPI_THREAD_MULTIPLE, which they need; MPI_Query_thread then reports
// the level that the program would have got.
int begin_host(int* argc, char*** argv, int required, int* provided);
// True if servers are asked for, so that begin_host must begin MPI.
bool servers_are_asked_for();

// MPI's functions of these names, in C.
int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int* provided);
int query_thread(int* provided);
int finalize();
int abort(Comm communicator, int code);

}  // namespace tutti::mpi
