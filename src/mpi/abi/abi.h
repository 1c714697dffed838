// The MPI of this build: TUTTI_ABI_MPICH, TUTTI_ABI_OPENMPI, TUTTI_ABI_STANDARD or TUTTI_ABI_SMPI
// (SimGrid's, whose ranks are simulated). Every file that uses mpi.h includes it through this
// header and is compiled once for each of them.
//
// The library must load into programs without MPI (a shell under tutti-run), so it refers to no
// symbol of an MPI. Functions are called through tables (host/host.h, abi/abi_host.h). Open MPI's
// handles, which are addresses of its data, are looked up by name; so a handle such as MPI_INT
// costs a search and belongs in tables made at set-up. Constants only, for any thread.
#pragma once

#if defined(TUTTI_ABI_STANDARD)
#include <mpi_abi.h>
#else
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include <mpi.h>
#endif

namespace tutti::mpi {

// The address of a data symbol of the host MPI; null if it has none of that name.
void* host_symbol(const char* name);

}  // namespace tutti::mpi

#if defined(TUTTI_ABI_OPENMPI)
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::tutti::mpi::host_symbol(#global)))
#endif

#if defined(TUTTI_ABI_SMPI)
// SMPI's header defines these by names that it does not declare, and SMPI has only one float
// complex.
#undef MPI_CXX_FLOAT_COMPLEX
#undef MPI_CXX_DOUBLE_COMPLEX
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_DATATYPE_NULL
#endif

// Sessions came with MPI 4; Open MPI 5 has them, although its MPI_VERSION is 3.
#ifdef MPI_SESSION_NULL
#define TUTTI_SESSIONS 1
#endif

// SimGrid declares MPI_Compare_and_swap with other parameters than the standard.
#ifndef TUTTI_ABI_SMPI
#define TUTTI_WINDOWS 1
#endif

// The large-count forms came with MPI 4.
#if MPI_VERSION >= 4
#define TUTTI_LARGE_COUNTS 1
#endif
