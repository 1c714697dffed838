// The host MPI's functions with the types of mpi.h, for the entry points and for what calls with
// them. host/host.h has the same functions with the house's types, and the rest.
#pragma once

#include "mpi/abi/abi.h"
#include "mpi/abi/convert.h"
#include "mpi/host/host.h"

namespace tutti::mpi {

// The types of a function table in mpi.h (HouseTypes in host/handles.h has the others).
struct TheirTypes {
  using Comm = MPI_Comm;
  using Datatype = MPI_Datatype;
  using Errhandler = MPI_Errhandler;
  using File = MPI_File;
  using Group = MPI_Group;
  using Info = MPI_Info;
  using Message = MPI_Message;
  using Op = MPI_Op;
  using Request = MPI_Request;
#ifdef TUTTI_SESSIONS
  using Session = MPI_Session;
#else
  using Session = void*;
#endif
  using Win = MPI_Win;
  using Count = MPI_Count;
  using Aint = MPI_Aint;
  using Offset = MPI_Offset;
  using Status = MPI_Status;
  using ErrorHandler = MPI_Comm_errhandler_function;
  using CopyAttribute = MPI_Comm_copy_attr_function;
  using DeleteAttribute = MPI_Comm_delete_attr_function;
  using Types = const MPI_Datatype*;
  using TypesOut = MPI_Datatype*;
  using Requests = MPI_Request*;
  using ConstRequests = const MPI_Request*;
  using Statuses = MPI_Status*;
};

using AbiHost = Functions<TheirTypes>;
extern AbiHost abi_functions;  // filled when the Host is made

// The functions as above. The first call makes the Host.
inline const AbiHost& abi_host() {
  host();
  return abi_functions;
}

}  // namespace tutti::mpi
