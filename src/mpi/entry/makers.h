// Around the functions that make and free communicators: the host does the work, and the registry
// is told, so that a communicator that lives for a few calls needs no attribute
// (communicators/registry.h).
//
// Entry points exist under both names, MPI_* and PMPI_*: Fortran bindings and tools call the second
// ones.
#pragma once

#include "mpi/communicators/registry.h"

namespace tutti::mpi {

// `call` makes *communicator.
template <class Call>
int made(const MPI_Comm* communicator, Call&& call) {
  const int code = call();
  if (code == MPI_SUCCESS) communicator_made(*communicator);
  return code;
}

// `call` frees *communicator. The registry is told before the host is: from then on another thread
// may get the handle.
template <class Call>
int freed(const MPI_Comm* communicator, Call&& call) {
  if (communicator != nullptr) communicator_ends(*communicator);
  return call();
}

}  // namespace tutti::mpi
