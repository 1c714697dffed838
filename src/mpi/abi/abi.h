// The MPI of this build. TUTTI_ABI is the file that describes it: mpich.h, openmpi.h, standard.h or
// smpi.h. Every file that uses mpi.h includes it through this header and is compiled once for each
// of them.
//
// Such a file includes the MPI's header and says in namespace `own` which ABI it is, which
// libraries have it (is_abi_of), which operations are the host's own, also those that only this
// host has (MPICH's MPIX_EQUAL; is_op_of_host), the size that the handle of a type holds
// (bytes_in_handle), and the addresses that stand for missing weights. Its macros say what the MPI
// lacks or has beside the standard.
//
// The library must load into programs without MPI (a shell under tutti-run), so it refers to no
// symbol of an MPI. Functions are called through tables (host/host.h, abi/abi_host.h). Open MPI's
// handles, which are addresses of its data, are looked up by name; so a handle such as MPI_INT
// costs a search and belongs in tables made at set-up. Constants only, for any thread.
#pragma once

#include <string_view>

#include "mpi/host/abi.h"

namespace tutti::mpi {

// The address of a data symbol of the host MPI; null if it has none of that name.
void* host_symbol(const char* name);

// The library that defines PMPI_Init, as far as it shows its ABI.
struct HostLibrary {
  std::string_view file;  // without its directory
  bool named_mpi;         // the file is called libmpi or libpmpi
  bool open_mpi;          // it has Open MPI's data
  bool standard;          // it is called as the standard asks for
};

}  // namespace tutti::mpi

#include TUTTI_ABI

// Sessions came with MPI 4; Open MPI 5 has them, although its MPI_VERSION is 3.
#ifdef MPI_SESSION_NULL
#define TUTTI_SESSIONS 1
#endif

#ifndef TUTTI_NO_WINDOWS
#define TUTTI_WINDOWS 1
#endif

// The large-count forms came with MPI 4.
#if MPI_VERSION >= 4
#define TUTTI_LARGE_COUNTS 1
#endif
