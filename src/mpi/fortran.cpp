// The Fortran entry points that would pass Tutti by.
//
// MPICH and Intel MPI: mpif.h, `use mpi` and every mpi_f08 routine with a choice buffer call MPI_* and so arrive at the
// C entry points; the mpi_f08 routines without one call PMPI_* and are replaced here. Open MPI: every routine calls
// PMPI_*, so all are replaced, under the names that compilers give them. Begin and end are wrapped, not replaced, since
// the libraries set up their Fortran constants there. `error` may be null (optional in mpi_f08).
#include <dlfcn.h>

#include "mpi/calls.h"
#include "mpi/life.h"
#include "mpi/spawn.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))
#define TUTTI_SAME_AS(name) __attribute__((visibility("default"), alias(name)))

using namespace tutti;

#if defined(TUTTI_ABI_STANDARD)
using MPI_Fint = int;  // the standard ABI leaves it to the Fortran compiler, whose default it is
#endif

namespace {

using OneArgument = void (*)(MPI_Fint* error);
using ThreeArguments = void (*)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
using TwoArguments = void (*)(MPI_Fint* session, MPI_Fint* error);
using FourArguments = void (*)(MPI_Fint* one, MPI_Fint* two, MPI_Fint* result, MPI_Fint* error);
// The lengths of the two texts come last, by value.
using Spawn = void (*)(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info, MPI_Fint* root, MPI_Fint* comm,
                       MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
                       size_t argv_length);

template <class Function>
Function next_definition(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void set(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

void init(const char* next_name, MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<OneArgument>(next_name))
    next(&code);
  else
    code = mpi::host().Init(nullptr, nullptr);
  if (code == MPI_SUCCESS) mpi::after_init();
  set(error, code);
}

void init_thread(const char* next_name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<ThreeArguments>(next_name))
    next(required, provided, &code);
  else
    code = mpi::host().Init_thread(nullptr, nullptr, *required, provided);
  if (code == MPI_SUCCESS) mpi::after_init();
  set(error, code);
}

void finalize(MPI_Fint* error) { set(error, mpi::finalize()); }

// A handle as C knows it.
MPI_Comm c_communicator(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert = reinterpret_cast<decltype(&PMPI_Comm_f2c)>(mpi::host_symbol("PMPI_Comm_f2c"));
  return convert(handle);
#else
  static const auto convert = reinterpret_cast<decltype(&PMPI_Comm_fromint)>(mpi::host_symbol("PMPI_Comm_fromint"));
  return convert(handle);
#endif
}

#ifdef TUTTI_SESSIONS
MPI_Session c_session(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert = reinterpret_cast<decltype(&PMPI_Session_f2c)>(mpi::host_symbol("PMPI_Session_f2c"));
  return convert(handle);
#else
  static const auto convert = reinterpret_cast<decltype(&PMPI_Session_fromint)>(mpi::host_symbol("PMPI_Session_fromint"));
  return convert(handle);
#endif
}

void session_init(const char* next_name, MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session, MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<FourArguments>(next_name)) next(info, handler, session, &code);
  if (code == MPI_SUCCESS) mpi::after_session_init(c_session(*session));
  set(error, code);
}

void session_finalize(const char* next_name, MPI_Fint* session, MPI_Fint* error) {
  mpi::before_session_finalize(c_session(*session));
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<TwoArguments>(next_name)) next(session, &code);
  set(error, code);
}
#endif

void merge(const char* next_name, MPI_Fint* inter, MPI_Fint* high, MPI_Fint* merged, MPI_Fint* error) {
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<FourArguments>(next_name)) next(inter, high, merged, &code);
  if (code == MPI_SUCCESS) mpi::note_merge(c_communicator(*inter), c_communicator(*merged));
  set(error, code);
}

// A root in Fortran leaves its command as it is, but others in C may be waiting for its word.
void spawn(const char* next_name, char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info, MPI_Fint* root,
           MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
           size_t argv_length) {
  const bool through_us = mpi::tell_spawn(c_communicator(*comm), *root, false);
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<Spawn>(next_name)) {
    const mpi::Inside inside;  // it may call C's
    next(command, argv, maxprocs, info, root, comm, intercomm, errcodes, &code, command_length, argv_length);
  }
  if (code == MPI_SUCCESS && through_us) mpi::meet_children(c_communicator(*intercomm));
  set(error, code);
}

}  // namespace

// mpi_f08's own, in all of the libraries.
#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_f08_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session, MPI_Fint* error) {
  session_init("mpi_session_init_f08_", info, errhandler, session, error);
}
TUTTI_ENTRY void mpi_session_finalize_f08_(MPI_Fint* session, MPI_Fint* error) {
  session_finalize("mpi_session_finalize_f08_", session, error);
}
#endif
TUTTI_ENTRY void mpi_intercomm_merge_f08_(MPI_Fint* intercomm, MPI_Fint* high, MPI_Fint* newintracomm, MPI_Fint* error) {
  merge("mpi_intercomm_merge_f08_", intercomm, high, newintracomm, error);
}
TUTTI_ENTRY void mpi_comm_spawn_f08_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info, MPI_Fint* root,
                                     MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error,
                                     size_t command_length, size_t argv_length) {
  spawn("mpi_comm_spawn_f08_", command, argv, maxprocs, info, root, comm, intercomm, errcodes, error, command_length,
        argv_length);
}

TUTTI_ENTRY void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) { set(error, mpi::barrier(c_communicator(*comm))); }

#if !defined(TUTTI_ABI_OPENMPI)

TUTTI_ENTRY void mpi_init_f08_(MPI_Fint* error) { init("mpi_init_f08_", error); }
TUTTI_ENTRY void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread("mpi_init_thread_f08_", required, provided, error);
}
TUTTI_ENTRY void mpi_finalize_f08_(MPI_Fint* error) { finalize(error); }

#else

namespace {

MPI_Datatype c_type(MPI_Fint handle) {
  static const auto convert = reinterpret_cast<decltype(&PMPI_Type_f2c)>(mpi::host_symbol("PMPI_Type_f2c"));
  return convert(handle);
}

MPI_Op c_op(MPI_Fint handle) {
  static const auto convert = reinterpret_cast<decltype(&PMPI_Op_f2c)>(mpi::host_symbol("PMPI_Op_f2c"));
  return convert(handle);
}

// MPI_IN_PLACE and MPI_BOTTOM of Fortran are common blocks, known by address; each has a name for every way in which
// compilers write names, and which of them the program uses is the compiler's choice.
struct Constants {
  const void* in_place[4];
  const void* bottom[4];
};

const Constants& constants() {
  using mpi::host_symbol;
  static const Constants found{
      {host_symbol("mpi_fortran_in_place_"), host_symbol("mpi_fortran_in_place"), host_symbol("mpi_fortran_in_place__"),
       host_symbol("MPI_FORTRAN_IN_PLACE")},
      {host_symbol("mpi_fortran_bottom_"), host_symbol("mpi_fortran_bottom"), host_symbol("mpi_fortran_bottom__"),
       host_symbol("MPI_FORTRAN_BOTTOM")}};
  return found;
}

void* c_address(void* buffer) {
  if (buffer == nullptr) return buffer;
  for (const void* in_place : constants().in_place)
    if (buffer == in_place) return MPI_IN_PLACE;
  for (const void* bottom : constants().bottom)
    if (buffer == bottom) return MPI_BOTTOM;
  return buffer;
}

}  // namespace

TUTTI_ENTRY void mpi_init_(MPI_Fint* error) { init("mpi_init_", error); }
TUTTI_ENTRY void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread("mpi_init_thread_", required, provided, error);
}
TUTTI_ENTRY void mpi_finalize_(MPI_Fint* error) { finalize(error); }

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session, MPI_Fint* error) {
  session_init("mpi_session_init_", info, errhandler, session, error);
}
TUTTI_ENTRY void mpi_session_finalize_(MPI_Fint* session, MPI_Fint* error) {
  session_finalize("mpi_session_finalize_", session, error);
}
#endif
TUTTI_ENTRY void mpi_intercomm_merge_(MPI_Fint* intercomm, MPI_Fint* high, MPI_Fint* newintracomm, MPI_Fint* error) {
  merge("mpi_intercomm_merge_", intercomm, high, newintracomm, error);
}
TUTTI_ENTRY void mpi_comm_spawn_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info, MPI_Fint* root,
                                 MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error,
                                 size_t command_length, size_t argv_length) {
  spawn("mpi_comm_spawn_", command, argv, maxprocs, info, root, comm, intercomm, errcodes, error, command_length,
        argv_length);
}

TUTTI_ENTRY void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error) { set(error, mpi::barrier(c_communicator(*comm))); }

TUTTI_ENTRY void mpi_bcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root, MPI_Fint* comm,
                            MPI_Fint* error) {
  set(error, mpi::bcast(c_address(buffer), *count, c_type(*datatype), *root, c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_reduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op,
                             MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::reduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype), c_op(*op), *root,
                         c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op,
                                MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::allreduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype), c_op(*op),
                            c_communicator(*comm), mpi::Form::plain));
}

// The other names of the same routines.
extern "C" {
void MPI_INIT(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init__(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init_f08_(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");

void MPI_INIT_THREAD(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread__(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread_f08_(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");

void MPI_FINALIZE(MPI_Fint*) TUTTI_SAME_AS("mpi_finalize_");
void mpi_finalize(MPI_Fint*) TUTTI_SAME_AS("mpi_finalize_");
void mpi_finalize__(MPI_Fint*) TUTTI_SAME_AS("mpi_finalize_");
void mpi_finalize_f08_(MPI_Fint*) TUTTI_SAME_AS("mpi_finalize_");

#ifdef TUTTI_SESSIONS
void MPI_SESSION_INIT(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_init_");
void mpi_session_init(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_init_");
void mpi_session_init__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_init_");

void MPI_SESSION_FINALIZE(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
#endif

void MPI_INTERCOMM_MERGE(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_intercomm_merge_");

void MPI_COMM_SPAWN(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, size_t,
                    size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, size_t,
                    size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn__(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, size_t,
                      size_t) TUTTI_SAME_AS("mpi_comm_spawn_");

void MPI_BARRIER(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");

void MPI_BCAST(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_");

void MPI_REDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");

void MPI_ALLREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
}

#endif
