// Exceptions that are thrown inside Tutti end here: they become an MPI error of the call, which is
// raised on the communicator's error handler. Any thread.
//
// An Error is thrown by all ranks alike, before any of them has entered the collective, so the host
// serves the call (collectives/serve.cpp). Any other exception, std::bad_alloc above all, is thrown
// by one rank alone. If this rank has not yet entered the collective, only its call fails: the
// others wait for it as for a late rank, and it may make the call again. If it has entered, the
// group cannot be used any more (exec::Channel::fail_thrown), and the failure arrives as a code.
//
// An exception of the program's own (of an operation or a handler) cannot be caught here. The C++
// library and its unwinder are linked into this library, so that programs in C need none, and they
// abort when they meet the exception of another C++ library.
#pragma once

#include <utility>

#include "mpi/host/abi.h"

namespace tutti::mpi {

// Raises an error on the communicator's handler and returns the code.
int raise(Comm communicator, int code);

// Call it in a catch block. Logs the exception, if it is the first of this process, raises its MPI
// error code on the communicator's handler, and returns the code.
[[gnu::cold]] int raise_thrown(Comm communicator);

// Runs `call`, which returns an MPI error code. Returns that code, or raise_thrown's if it throws.
template <class Call>
int guarded(Comm communicator, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return raise_thrown(communicator);
  }
}

}  // namespace tutti::mpi
