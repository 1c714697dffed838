// The bodies of the entry points that make and free communicators. The host's function does the
// work, and Tutti notes it in the registry of communicators. So a communicator that lives for a
// few calls needs no attribute (communicators/registry.h). Any thread may call.
//
// These entry points exist under both names, MPI_* and PMPI_*, because Fortran bindings and tools
// call the latter.
#pragma once

#include "mpi/communicators/registry.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {

// `call` makes *communicator from a parent and returns an error code, which is returned. The new
// communicator may set up.
template <class Call>
int made(MPI_Comm parent, const MPI_Comm* communicator, Call&& call) {
  const int code = call();
  if (code != MPI_SUCCESS || !communicator_made(parent, *communicator)) return code;
  return guarded(*communicator, [&] {
    set_up_if_due(*communicator);
    return MPI_SUCCESS;
  });
}

// `call` frees *communicator and returns an error code, which is returned. The registry comes
// first, because once the host has freed the handle, another thread may get it.
template <class Call>
int freed(const MPI_Comm* communicator, Call&& call) {
  if (communicator != nullptr) communicator_ends(*communicator);
  return call();
}

}  // namespace tutti::mpi
