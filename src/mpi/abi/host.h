// The host MPI: the PMPI functions that Tutti calls, found in the process when the first MPI call
// arrives.
//
// One object a process, made once, constant from then on; any thread may read it. Where the process
// runs an MPI of another ABI than this build's (two interposers may be preloaded into an
// interpreter), the entry points pass their calls on to the next definition of MPI_* and Tutti
// stays out.
#pragma once

#include "mpi/abi/host_functions.h"
#include "shm/order.h"

namespace tutti::mpi {

// The functions that make and free communicators are here by both names, each the next definition
// behind this library: that of a tool in between, or the host's.
struct Host : HostFunctions, CommunicatorFunctions {  // PMPI_*
  CommunicatorFunctions makers;                       // MPI_*

  // Handles, looked up once.
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

  bool foreign = false;
};

// True where programs may outlive failed ranks (Open MPI's --with-ft): what a collective then
// returns, and that it returns at all, is the host's to say. Asked after MPI_Init.
bool host_tolerates_faults();

extern shm::Word found_host;  // its address; 0 before the first MPI call arrives
const Host& find_host();

// Prints one line and ends the process where it holds no MPI at all.
inline const Host& host() {
  const uint64_t found = shm::observe(found_host);
  return found != 0 ? *reinterpret_cast<const Host*>(found) : find_host();
}

}  // namespace tutti::mpi
