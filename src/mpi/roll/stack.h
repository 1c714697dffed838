// The stack of a thread of this process at one moment, taken by another thread.
//
// The thread is asked by a signal, SIGURG, whose handler unwinds its stack. A call of MPI pays
// nothing for that. SIGURG is what Go's runtime takes for the same purpose: it is ignored where
// nobody handles it, debuggers pass it on, and few programs use it. A thread that cannot be asked,
// because the program handles the signal or blocks it, or because the system call that it sleeps in
// would end early, has its stack read from outside instead: return addresses are looked for in it.
//
// One thread of the process may use these functions, the watchdog (watchdog.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/collectives/call.h"
#include "mpi/host/last_message.h"

namespace tutti::mpi::roll {

struct Stack {
  std::vector<uintptr_t> frames;  // addresses in the calling functions, innermost first
  bool was_asked = false;         // else the frames were looked for, and may be wrong
  uint64_t served = 0;            // collectives of the thread that Tutti has served
  uint64_t left_to_host = 0;      // and those that the host has made
  std::optional<Call> call;       // the collective that is in the host
  Comm communicator{};            // the communicator of that collective
  LastMessage message;            // its last blocking message; by none if it was not asked
  std::string python;             // the innermost frame of Python code: FILE:LINE (FUNCTION)
  long system_call = -1;          // the one it is blocked in; -1: it runs
  uint64_t argument = 0;          // the first argument of that
};

// Before the first stack, and after the last one.
void begin_asking();
void end_asking();

Stack stack_of(pid_t thread);
// The threads of this process. The first one is that in which the process has begun.
std::vector<pid_t> threads();

}  // namespace tutti::mpi::roll
