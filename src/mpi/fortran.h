// What the Fortran entry points of this room have in common. Internal to fortran*.cpp.
//
// Which of them there are, and why, is told in fortran.cpp. `error` may be null (optional in
// mpi_f08).
#pragma once

#include <dlfcn.h>

#include <vector>

#include "mpi/host.h"

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
inline MPI_Info c_info(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Info_f2c)>(host_symbol("PMPI_Info_f2c"));
  return convert(handle);
#else
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Info_fromint)>(host_symbol("PMPI_Info_fromint"));
  return convert(handle);
#endif
}

inline MPI_Comm c_communicator(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Comm_f2c)>(mpi::host_symbol("PMPI_Comm_f2c"));
  return convert(handle);
#else
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Comm_fromint)>(mpi::host_symbol("PMPI_Comm_fromint"));
  return convert(handle);
#endif
}

#if defined(TUTTI_ABI_OPENMPI)

inline MPI_Datatype c_type(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Type_f2c)>(mpi::host_symbol("PMPI_Type_f2c"));
  return convert(handle);
}

inline MPI_Op c_op(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Op_f2c)>(mpi::host_symbol("PMPI_Op_f2c"));
  return convert(handle);
}

// MPI_IN_PLACE and MPI_BOTTOM of Fortran are common blocks, known by address; each has a name for
// every way in which compilers write names, and which of them the program uses is the compiler's
// choice.
struct Constants {
  const void* in_place[4];
  const void* bottom[4];
};

inline const Constants& constants() {
  using mpi::host_symbol;
  static const Constants found{
      {host_symbol("mpi_fortran_in_place_"), host_symbol("mpi_fortran_in_place"),
       host_symbol("mpi_fortran_in_place__"), host_symbol("MPI_FORTRAN_IN_PLACE")},
      {host_symbol("mpi_fortran_bottom_"), host_symbol("mpi_fortran_bottom"),
       host_symbol("mpi_fortran_bottom__"), host_symbol("MPI_FORTRAN_BOTTOM")}};
  return found;
}

inline void* c_address(void* buffer) {
  if (buffer == nullptr) return buffer;
  for (const void* in_place : constants().in_place)
    if (buffer == in_place) return MPI_IN_PLACE;
  for (const void* bottom : constants().bottom)
    if (buffer == bottom) return MPI_BOTTOM;
  return buffer;
}

// As many as the communicator's ranks; of a buffer given in place they may be anything.
inline std::vector<MPI_Datatype> c_types(const MPI_Fint* handles, MPI_Comm communicator,
                                         const void* buffer) {
  int ranks = 0;
  if (buffer == MPI_IN_PLACE || mpi::host().Comm_size == nullptr) return {};
  int inter = 0;
  if (mpi::host().Comm_test_inter(communicator, &inter) != MPI_SUCCESS) return {};
  if ((inter != 0 ? mpi::host().Comm_remote_size(communicator, &ranks)
                  : mpi::host().Comm_size(communicator, &ranks)) != MPI_SUCCESS)
    return {};
  std::vector<MPI_Datatype> types;
  for (int rank = 0; rank < ranks; ++rank) types.push_back(c_type(handles[rank]));
  return types;
}

#endif

}  // namespace tutti::mpi::fortran
