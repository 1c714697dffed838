// The report: what each collective did, printed at MPI_Finalize (TUTTI_REPORT, tutti-run --report),
// or at MPI_Abort by the rank that calls it.
//
// One tally a process, guarded by a lock; it is touched only while recording is on, and then every
// call is timed. Gathered by collective calls over MPI_COMM_WORLD and written by its rank 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "mpi/report/reason.h"
#include "plan/plan.h"

namespace tutti::mpi {

// Set once, before the first call.
inline constinit bool recording_started = false;
inline void start_recording() { recording_started = true; }
inline bool recording() { return recording_started; }

// One call: what it was, how it went, how long it took.
struct Record {
  plan::Collective collective = plan::Collective::barrier;
  size_t bytes = 0;              // of one part where the collective has parts
  Reason reason = Reason::none;  // none: Tutti did it
  std::string_view algorithm;    // Tutti's; copied
  std::chrono::nanoseconds time{0};
};
void record(const Record& record);

// Messages and bytes that a rank has sent, or led: the calls of the host's collectives among
// leaders, and the bytes of their vectors.
struct Sent {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};
// The traffic of a communicator over several nodes, which sends no more: between nodes and within
// them by Tutti's messages, and by the host among leaders.
void record_messages(const Sent& across, const Sent& within, const Sent& led);

// Collective over MPI_COMM_WORLD, after all else was recorded. A file that cannot be written is
// said and ends nothing.
void write_report(const std::string& destination, const std::string& why_no_team);

// Not collective: this rank's numbers alone, by the first rank of its node that comes.
void write_own_report(const std::string& destination, const std::string& why_no_team);

}  // namespace tutti::mpi
