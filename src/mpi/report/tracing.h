// Traces of MPI programs (TUTTI_TRACE, tutti-run --trace): when recording starts, and how the
// records of all ranks become one file at rank 0.
//
// One tracer a process, made inside MPI_Init and never destroyed; null while tracing is off, so
// what records asks that first. Starting and writing are collective over MPI_COMM_WORLD and use a
// private communicator; any thread may record.
#pragma once

#include <cstdint>

#include "mpi/abi/host.h"
#include "report/reason.h"
#include "plan/plan.h"
#include "trace/tracer.h"

namespace tutti::mpi {

using report::Reason;

extern constinit trace::Tracer* process_tracer;
inline trace::Tracer* tracer() { return process_tracer; }

// Collective. Ends the job with one line and exit code 2 where the file could not be written.
void start_tracing();

// Collective, where tracing was started. A file that cannot be written after all is said and ends
// nothing.
void write_trace();

// A number for a new communicator, unlike any other in the job; for its rank 0, which tells the
// others.
uint64_t new_identity();
// The communicator's number in this process's table.
uint32_t note_communicator(MPI_Comm communicator, uint64_t identity, int rank, int ranks);

// A call that the host MPI served, from `entry` until now.
void trace_host_call(uint64_t entry, plan::Collective collective, Reason reason, size_t bytes,
                     int root);

}  // namespace tutti::mpi
