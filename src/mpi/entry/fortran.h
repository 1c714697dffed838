// The conversion of Fortran's arguments to those of C, and the bodies of the Fortran routines that
// are not collectives. Internal to this directory. fortran_entries.cpp lists the routines and
// explains why they are needed.
//
// All arguments of a routine are addresses; `error` may be null (it is optional in mpi_f08).
// Handles are integers that the host converts. The first argument of a body is the routine's own
// name, by which the body finds the host library's routine of that name. Any thread may call.
#pragma once

#include <dlfcn.h>

#include <vector>

#include "mpi/abi/abi_host.h"
#include "mpi/job/thrown.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))
#define TUTTI_SAME_AS(name) __attribute__((visibility("default"), alias(name)))

namespace tutti::mpi::fortran {

inline void set(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

// The host library's routine of this name; null if it has none.
template <class Routine>
Routine next_definition(const char* name) {
  return reinterpret_cast<Routine>(dlsym(RTLD_NEXT, name));
}

// Calls the host library's routine of this name and returns its error code, which is its last
// argument; MPI_ERR_OTHER if the library has no such routine.
template <class... Arguments>
int call_next(const char* name, Arguments*... arguments) {
  const auto routine = next_definition<void (*)(Arguments*..., MPI_Fint*)>(name);
  MPI_Fint code = MPI_ERR_OTHER;
  if (routine != nullptr) routine(arguments..., &code);
  return code;
}

// Conversions of handles, by functions of the host that are looked up once. In MPICH, handles are
// the same integers in both languages.
MPI_Comm c_communicator(MPI_Fint handle);
MPI_Info c_info(MPI_Fint handle);
MPI_Fint fortran_request(MPI_Request request);
MPI_Datatype c_type(MPI_Fint handle);
MPI_Op c_op(MPI_Fint handle);
#ifdef TUTTI_SESSIONS
MPI_Session c_session(MPI_Fint handle);
#endif
#if defined(TUTTI_FORTRAN_CALLS_PMPI)
// C's MPI_IN_PLACE or MPI_BOTTOM if the address is that of Fortran's, else the address itself.
void* c_address(void* buffer);
// The types of the parts of an alltoallw's buffer, one for each rank. None if the buffer is
// MPI_IN_PLACE, because the handles may then be anything, and none after an error of the host.
std::vector<MPI_Datatype> c_types(const MPI_Fint* handles, MPI_Comm communicator,
                                  const void* buffer);
// The types of the parts that this rank sends in a neighbourhood collective (`in`) or receives.
// None if the communicator has no topology.
std::vector<MPI_Datatype> c_types_in(const MPI_Fint* handles, MPI_Comm communicator);
std::vector<MPI_Datatype> c_types_out(const MPI_Fint* handles, MPI_Comm communicator);
#endif

// Makes a request by make(&request) and converts its handle. `make` returns an error code.
template <class Make>
void make_request(MPI_Fint* request, MPI_Fint* error, Make make) {
  MPI_Request made{};
  const int code = guarded(host().comm_self, [&] { return make(&made); });
  if (code == MPI_SUCCESS) *request = fortran_request(made);
  set(error, code);
}

// Beginning and end (life.h), memory (memory.h), processes of other jobs (spawn.h).
void init(const char* name, MPI_Fint* error);
void init_thread(const char* name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
void query_thread(const char* name, MPI_Fint* provided, MPI_Fint* error);
void finalize(const char* name, MPI_Fint* error);
void abort(const char* name, MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error);
#ifdef TUTTI_SESSIONS
void session_init(const char* name, MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session,
                  MPI_Fint* error);
void session_finalize(const char* name, MPI_Fint* session, MPI_Fint* error);
#endif
void merge(const char* name, MPI_Fint* inter, MPI_Fint* high, MPI_Fint* merged, MPI_Fint* error);
// The lengths of the two character arguments come last, by value.
void spawn(const char* name, char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
           MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error,
           size_t command_length, size_t argv_length);
// `baseptr` is the address of an integer of MPI_ADDRESS_KIND or of a type(c_ptr); both are the same
// here.
void alloc_mem(const char* name, MPI_Aint* size, MPI_Fint* info, void* baseptr, MPI_Fint* error);
void free_mem(const char* name, void* base, MPI_Fint* error);

}  // namespace tutti::mpi::fortran
