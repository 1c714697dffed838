// The standard ABI, that of MPI 5.
#pragma once

#include <cstdint>
#include <string_view>

#include <mpi_abi.h>

#define TUTTI_MPICH_EXTENSIONS 1

namespace tutti::mpi::own {

constexpr std::string_view name = "mpiabi";
constexpr bool is_open_mpi = false;

inline bool is_abi_of(const HostLibrary& library) { return library.standard; }

// The standard keeps these numbers.
inline bool is_op_of_host(Op op) { return static_cast<uint64_t>(op) < 4096; }

// The handles of types with a fixed size hold it, so a library need not be asked that lacks the
// type: Intel MPI 2021.19 then ends the job, whatever the error handlers.
inline size_t bytes_in_handle(Datatype type) {
  const auto handle = static_cast<uint64_t>(type);
  return handle >= 0x240 && handle < 0x300 ? size_t{1} << (handle >> 3 & 7) : 0;
}

inline const int* unweighted() { return MPI_UNWEIGHTED; }
inline const int* weights_empty() { return MPI_WEIGHTS_EMPTY; }

}  // namespace tutti::mpi::own
