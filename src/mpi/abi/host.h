// The host MPI: pointers to its PMPI functions, and its predefined handles.
//
// A process has one Host. The first MPI call makes it. It is constant from then on, lives until the
// process ends, and any thread may read it. If the process runs an MPI of another ABI than this
// build's (two interposers may be preloaded into an interpreter), the Host is `foreign`: the entry
// points then only call the next definition of MPI_*, and Tutti does nothing else.
#pragma once

#include "mpi/abi/host_functions.h"
#include "shm/order.h"

namespace tutti::mpi {

// The functions that make and free communicators are stored under both names, PMPI_* and MPI_*.
// Each pointer is the definition that follows this library's: a tool's or the host's. All other
// pointers are to the host's own functions. None is to this library's, which interposes many
// PMPI_*, too.
struct Host : HostFunctions, CommunicatorFunctions {  // PMPI_*
  CommunicatorFunctions makers;                       // MPI_*

  // Handles. Each is looked up once, because a look-up by name costs a search (net/abi.h).
  MPI_Comm comm_null;
  MPI_Comm comm_world;
  MPI_Comm comm_self;
  MPI_Datatype type_null;
  MPI_Datatype type_byte;
  MPI_Datatype type_packed;
  MPI_Datatype type_uint64;
  MPI_Op op_null;
  MPI_Op op_sum;
  MPI_Op op_min;
  MPI_Op op_max;
  MPI_Info info_null;
  MPI_Group group_null;

  // The process's MPI has another ABI. The pointers to interposed functions are then those of
  // MPI_*; handles, and functions that only Tutti calls, are not set.
  bool foreign = false;
};

// True if a program may go on after ranks have failed (Open MPI's --with-ft). Only the host can
// then return from a collective that a failed rank does not enter. To be called after MPI_Init.
bool host_tolerates_faults();

extern shm::Word found_host;  // the address of the Host; 0 before the first MPI call
const Host& find_host();

// The Host. The first call makes it; if the process has no MPI library, that call prints one line
// and ends the process.
inline const Host& host() {
  const uint64_t found = shm::observe(found_host);
  return found != 0 ? *reinterpret_cast<const Host*>(found) : find_host();
}

// What the host says of itself: its name and version.
std::string host_version();

}  // namespace tutti::mpi
