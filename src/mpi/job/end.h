// Functions by which Tutti ends the job or this process. Any thread may call them. No state but the
// function that calls the roll, which is set and cleared while no other thread makes calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mpi/host/abi.h"

namespace tutti::mpi {

// Prints where the ranks are, before a fault ends the job (mpi/roll); null: nobody can. `cause` is
// one line. It returns within seconds, and prints nothing if memory has run out.
inline void (*call_the_roll)(const char* cause) noexcept = nullptr;

// Tells all ranks of a job of several nodes at which sockets each of them may be asked where it is.
// Collective over the communicator of all of them, after each has found that `ranks_to_meet` is
// their number (Common::can_meet). That is 0 where this rank has met the others, or will not.
inline void (*meet_for_roll)(Comm communicator) = nullptr;
inline std::atomic<int> ranks_to_meet{0};

// The line of the program among the frames of a stack, the innermost first; null: nobody knows it.
inline std::string (*site_of_frames)(const uintptr_t* frames, size_t count) = nullptr;

// Ends the job by the host's MPI_Abort, when a wait stalls and TUTTI_STALL=abort. This process ends
// within seconds in any case: MPI_Abort may not return if the launcher is also out of reach.
[[noreturn]] void end_job(Comm communicator);
// The same with a line that says so, if TUTTI_STALL=abort; else returns.
void end_stalled_job(Comm communicator);

// Sets an alarm that ends this process within seconds, whatever its threads do.
void end_soon();

// Ends this process before MPI_Init, when some ranks have found a fault that others have not. It
// ends by a signal: if a rank exits there, MPICH's launcher lets the others wait for it, whatever
// its exit code.
[[noreturn]] void end_before_init();

}  // namespace tutti::mpi
