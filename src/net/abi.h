// The MPI that this build speaks: TUTTI_ABI_MPICH, TUTTI_ABI_OPENMPI or TUTTI_ABI_STANDARD. Every file of this room
// includes MPI through here and is compiled once for each.
//
// The library must load into programs without MPI (a shell under tutti-run), so it refers to no symbol of an MPI:
// functions are called through Host (host.h) and Open MPI's handles, which are addresses of its data, are looked up by
// name. A handle such as MPI_INT therefore costs a search and belongs in tables made at set-up.
#pragma once

#if defined(TUTTI_ABI_STANDARD)
#include <mpi_abi.h>
#else
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include <mpi.h>
#endif

#include <string_view>

namespace tutti::mpi {

enum class Abi { mpich, openmpi, standard };

#if defined(TUTTI_ABI_MPICH)
inline constexpr Abi abi = Abi::mpich;
inline constexpr std::string_view abi_name = "mpich";
#elif defined(TUTTI_ABI_OPENMPI)
inline constexpr Abi abi = Abi::openmpi;
inline constexpr std::string_view abi_name = "openmpi";
#elif defined(TUTTI_ABI_STANDARD)
inline constexpr Abi abi = Abi::standard;
inline constexpr std::string_view abi_name = "mpiabi";
#else
#error "define TUTTI_ABI_MPICH, TUTTI_ABI_OPENMPI or TUTTI_ABI_STANDARD"
#endif

// The address of a data symbol of the host MPI, null where it has none of that name.
void* host_symbol(const char* name);

}  // namespace tutti::mpi

#if defined(TUTTI_ABI_OPENMPI)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::tutti::mpi::host_symbol(#global)))
#endif

// Sessions came with MPI 4; Open MPI 5 has them while it says 3.
#ifdef MPI_SESSION_NULL
#define TUTTI_SESSIONS 1
#endif

// The large-count forms came with MPI 4.
#if MPI_VERSION >= 4
#define TUTTI_LARGE_COUNTS 1
#endif
