// Exceptions end here: what is thrown inside Tutti becomes an MPI error of the call, raised on its
// communicator's handler.
//
// Error is thrown before any rank has entered a collective, and by all ranks alike, so that the
// host serves the call (route.h). Anything else (memory that ran out, above all) is one rank's own
// matter. Thrown before this rank has entered, it is an error of this call alone: the others wait,
// as for a rank that is late, and the call may be made again. Thrown in the middle, it ends the use
// of the group (exec::Channel::fail_thrown) and arrives as a code.
//
// An exception of the program's own (of an operation or a handler) cannot be caught here: the C++
// library and its unwinder are linked into this library, so that programs in C need none, and they
// abort where they meet another one's exception. No state.
#pragma once

#include <utility>

#include "net/abi.h"

namespace tutti::mpi {

// Raises an error on the communicator's handler and returns the code.
int raise(MPI_Comm communicator, int code);

// Inside a handler: says once what was thrown, and raises it.
[[gnu::cold]] int raise_thrown(MPI_Comm communicator);

// A call of our own code, which returns an MPI error code.
template <class Call>
int guarded(MPI_Comm communicator, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return raise_thrown(communicator);
  }
}

}  // namespace tutti::mpi
