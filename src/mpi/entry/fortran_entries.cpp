// Made by scripts/mpi_functions.py from src/mpi/functions.table. To change this file, change
// the table and run `make functions`.

// The Fortran entry points. They replace the routines of the host library that do not call
// the C entry points.
//
// In MPICH and Intel MPI, mpif.h, `use mpi` and every mpi_f08 routine with a choice buffer
// call MPI_* and so reach the C entry points. The mpi_f08 routines without a choice buffer
// call PMPI_*. In Open MPI every routine calls PMPI_*. A routine that calls PMPI_* is
// replaced here unless there is a C entry point of that name, too. In Open MPI it is replaced
// under all names that compilers give it. Fortran's default integer is C's int, so arrays of
// counts are passed as they are; handles are converted.
#include "mpi/entry/calls.h"
#include "mpi/entry/fortran.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

TUTTI_ENTRY void mpi_barrier_f08_(MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Barrier(c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_ibarrier_f08_(MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ibarrier(c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_barrier_init_f08_(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                       MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Barrier_init(c_communicator(*comm), c_info(*info), request);
  });
}

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_f08_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session,
                                       MPI_Fint* error) {
  mpi::fortran::session_init("mpi_session_init_f08_", info, errhandler, session, error);
}

#endif
#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_finalize_f08_(MPI_Fint* session, MPI_Fint* error) {
  mpi::fortran::session_finalize("mpi_session_finalize_f08_", session, error);
}

#endif
TUTTI_ENTRY void mpi_comm_spawn_f08_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
                                     MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm,
                                     MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
                                     size_t argv_length) {
  mpi::fortran::spawn("mpi_comm_spawn_f08_", command, argv, maxprocs, info, root, comm, intercomm,
                      errcodes, error, command_length, argv_length);
}

TUTTI_ENTRY void mpi_intercomm_merge_f08_(MPI_Fint* intercomm, MPI_Fint* high,
                                          MPI_Fint* newintracomm, MPI_Fint* error) {
  mpi::fortran::merge("mpi_intercomm_merge_f08_", intercomm, high, newintracomm, error);
}

#if !defined(TUTTI_ABI_OPENMPI)
TUTTI_ENTRY void mpi_init_f08_(MPI_Fint* error) { mpi::fortran::init("mpi_init_f08_", error); }

TUTTI_ENTRY void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  mpi::fortran::init_thread("mpi_init_thread_f08_", required, provided, error);
}

TUTTI_ENTRY void mpi_query_thread_f08_(MPI_Fint* provided, MPI_Fint* error) {
  mpi::fortran::query_thread("mpi_query_thread_f08_", provided, error);
}

TUTTI_ENTRY void mpi_finalize_f08_(MPI_Fint* error) {
  mpi::fortran::finalize("mpi_finalize_f08_", error);
}

TUTTI_ENTRY void mpi_abort_f08_(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* error) {
  mpi::fortran::abort("mpi_abort_f08_", comm, errorcode, error);
}

TUTTI_ENTRY void mpi_alloc_mem_f08_(MPI_Aint* size, MPI_Fint* info, void* baseptr,
                                    MPI_Fint* error) {
  mpi::fortran::alloc_mem("mpi_alloc_mem_f08_", size, info, baseptr, error);
}

#else
static_assert(sizeof(MPI_Fint) == sizeof(int));

TUTTI_ENTRY void mpi_barrier_(MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Barrier(c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_bcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root,
                            MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Bcast(c_address(buffer), *count, c_type(*datatype), *root,
                               c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_gather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                             MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root,
                             MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Gather(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                         *recvcount, c_type(*recvtype), *root, c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_scatter_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root,
                              MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Scatter(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                          *recvcount, c_type(*recvtype), *root, c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Allgather(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                            *recvcount, c_type(*recvtype), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                               void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                               MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Alltoall(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                           *recvcount, c_type(*recvtype), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_reduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                             MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Reduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                                c_op(*op), *root, c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Allreduce(c_address(sendbuf), c_address(recvbuf), *count,
                                   c_type(*datatype), c_op(*op), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_reduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* recvcount,
                                           MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                           MPI_Fint* error) {
  set(error, mpi::entry::Reduce_scatter_block(c_address(sendbuf), c_address(recvbuf), *recvcount,
                                              c_type(*datatype), c_op(*op), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_scan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                           MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Scan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                              c_op(*op), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_exscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                             MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Exscan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                                c_op(*op), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_gatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* displs, MPI_Fint* recvtype,
                              MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Gatherv(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                          recvcounts, displs, c_type(*recvtype), *root, c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_scatterv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* displs,
                               MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                               MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                               MPI_Fint* error) {
  set(error, mpi::entry::Scatterv(c_address(sendbuf), sendcounts, displs, c_type(*sendtype),
                                  c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                  c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                 void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                 MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* error) {
  set(error,
      mpi::entry::Allgatherv(c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                             recvcounts, displs, c_type(*recvtype), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                MPI_Fint* error) {
  set(error, mpi::entry::Alltoallv(c_address(sendbuf), sendcounts, sdispls, c_type(*sendtype),
                                   c_address(recvbuf), recvcounts, rdispls, c_type(*recvtype),
                                   c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                MPI_Fint* error) {
  set(error, [&] {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types(sendtypes, c_communicator(*comm), c_address(sendbuf));
      const auto recvtypes_in_c = c_types(recvtypes, c_communicator(*comm), c_address(recvbuf));
      return mpi::entry::Alltoallw(c_address(sendbuf), sendcounts, sdispls, sendtypes_in_c.data(),
                                   c_address(recvbuf), recvcounts, rdispls, recvtypes_in_c.data(),
                                   c_communicator(*comm));
    });
  }());
}

TUTTI_ENTRY void mpi_reduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                     MPI_Fint* error) {
  set(error, mpi::entry::Reduce_scatter(c_address(sendbuf), c_address(recvbuf), recvcounts,
                                        c_type(*datatype), c_op(*op), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_neighbor_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                         void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                         MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Neighbor_allgather(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                            c_address(recvbuf), *recvcount, c_type(*recvtype),
                                            c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_neighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                        void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                        MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Neighbor_alltoall(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                           c_address(recvbuf), *recvcount, c_type(*recvtype),
                                           c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_neighbor_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                          void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                          MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::entry::Neighbor_allgatherv(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                             c_address(recvbuf), recvcounts, displs,
                                             c_type(*recvtype), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_neighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                         MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                         MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                         MPI_Fint* error) {
  set(error, mpi::entry::Neighbor_alltoallv(c_address(sendbuf), sendcounts, sdispls,
                                            c_type(*sendtype), c_address(recvbuf), recvcounts,
                                            rdispls, c_type(*recvtype), c_communicator(*comm)));
}

TUTTI_ENTRY void mpi_neighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls,
                                         MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                         MPI_Aint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                         MPI_Fint* error) {
  set(error, [&] {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types_in(sendtypes, c_communicator(*comm));
      const auto recvtypes_in_c = c_types_out(recvtypes, c_communicator(*comm));
      return mpi::entry::Neighbor_alltoallw(c_address(sendbuf), sendcounts, sdispls,
                                            sendtypes_in_c.data(), c_address(recvbuf), recvcounts,
                                            rdispls, recvtypes_in_c.data(), c_communicator(*comm));
    });
  }());
}

TUTTI_ENTRY void mpi_ibarrier_(MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ibarrier(c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ibcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root,
                             MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ibcast(c_address(buffer), *count, c_type(*datatype), *root,
                              c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_igather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root,
                              MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Igather(c_address(sendbuf), *sendcount, c_type(*sendtype),
                               c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                               c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iscatter_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                               void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                               MPI_Fint* root, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iscatter(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iallgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                 void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                 MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iallgather(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                  c_address(recvbuf), *recvcount, c_type(*recvtype),
                                  c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ialltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ialltoall(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                 c_address(recvbuf), *recvcount, c_type(*recvtype),
                                 c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ireduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                              MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* request,
                              MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ireduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                               c_op(*op), *root, c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iallreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                 MPI_Fint* op, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iallreduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                                  c_op(*op), c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ireduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* recvcount,
                                            MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                            MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ireduce_scatter_block(c_address(sendbuf), c_address(recvbuf), *recvcount,
                                             c_type(*datatype), c_op(*op), c_communicator(*comm),
                                             request);
  });
}

TUTTI_ENTRY void mpi_iscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                            MPI_Fint* op, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iscan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                             c_op(*op), c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iexscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                              MPI_Fint* op, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iexscan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                               c_op(*op), c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_igatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                               void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                               MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                               MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Igatherv(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                c_address(recvbuf), recvcounts, displs, c_type(*recvtype), *root,
                                c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iscatterv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* displs,
                                MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                                MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                                MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iscatterv(c_address(sendbuf), sendcounts, displs, c_type(*sendtype),
                                 c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                 c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_iallgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                  void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                  MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request,
                                  MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Iallgatherv(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                   c_address(recvbuf), recvcounts, displs, c_type(*recvtype),
                                   c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ialltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                 MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                 MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                 MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ialltoallv(c_address(sendbuf), sendcounts, sdispls, c_type(*sendtype),
                                  c_address(recvbuf), recvcounts, rdispls, c_type(*recvtype),
                                  c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ialltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                 MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                 MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                 MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types(sendtypes, c_communicator(*comm), c_address(sendbuf));
      const auto recvtypes_in_c = c_types(recvtypes, c_communicator(*comm), c_address(recvbuf));
      return mpi::entry::Ialltoallw(c_address(sendbuf), sendcounts, sdispls, sendtypes_in_c.data(),
                                    c_address(recvbuf), recvcounts, rdispls, recvtypes_in_c.data(),
                                    c_communicator(*comm), request);
    });
  });
}

TUTTI_ENTRY void mpi_ireduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts,
                                      MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                      MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ireduce_scatter(c_address(sendbuf), c_address(recvbuf), recvcounts,
                                       c_type(*datatype), c_op(*op), c_communicator(*comm),
                                       request);
  });
}

TUTTI_ENTRY void mpi_ineighbor_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                          void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                          MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ineighbor_allgather(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                           c_address(recvbuf), *recvcount, c_type(*recvtype),
                                           c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ineighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                         void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                         MPI_Fint* comm, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ineighbor_alltoall(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                          c_address(recvbuf), *recvcount, c_type(*recvtype),
                                          c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ineighbor_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                           void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                           MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request,
                                           MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ineighbor_allgatherv(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                            c_address(recvbuf), recvcounts, displs,
                                            c_type(*recvtype), c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ineighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                          MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                          MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                          MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Ineighbor_alltoallv(
        c_address(sendbuf), sendcounts, sdispls, c_type(*sendtype), c_address(recvbuf), recvcounts,
        rdispls, c_type(*recvtype), c_communicator(*comm), request);
  });
}

TUTTI_ENTRY void mpi_ineighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls,
                                          MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                          MPI_Aint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                          MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types_in(sendtypes, c_communicator(*comm));
      const auto recvtypes_in_c = c_types_out(recvtypes, c_communicator(*comm));
      return mpi::entry::Ineighbor_alltoallw(
          c_address(sendbuf), sendcounts, sdispls, sendtypes_in_c.data(), c_address(recvbuf),
          recvcounts, rdispls, recvtypes_in_c.data(), c_communicator(*comm), request);
    });
  });
}

TUTTI_ENTRY void mpi_barrier_init_(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                   MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Barrier_init(c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_bcast_init_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root,
                                 MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                 MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Bcast_init(c_address(buffer), *count, c_type(*datatype), *root,
                                  c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_gather_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                  void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                  MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                  MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Gather_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                   c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                   c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_scatter_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                   void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                   MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info,
                                   MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Scatter_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                    c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                    c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_allgather_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                     void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                     MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                     MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Allgather_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                      c_address(recvbuf), *recvcount, c_type(*recvtype),
                                      c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                    void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                    MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                    MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Alltoall_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                     c_address(recvbuf), *recvcount, c_type(*recvtype),
                                     c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_reduce_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                  MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info,
                                  MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Reduce_init(c_address(sendbuf), c_address(recvbuf), *count,
                                   c_type(*datatype), c_op(*op), *root, c_communicator(*comm),
                                   c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_allreduce_init_(void* sendbuf, void* recvbuf, MPI_Fint* count,
                                     MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Allreduce_init(c_address(sendbuf), c_address(recvbuf), *count,
                                      c_type(*datatype), c_op(*op), c_communicator(*comm),
                                      c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_reduce_scatter_block_init_(void* sendbuf, void* recvbuf, MPI_Fint* recvcount,
                                                MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                                MPI_Fint* info, MPI_Fint* request,
                                                MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Reduce_scatter_block_init(c_address(sendbuf), c_address(recvbuf), *recvcount,
                                                 c_type(*datatype), c_op(*op),
                                                 c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_scan_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Scan_init(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                                 c_op(*op), c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_exscan_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                  MPI_Fint* op, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                  MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Exscan_init(c_address(sendbuf), c_address(recvbuf), *count,
                                   c_type(*datatype), c_op(*op), c_communicator(*comm),
                                   c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_gatherv_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                   void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                   MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                                   MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Gatherv_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                    c_address(recvbuf), recvcounts, displs, c_type(*recvtype),
                                    *root, c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_scatterv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* displs,
                                    MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                                    MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                                    MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Scatterv_init(c_address(sendbuf), sendcounts, displs, c_type(*sendtype),
                                     c_address(recvbuf), *recvcount, c_type(*recvtype), *root,
                                     c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_allgatherv_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                      void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                      MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                      MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Allgatherv_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                       c_address(recvbuf), recvcounts, displs, c_type(*recvtype),
                                       c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                     MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Alltoallv_init(c_address(sendbuf), sendcounts, sdispls, c_type(*sendtype),
                                      c_address(recvbuf), recvcounts, rdispls, c_type(*recvtype),
                                      c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                     MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types(sendtypes, c_communicator(*comm), c_address(sendbuf));
      const auto recvtypes_in_c = c_types(recvtypes, c_communicator(*comm), c_address(recvbuf));
      return mpi::entry::Alltoallw_init(c_address(sendbuf), sendcounts, sdispls,
                                        sendtypes_in_c.data(), c_address(recvbuf), recvcounts,
                                        rdispls, recvtypes_in_c.data(), c_communicator(*comm),
                                        c_info(*info), request);
    });
  });
}

TUTTI_ENTRY void mpi_reduce_scatter_init_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts,
                                          MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                          MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Reduce_scatter_init(c_address(sendbuf), c_address(recvbuf), recvcounts,
                                           c_type(*datatype), c_op(*op), c_communicator(*comm),
                                           c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_neighbor_allgather_init_(void* sendbuf, MPI_Fint* sendcount,
                                              MPI_Fint* sendtype, void* recvbuf,
                                              MPI_Fint* recvcount, MPI_Fint* recvtype,
                                              MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                              MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Neighbor_allgather_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                               c_address(recvbuf), *recvcount, c_type(*recvtype),
                                               c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_neighbor_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                             void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                             MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                             MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Neighbor_alltoall_init(c_address(sendbuf), *sendcount, c_type(*sendtype),
                                              c_address(recvbuf), *recvcount, c_type(*recvtype),
                                              c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_neighbor_allgatherv_init_(void* sendbuf, MPI_Fint* sendcount,
                                               MPI_Fint* sendtype, void* recvbuf,
                                               MPI_Fint* recvcounts, MPI_Fint* displs,
                                               MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                               MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Neighbor_allgatherv_init(
        c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf), recvcounts, displs,
        c_type(*recvtype), c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_neighbor_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts,
                                              MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                                              MPI_Fint* recvcounts, MPI_Fint* rdispls,
                                              MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                              MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::entry::Neighbor_alltoallv_init(
        c_address(sendbuf), sendcounts, sdispls, c_type(*sendtype), c_address(recvbuf), recvcounts,
        rdispls, c_type(*recvtype), c_communicator(*comm), c_info(*info), request);
  });
}

TUTTI_ENTRY void mpi_neighbor_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts,
                                              MPI_Aint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                                              MPI_Fint* recvcounts, MPI_Aint* rdispls,
                                              MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* info,
                                              MPI_Fint* request, MPI_Fint* error) {
  make_request(request, error, [&](MPI_Request* request) {
    return mpi::guarded(c_communicator(*comm), [&] {
      const auto sendtypes_in_c = c_types_in(sendtypes, c_communicator(*comm));
      const auto recvtypes_in_c = c_types_out(recvtypes, c_communicator(*comm));
      return mpi::entry::Neighbor_alltoallw_init(c_address(sendbuf), sendcounts, sdispls,
                                                 sendtypes_in_c.data(), c_address(recvbuf),
                                                 recvcounts, rdispls, recvtypes_in_c.data(),
                                                 c_communicator(*comm), c_info(*info), request);
    });
  });
}

TUTTI_ENTRY void mpi_init_(MPI_Fint* error) { mpi::fortran::init("mpi_init_", error); }

TUTTI_ENTRY void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  mpi::fortran::init_thread("mpi_init_thread_", required, provided, error);
}

TUTTI_ENTRY void mpi_query_thread_(MPI_Fint* provided, MPI_Fint* error) {
  mpi::fortran::query_thread("mpi_query_thread_", provided, error);
}

TUTTI_ENTRY void mpi_finalize_(MPI_Fint* error) { mpi::fortran::finalize("mpi_finalize_", error); }

TUTTI_ENTRY void mpi_abort_(MPI_Fint* comm, MPI_Fint* errorcode, MPI_Fint* error) {
  mpi::fortran::abort("mpi_abort_", comm, errorcode, error);
}

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_init_(MPI_Fint* info, MPI_Fint* errhandler, MPI_Fint* session,
                                   MPI_Fint* error) {
  mpi::fortran::session_init("mpi_session_init_", info, errhandler, session, error);
}

#endif
#ifdef TUTTI_SESSIONS
TUTTI_ENTRY void mpi_session_finalize_(MPI_Fint* session, MPI_Fint* error) {
  mpi::fortran::session_finalize("mpi_session_finalize_", session, error);
}

#endif
TUTTI_ENTRY void mpi_comm_spawn_(char* command, char* argv, MPI_Fint* maxprocs, MPI_Fint* info,
                                 MPI_Fint* root, MPI_Fint* comm, MPI_Fint* intercomm,
                                 MPI_Fint* errcodes, MPI_Fint* error, size_t command_length,
                                 size_t argv_length) {
  mpi::fortran::spawn("mpi_comm_spawn_", command, argv, maxprocs, info, root, comm, intercomm,
                      errcodes, error, command_length, argv_length);
}

TUTTI_ENTRY void mpi_intercomm_merge_(MPI_Fint* intercomm, MPI_Fint* high, MPI_Fint* newintracomm,
                                      MPI_Fint* error) {
  mpi::fortran::merge("mpi_intercomm_merge_", intercomm, high, newintracomm, error);
}

TUTTI_ENTRY void mpi_alloc_mem_(MPI_Aint* size, MPI_Fint* info, void* baseptr, MPI_Fint* error) {
  mpi::fortran::alloc_mem("mpi_alloc_mem_", size, info, baseptr, error);
}

TUTTI_ENTRY void mpi_free_mem_(void* base, MPI_Fint* error) {
  mpi::fortran::free_mem("mpi_free_mem_", base, error);
}

// The other names of the same routines.
extern "C" {
void MPI_BARRIER(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void mpi_barrier__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_barrier_");
void MPI_BCAST(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_bcast_");
void mpi_bcast_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_bcast_");
void MPI_GATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                MPI_Fint*) TUTTI_SAME_AS("mpi_gather_");
void mpi_gather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                MPI_Fint*) TUTTI_SAME_AS("mpi_gather_");
void mpi_gather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*) TUTTI_SAME_AS("mpi_gather_");
void mpi_gather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*) TUTTI_SAME_AS("mpi_gather_");
void MPI_SCATTER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*) TUTTI_SAME_AS("mpi_scatter_");
void mpi_scatter(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*) TUTTI_SAME_AS("mpi_scatter_");
void mpi_scatter__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_scatter_");
void mpi_scatter_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scatter_");
void MPI_ALLGATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgather_");
void mpi_allgather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgather_");
void mpi_allgather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgather_");
void mpi_allgather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*) TUTTI_SAME_AS("mpi_allgather_");
void MPI_ALLTOALL(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoall_");
void mpi_alltoall(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoall_");
void mpi_alltoall__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoall_");
void mpi_alltoall_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*) TUTTI_SAME_AS("mpi_alltoall_");
void MPI_REDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void MPI_ALLREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void MPI_REDUCE_SCATTER_BLOCK(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void MPI_SCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void MPI_EXSCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void MPI_GATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gatherv_");
void mpi_gatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gatherv_");
void mpi_gatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gatherv_");
void mpi_gatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gatherv_");
void MPI_SCATTERV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scatterv_");
void mpi_scatterv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scatterv_");
void mpi_scatterv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scatterv_");
void mpi_scatterv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scatterv_");
void MPI_ALLGATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_allgatherv_");
void mpi_allgatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_allgatherv_");
void mpi_allgatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgatherv_");
void mpi_allgatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgatherv_");
void MPI_ALLTOALLV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallv_");
void mpi_alltoallv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallv_");
void mpi_alltoallv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallv_");
void mpi_alltoallv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallv_");
void MPI_ALLTOALLW(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallw_");
void mpi_alltoallw(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallw_");
void mpi_alltoallw__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallw_");
void mpi_alltoallw_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoallw_");
void MPI_REDUCE_SCATTER(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_");
void mpi_reduce_scatter(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_");
void mpi_reduce_scatter__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_");
void mpi_reduce_scatter_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_");
void MPI_NEIGHBOR_ALLGATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgather_");
void mpi_neighbor_allgather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgather_");
void mpi_neighbor_allgather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgather_");
void mpi_neighbor_allgather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgather_");
void MPI_NEIGHBOR_ALLTOALL(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoall_");
void mpi_neighbor_alltoall(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoall_");
void mpi_neighbor_alltoall__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoall_");
void mpi_neighbor_alltoall_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoall_");
void MPI_NEIGHBOR_ALLGATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgatherv_");
void mpi_neighbor_allgatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgatherv_");
void mpi_neighbor_allgatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_allgatherv_");
void mpi_neighbor_allgatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgatherv_");
void MPI_NEIGHBOR_ALLTOALLV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_");
void mpi_neighbor_alltoallv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_");
void mpi_neighbor_alltoallv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_");
void mpi_neighbor_alltoallv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_");
void MPI_NEIGHBOR_ALLTOALLW(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_");
void mpi_neighbor_alltoallw(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_");
void mpi_neighbor_alltoallw__(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                              MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_");
void mpi_neighbor_alltoallw_f08_(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_");
void MPI_IBARRIER(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ibarrier_");
void mpi_ibarrier(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ibarrier_");
void mpi_ibarrier__(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ibarrier_");
void MPI_IBCAST(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ibcast_");
void mpi_ibcast(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ibcast_");
void mpi_ibcast__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ibcast_");
void mpi_ibcast_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ibcast_");
void MPI_IGATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igather_");
void mpi_igather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igather_");
void mpi_igather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igather_");
void mpi_igather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igather_");
void MPI_ISCATTER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatter_");
void mpi_iscatter(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatter_");
void mpi_iscatter__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatter_");
void mpi_iscatter_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatter_");
void MPI_IALLGATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_iallgather_");
void mpi_iallgather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_iallgather_");
void mpi_iallgather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgather_");
void mpi_iallgather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgather_");
void MPI_IALLTOALL(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoall_");
void mpi_ialltoall(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoall_");
void mpi_ialltoall__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoall_");
void mpi_ialltoall_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoall_");
void MPI_IREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_");
void mpi_ireduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                 MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_");
void mpi_ireduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_");
void mpi_ireduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_");
void MPI_IALLREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iallreduce_");
void mpi_iallreduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iallreduce_");
void mpi_iallreduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*) TUTTI_SAME_AS("mpi_iallreduce_");
void mpi_iallreduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*) TUTTI_SAME_AS("mpi_iallreduce_");
void MPI_IREDUCE_SCATTER_BLOCK(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_block_");
void mpi_ireduce_scatter_block(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_block_");
void mpi_ireduce_scatter_block__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_block_");
void mpi_ireduce_scatter_block_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                    MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ireduce_scatter_block_");
void MPI_ISCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iscan_");
void mpi_iscan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iscan_");
void mpi_iscan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iscan_");
void mpi_iscan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iscan_");
void MPI_IEXSCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iexscan_");
void mpi_iexscan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iexscan_");
void mpi_iexscan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_iexscan_");
void mpi_iexscan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*) TUTTI_SAME_AS("mpi_iexscan_");
void MPI_IGATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igatherv_");
void mpi_igatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                  MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igatherv_");
void mpi_igatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igatherv_");
void mpi_igatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_igatherv_");
void MPI_ISCATTERV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatterv_");
void mpi_iscatterv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatterv_");
void mpi_iscatterv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatterv_");
void mpi_iscatterv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iscatterv_");
void MPI_IALLGATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgatherv_");
void mpi_iallgatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgatherv_");
void mpi_iallgatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgatherv_");
void mpi_iallgatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_iallgatherv_");
void MPI_IALLTOALLV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallv_");
void mpi_ialltoallv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallv_");
void mpi_ialltoallv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallv_");
void mpi_ialltoallv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ialltoallv_");
void MPI_IALLTOALLW(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallw_");
void mpi_ialltoallw(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallw_");
void mpi_ialltoallw__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ialltoallw_");
void mpi_ialltoallw_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ialltoallw_");
void MPI_IREDUCE_SCATTER(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_");
void mpi_ireduce_scatter(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_");
void mpi_ireduce_scatter__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_");
void mpi_ireduce_scatter_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*) TUTTI_SAME_AS("mpi_ireduce_scatter_");
void MPI_INEIGHBOR_ALLGATHER(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_allgather_");
void mpi_ineighbor_allgather(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_allgather_");
void mpi_ineighbor_allgather__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_allgather_");
void mpi_ineighbor_allgather_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_allgather_");
void MPI_INEIGHBOR_ALLTOALL(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_alltoall_");
void mpi_ineighbor_alltoall(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_alltoall_");
void mpi_ineighbor_alltoall__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_ineighbor_alltoall_");
void mpi_ineighbor_alltoall_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoall_");
void MPI_INEIGHBOR_ALLGATHERV(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_allgatherv_");
void mpi_ineighbor_allgatherv(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_allgatherv_");
void mpi_ineighbor_allgatherv__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_allgatherv_");
void mpi_ineighbor_allgatherv_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_allgatherv_");
void MPI_INEIGHBOR_ALLTOALLV(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallv_");
void mpi_ineighbor_alltoallv(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallv_");
void mpi_ineighbor_alltoallv__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallv_");
void mpi_ineighbor_alltoallv_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallv_");
void MPI_INEIGHBOR_ALLTOALLW(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallw_");
void mpi_ineighbor_alltoallw(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallw_");
void mpi_ineighbor_alltoallw__(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*,
                               MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallw_");
void mpi_ineighbor_alltoallw_f08_(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                  MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_ineighbor_alltoallw_");
void MPI_BARRIER_INIT(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_barrier_init_");
void mpi_barrier_init(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_barrier_init_");
void mpi_barrier_init__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_barrier_init_");
void MPI_BCAST_INIT(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_init_");
void mpi_bcast_init(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_init_");
void mpi_bcast_init__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_init_");
void mpi_bcast_init_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*) TUTTI_SAME_AS("mpi_bcast_init_");
void MPI_GATHER_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gather_init_");
void mpi_gather_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_gather_init_");
void mpi_gather_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gather_init_");
void mpi_gather_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gather_init_");
void MPI_SCATTER_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatter_init_");
void mpi_scatter_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatter_init_");
void mpi_scatter_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatter_init_");
void mpi_scatter_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatter_init_");
void MPI_ALLGATHER_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgather_init_");
void mpi_allgather_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgather_init_");
void mpi_allgather_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgather_init_");
void mpi_allgather_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allgather_init_");
void MPI_ALLTOALL_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoall_init_");
void mpi_alltoall_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoall_init_");
void mpi_alltoall_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoall_init_");
void mpi_alltoall_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_alltoall_init_");
void MPI_REDUCE_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_init_");
void mpi_reduce_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_init_");
void mpi_reduce_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_init_");
void mpi_reduce_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_init_");
void MPI_ALLREDUCE_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_init_");
void mpi_allreduce_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_init_");
void mpi_allreduce_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_init_");
void mpi_allreduce_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_allreduce_init_");
void MPI_REDUCE_SCATTER_BLOCK_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_init_");
void mpi_reduce_scatter_block_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_init_");
void mpi_reduce_scatter_block_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                     MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_init_");
void mpi_reduce_scatter_block_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                        MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_init_");
void MPI_SCAN_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_scan_init_");
void mpi_scan_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                   MPI_Fint*) TUTTI_SAME_AS("mpi_scan_init_");
void mpi_scan_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*) TUTTI_SAME_AS("mpi_scan_init_");
void mpi_scan_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_scan_init_");
void MPI_EXSCAN_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*) TUTTI_SAME_AS("mpi_exscan_init_");
void mpi_exscan_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                     MPI_Fint*) TUTTI_SAME_AS("mpi_exscan_init_");
void mpi_exscan_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_exscan_init_");
void mpi_exscan_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_exscan_init_");
void MPI_GATHERV_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gatherv_init_");
void mpi_gatherv_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gatherv_init_");
void mpi_gatherv_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gatherv_init_");
void mpi_gatherv_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_gatherv_init_");
void MPI_SCATTERV_INIT(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatterv_init_");
void mpi_scatterv_init(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatterv_init_");
void mpi_scatterv_init__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatterv_init_");
void mpi_scatterv_init_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scatterv_init_");
void MPI_ALLGATHERV_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgatherv_init_");
void mpi_allgatherv_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                         MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgatherv_init_");
void mpi_allgatherv_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgatherv_init_");
void mpi_allgatherv_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                              MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allgatherv_init_");
void MPI_ALLTOALLV_INIT(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallv_init_");
void mpi_alltoallv_init(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallv_init_");
void mpi_alltoallv_init__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallv_init_");
void mpi_alltoallv_init_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallv_init_");
void MPI_ALLTOALLW_INIT(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallw_init_");
void mpi_alltoallw_init(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                        MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallw_init_");
void mpi_alltoallw_init__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                          MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallw_init_");
void mpi_alltoallw_init_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_alltoallw_init_");
void MPI_REDUCE_SCATTER_INIT(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_scatter_init_");
void mpi_reduce_scatter_init(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                             MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_scatter_init_");
void mpi_reduce_scatter_init__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_scatter_init_");
void mpi_reduce_scatter_init_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_init_");
void MPI_NEIGHBOR_ALLGATHER_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgather_init_");
void mpi_neighbor_allgather_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgather_init_");
void mpi_neighbor_allgather_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgather_init_");
void mpi_neighbor_allgather_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgather_init_");
void MPI_NEIGHBOR_ALLTOALL_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoall_init_");
void mpi_neighbor_alltoall_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoall_init_");
void mpi_neighbor_alltoall_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoall_init_");
void mpi_neighbor_alltoall_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                     MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoall_init_");
void MPI_NEIGHBOR_ALLGATHERV_INIT(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgatherv_init_");
void mpi_neighbor_allgatherv_init(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgatherv_init_");
void mpi_neighbor_allgatherv_init__(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                    MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgatherv_init_");
void mpi_neighbor_allgatherv_init_f08_(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*,
                                       MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_allgatherv_init_");
void MPI_NEIGHBOR_ALLTOALLV_INIT(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_init_");
void mpi_neighbor_alltoallv_init(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_init_");
void mpi_neighbor_alltoallv_init__(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                   MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallv_init_");
void mpi_neighbor_alltoallv_init_f08_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                      MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoallv_init_");
void MPI_NEIGHBOR_ALLTOALLW_INIT(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_init_");
void mpi_neighbor_alltoallw_init(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                 MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_init_");
void mpi_neighbor_alltoallw_init__(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                   MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_neighbor_alltoallw_init_");
void mpi_neighbor_alltoallw_init_f08_(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*,
                                      MPI_Aint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                      MPI_Fint*) TUTTI_SAME_AS("mpi_neighbor_alltoallw_init_");
void MPI_INIT(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init__(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void mpi_init_f08_(MPI_Fint*) TUTTI_SAME_AS("mpi_init_");
void MPI_INIT_THREAD(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread__(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void mpi_init_thread_f08_(MPI_Fint*, MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_init_thread_");
void MPI_QUERY_THREAD(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_query_thread_");
void mpi_query_thread(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_query_thread_");
void mpi_query_thread__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_query_thread_");
void mpi_query_thread_f08_(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_query_thread_");
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
#endif
#ifdef TUTTI_SESSIONS
void MPI_SESSION_FINALIZE(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
void mpi_session_finalize__(MPI_Fint*, MPI_Fint*) TUTTI_SAME_AS("mpi_session_finalize_");
#endif
void MPI_COMM_SPAWN(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                    MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void mpi_comm_spawn__(char*, char*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, size_t, size_t) TUTTI_SAME_AS("mpi_comm_spawn_");
void MPI_INTERCOMM_MERGE(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");
void mpi_intercomm_merge__(MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_intercomm_merge_");
void MPI_ALLOC_MEM(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem__(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_f08_(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr_(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void MPI_ALLOC_MEM_CPTR(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void mpi_alloc_mem_cptr__(MPI_Aint*, MPI_Fint*, void*, MPI_Fint*) TUTTI_SAME_AS("mpi_alloc_mem_");
void MPI_FREE_MEM(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem__(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
void mpi_free_mem_f08_(void*, MPI_Fint*) TUTTI_SAME_AS("mpi_free_mem_");
}
#endif
