// Traces of MPI programs (TUTTI_TRACE, tutti-run --trace): when recording starts, and how the
// records of all ranks become one file at rank 0.
//
// Each process has one tracer, made inside MPI_Init and never destroyed. tracer() is null while
// tracing is off, so code that records checks that first. Starting and writing are collective over
// MPI_COMM_WORLD and use a private communicator. Any thread may record.
#pragma once

#include <cstdint>
#include <functional>

#include "mpi/host/host.h"
#include "report/reason.h"
#include "plan/plan.h"
#include "trace/tracer.h"

namespace tutti::mpi {

using report::Reason;

extern constinit trace::Tracer* process_tracer;
inline trace::Tracer* tracer() { return process_tracer; }

// Throws Error, one line, if TUTTI_TRACE_FILTER is malformed.
void check_trace_filter();

// Collective. Ends the job with one line and exit code 2 if the file could not be written or the
// tracer cannot be made.
void start_tracing();

// Collective if tracing was started, else without effect. If the file cannot be written after all,
// rank 0 logs an error and the program goes on. `has_died`: whether a rank is one of this node's
// whose process has ended; nobody waits for it, and there is no file. False if a wait has taken as
// long as the watchdog allows and TUTTI_STALL=abort.
bool write_trace(std::function<bool(int rank)> has_died);

// A number for a new communicator, unique in the job. Rank 0 of the communicator calls this and
// tells the others.
uint64_t new_identity();
// Adds the communicator to this process's table and returns its number there.
uint32_t note_communicator(Comm communicator, uint64_t identity, int rank, int ranks);

// Records a call that the host MPI served, from `entry` until now.
void trace_host_call(uint64_t entry, plan::Collective collective, Reason reason, size_t bytes,
                     int root);

}  // namespace tutti::mpi
