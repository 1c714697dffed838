// The ABI of MPICH, which Intel MPI, MVAPICH and Cray MPICH share.
#pragma once

#define MPICH_SKIP_MPICXX 1
#include <cstdint>
#include <string_view>

#include <mpi.h>

#define TUTTI_MPICH_EXTENSIONS 1

namespace tutti::mpi::own {

constexpr std::string_view name = "mpich";
constexpr bool is_open_mpi = false;

inline bool is_abi_of(const HostLibrary& library) {
  return library.named_mpi && !library.open_mpi && !library.standard;
}

// MPICH's kind of handle: built in.
inline bool is_op_of_host(Op op) { return static_cast<uint32_t>(op) >> 30 == 1; }

// No handle of a type holds its size.
inline size_t bytes_in_handle(Datatype) { return 0; }

// MPICH has these addresses as data.
inline const int* weights_at(const char* name) {
  const auto* const at = static_cast<const int* const*>(host_symbol(name));
  return at == nullptr ? nullptr : *at;
}
inline const int* unweighted() { return weights_at("MPI_UNWEIGHTED"); }
inline const int* weights_empty() { return weights_at("MPI_WEIGHTS_EMPTY"); }

}  // namespace tutti::mpi::own
