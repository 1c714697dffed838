// The Fortran entry points of the begin and the end, and of what makes communicators with other
// processes: the library's own routine is called, and Tutti told of it. Which of them would pass
// the C entry points by is told in fortran.cpp.
#include "mpi/fortran.h"

#include "mpi/book.h"
#include "mpi/life.h"
#include "mpi/spawn.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

namespace {

using OneArgument = void (*)(MPI_Fint* error);
using ThreeArguments = void (*)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error);
using TwoArguments = void (*)(MPI_Fint* session, MPI_Fint* error);
using FourArguments = void (*)(MPI_Fint* one, MPI_Fint* two, MPI_Fint* result, MPI_Fint* error);
// The lengths of the two texts come last, by value.
using Spawn = void (*)(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
                       MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes,
                       MPI_Fint* error, size_t command_length, size_t argv_length);

void init(const char* next_name, MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<OneArgument>(next_name))
    next(&code);
  else
    code = mpi::host().Init(nullptr, nullptr);
  if (code == MPI_SUCCESS) code = mpi::after_init();
  set(error, code);
}

void init_thread(const char* next_name, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<ThreeArguments>(next_name))
    next(required, provided, &code);
  else
    code = mpi::host().Init_thread(nullptr, nullptr, *required, provided);
  if (code == MPI_SUCCESS) code = mpi::after_init();
  set(error, code);
}

void finalize(MPI_Fint* error) { set(error, mpi::finalize()); }

void abort(const char* next_name, MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {
  mpi::before_abort();
  if (const auto next = next_definition<ThreeArguments>(next_name))
    next(comm, code, error);
  else
    set(error, mpi::host().Abort(c_communicator(*comm), *code));
}

#ifdef TUTTI_SESSIONS
MPI_Session c_session(MPI_Fint handle) {
#if defined(TUTTI_ABI_MPICH)
  return handle;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Session_f2c)>(mpi::host_symbol("PMPI_Session_f2c"));
  return convert(handle);
#else
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Session_fromint)>(mpi::host_symbol("PMPI_Session_fromint"));
  return convert(handle);
#endif
}

void session_init(const char* next_name, MPI_Fint* info, MPI_Fint* handler, MPI_Fint* session,
                  MPI_Fint* error) {
  mpi::before_init();
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<FourArguments>(next_name))
    next(info, handler, session, &code);
  if (code == MPI_SUCCESS) code = mpi::after_session_init(c_session(*session));
  set(error, code);
}

void session_finalize(const char* next_name, MPI_Fint* session, MPI_Fint* error) {
  mpi::before_session_finalize(c_session(*session));
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<TwoArguments>(next_name)) next(session, &code);
  set(error, code);
}
#endif

void merge(const char* next_name, MPI_Fint* inter, MPI_Fint* high, MPI_Fint* merged,
           MPI_Fint* error) {
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<FourArguments>(next_name)) next(inter, high, merged, &code);
  if (code == MPI_SUCCESS) mpi::note_merge(c_communicator(*inter), c_communicator(*merged));
  set(error, code);
}

// A root in Fortran leaves its command as it is, but others in C may be waiting for its word.
void spawn(const char* next_name, char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
           MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm, MPI_Fint* errcodes, MPI_Fint* error,
           size_t command_length, size_t argv_length) {
  const bool through_us = mpi::tell_spawn(c_communicator(*comm), *root, false);
  MPI_Fint code = MPI_ERR_OTHER;
  if (const auto next = next_definition<Spawn>(next_name)) {
    const mpi::Inside inside;  // it may call C's
    next(command, argv, maxprocs, info, root, comm, intercomm, errcodes, &code, command_length,
         argv_length);
  }
  if (code == MPI_SUCCESS && through_us) mpi::meet_children(c_communicator(*intercomm));
  set(error, code);
}

}  // namespace

// mpi_f08's own, in all of the libraries.
#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_f08_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session,
                                       MPI_Fint* error) {
  session_init("mpi_session_init_f08_", info, errhandler, session, error);
}
TUTTI_ENTRY void mpi_session_finalize_f08_(MPI_Fint* session, MPI_Fint* error) {
  session_finalize("mpi_session_finalize_f08_", session, error);
}
#endif
TUTTI_ENTRY void mpi_intercomm_merge_f08_(MPI_Fint* intercomm, MPI_Fint* high,
                                          MPI_Fint* newintracomm, MPI_Fint* error) {
  merge("mpi_intercomm_merge_f08_", intercomm, high, newintracomm, error);
}
TUTTI_ENTRY void mpi_comm_spawn_f08_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
                                     MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm,
                                     MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
                                     size_t argv_length) {
  spawn("mpi_comm_spawn_f08_", command, argv, maxprocs, info, root, comm, intercomm, errcodes,
        error, command_length, argv_length);
}

#if !defined(TUTTI_ABI_OPENMPI)

TUTTI_ENTRY void mpi_init_f08_(MPI_Fint* error) { init("mpi_init_f08_", error); }
TUTTI_ENTRY void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread("mpi_init_thread_f08_", required, provided, error);
}
TUTTI_ENTRY void mpi_finalize_f08_(MPI_Fint* error) { finalize(error); }
TUTTI_ENTRY void mpi_abort_f08_(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* error) {
  abort("mpi_abort_f08_", comm, errorcode, error);
}

#else

TUTTI_ENTRY void mpi_init_(MPI_Fint* error) { init("mpi_init_", error); }
TUTTI_ENTRY void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread("mpi_init_thread_", required, provided, error);
}
TUTTI_ENTRY void mpi_finalize_(MPI_Fint* error) { finalize(error); }
TUTTI_ENTRY void mpi_abort_(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* error) {
  abort("mpi_abort_", comm, errorcode, error);
}

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session,
                                   MPI_Fint* error) {
  session_init("mpi_session_init_", info, errhandler, session, error);
}
TUTTI_ENTRY void mpi_session_finalize_(MPI_Fint* session, MPI_Fint* error) {
  session_finalize("mpi_session_finalize_", session, error);
}
#endif
TUTTI_ENTRY void mpi_intercomm_merge_(MPI_Fint* intercomm, MPI_Fint* high, MPI_Fint* newintracomm,
                                      MPI_Fint* error) {
  merge("mpi_intercomm_merge_", intercomm, high, newintracomm, error);
}
TUTTI_ENTRY void mpi_comm_spawn_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
                                 MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm,
                                 MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
                                 size_t argv_length) {
  spawn("mpi_comm_spawn_", command, argv, maxprocs, info, root, comm, intercomm, errcodes, error,
        command_length, argv_length);
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

void MPI_ABORT(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_abort_");
void mpi_abort(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_abort_");
void mpi_abort__(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_abort_");
void mpi_abort_f08_(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_abort_");

#ifdef TUTTI_SESSIONS
void MPI_SESSION_INIT(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_session_init_");
void mpi_session_init(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_session_init_");
void mpi_session_init__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_session_init_");

void MPI_SESSION_FINALIZE(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
#endif

void MPI_INTERCOMM_MERGE(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");

void MPI_COMM_SPAWN(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn__(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
}

#endif
