// The host MPI: pointers to its PMPI functions, and its predefined handles.
//
// The functions take the house's types (handles.h). Those of MPI's library take its own, so each
// pointer is to a function that converts the arguments and calls the other (abi/bridge.h).
//
// A process has one Host. The first MPI call makes it. It is constant from then on, lives until the
// process ends, and any thread may read it. If the process runs an MPI of another ABI than this
// build's (two interposers may be preloaded into an interpreter), the Host is `foreign`: the entry
// points then only call the next definition of PMPI_*, and Tutti does nothing else.
#pragma once

#include <string>

#include "mpi/host/abi.h"
#include "mpi/host/handles.h"
#include "mpi/host/host_functions.h"
#include "shm/order.h"

namespace tutti::mpi {

// All pointers are to the functions of the host's library, and none to this library's, which has
// the same names. Exceptions are the functions of a tool that Tutti calls instead (tools.h): those
// that begin and end MPI, and `makers`, which the entry points MPI_* call to make and free
// communicators.
template <class AbiTypes>
struct Functions : HostFunctions<AbiTypes>, CommunicatorFunctions<AbiTypes> {
  CommunicatorFunctions<AbiTypes> makers;
};

struct Host : Functions<HouseTypes> {
  using Comm = mpi::Comm;
  using Info = mpi::Info;
  using Group = mpi::Group;
  using Request = mpi::Request;

  // Handles. Each is looked up once, because a look-up by name costs a search (abi/abi.h).
  Comm comm_null;
  Comm comm_world;
  Comm comm_self;
  Datatype type_null;
  Datatype type_byte;
  Datatype type_packed;
  Datatype type_uint64;
  Op op_null;
  Op op_sum;
  Op op_min;
  Op op_max;
  Info info_null;
  Group group_null;
  Request request_null;
  // MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY; null if the host does not tell them.
  const int* unweighted;
  const int* weights_empty;

  // The process's MPI has another ABI. The pointers to interposed functions are then to the
  // next definitions; handles, and functions that only Tutti calls, are not set.
  bool foreign = false;
};

// True if a program may go on after ranks have failed (Open MPI's --with-ft). Only the host can
// then return from a collective that a failed rank does not enter. Call it after MPI_Init.
bool host_tolerates_faults();

extern shm::Word found_host;  // the address of the Host; 0 before the first MPI call
const Host& find_host();

// The Host. The first call makes it; if the process has no MPI library, that call prints one line
// and ends the process.
inline const Host& host() {
  const uint64_t found = shm::observe(found_host);
  return found != 0 ? *reinterpret_cast<const Host*>(found) : find_host();
}

// MPI_Comm_create_keyval. If `is_copied`, a duplicate of a communicator gets its value.
// at_end(value), if it is not null, is called when a communicator with a value ends.
void make_keyval(bool is_copied, void (*at_end)(void* value), int* keyval);

// The value of a communicator's attribute; null if it has none.
void* attribute_of(Comm handle, int keyval);

// The name and version that the host says of itself.
std::string host_version();

}  // namespace tutti::mpi
