// What the Fortran entry points of this room have in common. Internal to fortran*.cpp.
//
// Which of them there are, and why, is told in fortran.cpp. `error` may be null (optional in mpi_f08).
#pragma once

#include <dlfcn.h>

#include "mpi/abi.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))
#define TUTTI_SAME_AS(name) __attribute__((visibility("default"), alias(name)))

#if defined(TUTTI_ABI_STANDARD)
using MPI_Fint = int;  // the standard ABI leaves it to the Fortran compiler, whose default it is
#endif

namespace tutti::mpi::fortran {

// The library's own routine; null where it has none of the name.
template <class Function>
Function next_definition(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

inline void set(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

// A handle as C knows it.
inline MPI_Comm c_communicator(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert = reinterpret_cast<decltype(&PMPI_Comm_f2c)>(mpi::host_symbol("PMPI_Comm_f2c"));
  return convert(handle);
#else
  static const auto convert = reinterpret_cast<decltype(&PMPI_Comm_fromint)>(mpi::host_symbol("PMPI_Comm_fromint"));
  return convert(handle);
#endif
}

}  // namespace tutti::mpi::fortran
