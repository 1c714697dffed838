// The C entry points: what a program calls instead of the host's functions of the same names.
#include "mpi/calls.h"
#include "mpi/life.h"
#include "mpi/poll.h"
#include "mpi/spawn.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;
using mpi::Form;

static mpi::Side send_side(const void* data, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(data), count, type};
}

TUTTI_ENTRY int MPI_Init(int* argc, char*** argv) { return mpi::init(argc, argv); }

TUTTI_ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return mpi::init_thread(argc, argv, required, provided);
}

TUTTI_ENTRY int MPI_Finalize() { return mpi::finalize(); }

TUTTI_ENTRY int MPI_Abort(MPI_Comm comm, int errorcode) { return mpi::abort(comm, errorcode); }

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  return mpi::session_init(info, errhandler, session);
}

TUTTI_ENTRY int MPI_Session_finalize(MPI_Session* session) {
  return mpi::session_finalize(session);
}
#endif

TUTTI_ENTRY int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info,
                               int root, MPI_Comm comm, MPI_Comm* intercomm,
                               int array_of_errcodes[]) {
  return mpi::spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}

TUTTI_ENTRY int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return mpi::merge(intercomm, high, newintracomm);
}

TUTTI_ENTRY int MPI_Barrier(MPI_Comm comm) { return mpi::barrier(comm); }

TUTTI_ENTRY int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return mpi::bcast(buffer, count, datatype, root, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::gather(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype}, root,
                     comm, Form::plain);
}

TUTTI_ENTRY int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm) {
  return mpi::scatter(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype}, root,
                      comm, Form::plain);
}

TUTTI_ENTRY int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::allgather(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype},
                        comm, Form::plain);
}

TUTTI_ENTRY int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::alltoall(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype},
                       comm, Form::plain);
}

TUTTI_ENTRY int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm) {
  return mpi::reduce(sendbuf, recvbuf, count, datatype, op, root, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm) {
  return mpi::allreduce(sendbuf, recvbuf, count, datatype, op, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm) {
  return mpi::scan(sendbuf, recvbuf, count, datatype, op, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm) {
  return mpi::exscan(sendbuf, recvbuf, count, datatype, op, comm, Form::plain);
}

TUTTI_ENTRY int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  return mpi::look_again(flag, [&] { return mpi::host().Iprobe(source, tag, comm, flag, status); });
}

TUTTI_ENTRY int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                            MPI_Status* status) {
  return mpi::look_again(
      flag, [&] { return mpi::host().Improbe(source, tag, comm, flag, message, status); });
}

TUTTI_ENTRY int MPI_Win_test(MPI_Win win, int* flag) {
  return mpi::look_again(flag, [&] { return mpi::host().Win_test(win, flag); });
}

#ifdef TUTTI_LARGE_COUNTS
TUTTI_ENTRY int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                            MPI_Comm comm) {
  return mpi::bcast(buffer, count, datatype, root, comm, Form::large);
}

TUTTI_ENTRY int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm) {
  return mpi::gather(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype}, root,
                     comm, Form::large);
}

TUTTI_ENTRY int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm) {
  return mpi::scatter(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype}, root,
                      comm, Form::large);
}

TUTTI_ENTRY int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                MPI_Comm comm) {
  return mpi::allgather(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype},
                        comm, Form::large);
}

TUTTI_ENTRY int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm) {
  return mpi::alltoall(send_side(sendbuf, sendcount, sendtype), {recvbuf, recvcount, recvtype},
                       comm, Form::large);
}

TUTTI_ENTRY int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  return mpi::reduce(sendbuf, recvbuf, count, datatype, op, root, comm, Form::large);
}

TUTTI_ENTRY int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::allreduce(sendbuf, recvbuf, count, datatype, op, comm, Form::large);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, Form::large);
}

TUTTI_ENTRY int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::scan(sendbuf, recvbuf, count, datatype, op, comm, Form::large);
}

TUTTI_ENTRY int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::exscan(sendbuf, recvbuf, count, datatype, op, comm, Form::large);
}
#endif
