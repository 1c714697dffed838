// The ABI of SMPI, SimGrid's MPI, whose ranks are simulated.
#pragma once

#include <string_view>

#include <mpi.h>

// SMPI's header defines these by names that it does not declare, and SMPI has only one float
// complex.
#undef MPI_CXX_FLOAT_COMPLEX
#undef MPI_CXX_DOUBLE_COMPLEX
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_DATATYPE_NULL

// SimGrid declares MPI_Compare_and_swap with other parameters than the standard.
#define TUTTI_NO_WINDOWS 1

namespace tutti::mpi::own {

constexpr std::string_view name = "smpi";
constexpr bool is_open_mpi = false;

inline bool is_abi_of(const HostLibrary& library) { return library.file.starts_with("libsimgrid"); }

inline bool is_op_of_host(Op op) {
  return op == static_cast<Op>(reinterpret_cast<uintptr_t>(MPI_REPLACE)) ||
         op == static_cast<Op>(reinterpret_cast<uintptr_t>(MPI_NO_OP));
}

// No handle of a type holds its size.
inline size_t bytes_in_handle(Datatype) { return 0; }

inline const int* unweighted() { return MPI_UNWEIGHTED; }
inline const int* weights_empty() { return MPI_WEIGHTS_EMPTY; }

}  // namespace tutti::mpi::own
