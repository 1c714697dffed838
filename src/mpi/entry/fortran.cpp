#include "mpi/entry/fortran.h"

#include "mpi/host/inside.h"
#include "mpi/communicators/topology.h"
#include "mpi/entry/life.h"
#include "mpi/entry/memory.h"
#include "mpi/entry/spawn.h"

namespace tutti::mpi::fortran {

#if defined(TUTTI_FORTRAN_HANDLES_OF_C)

MPI_Comm c_communicator(MPI_Fint handle) { return handle; }
MPI_Info c_info(MPI_Fint handle) { return handle; }
MPI_Fint fortran_request(MPI_Request request) { return request; }
MPI_Datatype c_type(MPI_Fint handle) { return handle; }
MPI_Op c_op(MPI_Fint handle) { return handle; }
#ifdef TUTTI_SESSIONS
MPI_Session c_session(MPI_Fint handle) { return handle; }
#endif

#else

MPI_Comm c_communicator(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<MPI_Comm (*)(MPI_Fint)>(host_symbol(TUTTI_FORTRAN_TO_C(Comm)));
  return convert(handle);
}
MPI_Info c_info(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<MPI_Info (*)(MPI_Fint)>(host_symbol(TUTTI_FORTRAN_TO_C(Info)));
  return convert(handle);
}
MPI_Fint fortran_request(MPI_Request request) {
  static const auto convert =
      reinterpret_cast<MPI_Fint (*)(MPI_Request)>(host_symbol(TUTTI_FORTRAN_FROM_C(Request)));
  return convert(request);
}
MPI_Datatype c_type(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<MPI_Datatype (*)(MPI_Fint)>(host_symbol(TUTTI_FORTRAN_TO_C(Type)));
  return convert(handle);
}
MPI_Op c_op(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<MPI_Op (*)(MPI_Fint)>(host_symbol(TUTTI_FORTRAN_TO_C(Op)));
  return convert(handle);
}
#ifdef TUTTI_SESSIONS
MPI_Session c_session(MPI_Fint handle) {
  static const auto convert =
      reinterpret_cast<MPI_Session (*)(MPI_Fint)>(host_symbol(TUTTI_FORTRAN_TO_C(Session)));
  return convert(handle);
}
#endif

#endif

#if defined(TUTTI_FORTRAN_CALLS_PMPI)

namespace {

// Fortran's MPI_IN_PLACE and MPI_BOTTOM are common blocks, recognized by their addresses. Each has
// four names, one for each way in which Fortran compilers write names; the program's compiler
// chooses one.
struct Constants {
  const void* in_place[4];
  const void* bottom[4];
};

const Constants& constants() {
  static const Constants found{
      {host_symbol("mpi_fortran_in_place_"), host_symbol("mpi_fortran_in_place"),
       host_symbol("mpi_fortran_in_place__"), host_symbol("MPI_FORTRAN_IN_PLACE")},
      {host_symbol("mpi_fortran_bottom_"), host_symbol("mpi_fortran_bottom"),
       host_symbol("mpi_fortran_bottom__"), host_symbol("MPI_FORTRAN_BOTTOM")}};
  return found;
}

std::vector<MPI_Datatype> c_types_of(const MPI_Fint* handles, size_t parts) {
  std::vector<MPI_Datatype> types;
  for (size_t part = 0; part < parts; ++part) types.push_back(c_type(handles[part]));
  return types;
}

}  // namespace

void* c_address(void* buffer) {
  if (buffer == nullptr) return buffer;
  for (const void* in_place : constants().in_place)
    if (buffer == in_place) return MPI_IN_PLACE;
  for (const void* bottom : constants().bottom)
    if (buffer == bottom) return MPI_BOTTOM;
  return buffer;
}

std::vector<MPI_Datatype> c_types(const MPI_Fint* handles, MPI_Comm communicator,
                                  const void* buffer) {
  const AbiHost& mpi = abi_host();
  int ranks = 0, inter = 0;
  if (buffer == MPI_IN_PLACE || mpi.Comm_size == nullptr) return {};
  if (mpi.Comm_test_inter(communicator, &inter) != MPI_SUCCESS) return {};
  const auto size = inter != 0 ? mpi.Comm_remote_size : mpi.Comm_size;
  if (size(communicator, &ranks) != MPI_SUCCESS) return {};
  return c_types_of(handles, static_cast<size_t>(ranks));
}

std::vector<MPI_Datatype> c_types_in(const MPI_Fint* handles, MPI_Comm communicator) {
  if (host().foreign) return {};
  const auto neighbourhood = neighbourhood_of(house<Comm>(communicator));
  return c_types_of(handles, neighbourhood ? neighbourhood->destinations.size() : 0);
}

std::vector<MPI_Datatype> c_types_out(const MPI_Fint* handles, MPI_Comm communicator) {
  if (host().foreign) return {};
  const auto neighbourhood = neighbourhood_of(house<Comm>(communicator));
  return c_types_of(handles, neighbourhood ? neighbourhood->sources.size() : 0);
}

#endif

void init(const char* name, MPI_Fint* error) {
  before_init();
  const bool known = next_definition<void*>(name) != nullptr;
  int code = MPI_SUCCESS, provided = 0;
  if (servers_are_asked_for())
    code = begin_host(nullptr, nullptr, MPI_THREAD_SINGLE, &provided);
  else
    code = known ? call_next(name) : abi_host().Init(nullptr, nullptr);
  if (code == MPI_SUCCESS) code = after_init();
  set(error, code);
}

void init_thread(const char* name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  before_init();
  const bool known = next_definition<void*>(name) != nullptr;
  int code = MPI_SUCCESS;
  if (servers_are_asked_for())
    code = begin_host(nullptr, nullptr, *required, provided);
  else
    code = known ? call_next(name, required, provided)
                 : abi_host().Init_thread(nullptr, nullptr, *required, provided);
  if (code == MPI_SUCCESS) code = after_init();
  set(error, code);
}

void query_thread(const char*, MPI_Fint* provided, MPI_Fint* error) {
  set(error, mpi::query_thread(provided));
}

void finalize(const char*, MPI_Fint* error) { set(error, mpi::finalize()); }

void abort(const char* name, MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  before_abort();
  const bool known = next_definition<void*>(name) != nullptr;
  set(error, known ? call_next(name, comm, code) : abi_host().Abort(c_communicator(*comm), *code));
}

#ifdef TUTTI_SESSIONS
void session_init(const char* name, MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session,
                  MPI_Fint* error) {
  before_init();
  int code = call_next(name, info, handler, session);
  if (code == MPI_SUCCESS) code = after_session_init(house<Session>(c_session(*session)));
  set(error, code);
}

void session_finalize(const char* name, MPI_Fint* session, MPI_Fint* error) {
  before_session_finalize(house<Session>(c_session(*session)));
  set(error, call_next(name, session));
}
#endif

void merge(const char* name, MPI_Fint* inter, MPI_Fint* high, MPI_Fint* merged, MPI_Fint* error) {
  const int code = call_next(name, inter, high, merged);
  if (code == MPI_SUCCESS)
    note_merge(house<Comm>(c_communicator(*inter)), house<Comm>(c_communicator(*merged)));
  set(error, code);
}

// A root in Fortran never starts tutti-run by way of env, but the other parents may be in C and
// wait for its answer.
void spawn(const char* name, char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
           MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error,
           size_t command_length, size_t argv_length) {
  using Routine = void (*)(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*, MPI_Fint*, size_t, size_t);
  const bool through_us = tell_spawn(house<Comm>(c_communicator(*comm)), *root, false);
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<Routine>(name)) {
    const Inside inside;  // it may call the function of C
    next(command, argv, maxprocs, info, root, comm, intercomm, errcodes, &code, command_length,
         argv_length);
  }
  if (code == MPI_SUCCESS && through_us) meet_children(house<Comm>(c_communicator(*intercomm)));
  set(error, code);
}

void alloc_mem(const char*, MPI_Aint* size, MPI_Fint* info, void* baseptr, MPI_Fint* error) {
  set(error, mpi::alloc_mem(*size, house<Info>(c_info(*info)), baseptr));
}

void free_mem(const char*, void* base, MPI_Fint* error) { set(error, mpi::free_mem(base)); }

}  // namespace tutti::mpi::fortran
