// The C entry points of the persistent collectives. What entry points are is told in entry.cpp.
#include "mpi/persistent_calls.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;
using mpi::ask_host;
using mpi::host;
using mpi::persistent_init;
using mpi::side_of;
using plan::Collective;

TUTTI_ENTRY int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent_init(mpi::persistent_barrier(), comm, request,
                         [&] { return ask_host(host().Barrier_init, comm, info, request); });
}

TUTTI_ENTRY int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
                               MPI_Request* request) {
  return persistent_init(mpi::persistent_bcast(buffer, count, datatype, root), comm, request, [&] {
    return ask_host(host().persistent.Bcast_init, buffer, count, datatype, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::gather, in, out, root), comm, request, [&] {
    return ask_host(host().persistent.Gather_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                    info, request);
  });
}

TUTTI_ENTRY int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::scatter, in, out, root), comm, request, [&] {
    return ask_host(host().persistent.Scatter_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                    info, request);
  });
}

TUTTI_ENTRY int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::allgather, in, out), comm, request, [&] {
    return ask_host(host().persistent.Allgather_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                    info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent.Alltoall_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                    info, request);
  });
}

TUTTI_ENTRY int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, displs, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::gather, in, out, root), comm, request, [&] {
    return ask_host(host().persistent.Gatherv_init, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                    root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, displs, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::scatter, in, out, root), comm, request, [&] {
    return ask_host(host().persistent.Scatterv_init, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                    root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, displs, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::allgather, in, out), comm, request, [&] {
    return ask_host(host().persistent.Allgatherv_init, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                    comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, sdispls, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, rdispls, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent.Alltoallv_init, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                    recvtype, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, sdispls, sendtypes);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, rdispls, recvtypes);
  return persistent_init(mpi::persistent_ragged(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent.Alltoallw_init, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                    rdispls, recvtypes, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::reduce, sendbuf, recvbuf, count, datatype, op, root);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Reduce_init, sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::allreduce, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Allreduce_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const Collective collective = Collective::reduce_scatter;
  const mpi::PersistentCall call = mpi::persistent_reduction(collective, sendbuf, recvbuf, recvcount, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Reduce_scatter_block_init, sendbuf, recvbuf, recvcount, datatype, op, comm, info,
                    request);
  });
}

TUTTI_ENTRY int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::scan, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Scan_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::exscan, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Exscan_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent.Reduce_scatter_init, sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request);
  });
}

#ifdef TUTTI_LARGE_COUNTS
TUTTI_ENTRY int MPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  return persistent_init(mpi::persistent_bcast(buffer, count, datatype, root), comm, request, [&] {
    return ask_host(host().persistent_large.Bcast_init, buffer, count, datatype, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::gather, in, out, root), comm, request, [&] {
    return ask_host(host().persistent_large.Gather_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                    comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::scatter, in, out, root), comm, request, [&] {
    return ask_host(host().persistent_large.Scatter_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                    comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::allgather, in, out), comm, request, [&] {
    return ask_host(host().persistent_large.Allgather_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                    comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_move(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent_large.Alltoall_init, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                    comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, displs, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::gather, in, out, root), comm, request, [&] {
    return ask_host(host().persistent_large.Gatherv_init, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, displs, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcount, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::scatter, in, out, root), comm, request, [&] {
    return ask_host(host().persistent_large.Scatterv_init, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                    recvtype, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcount, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, displs, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::allgather, in, out), comm, request, [&] {
    return ask_host(host().persistent_large.Allgatherv_init, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, sdispls, sendtype);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, rdispls, recvtype);
  return persistent_init(mpi::persistent_ragged(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent_large.Alltoallv_init, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                    rdispls, recvtype, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                     MPI_Info info, MPI_Request* request) {
  const mpi::RaggedSide in = side_of(sendbuf, sendcounts, sdispls, sendtypes);
  const mpi::RaggedSide out = side_of(recvbuf, recvcounts, rdispls, recvtypes);
  return persistent_init(mpi::persistent_ragged(Collective::alltoall, in, out), comm, request, [&] {
    return ask_host(host().persistent_large.Alltoallw_init, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                    rdispls, recvtypes, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::reduce, sendbuf, recvbuf, count, datatype, op, root);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Reduce_init, sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::allreduce, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Allreduce_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  const Collective collective = Collective::reduce_scatter;
  const mpi::PersistentCall call = mpi::persistent_reduction(collective, sendbuf, recvbuf, recvcount, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Reduce_scatter_block_init, sendbuf, recvbuf, recvcount, datatype, op, comm,
                    info, request);
  });
}

TUTTI_ENTRY int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::scan, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Scan_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduction(Collective::exscan, sendbuf, recvbuf, count, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Exscan_init, sendbuf, recvbuf, count, datatype, op, comm, info, request);
  });
}

TUTTI_ENTRY int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  const mpi::PersistentCall call = mpi::persistent_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op);
  return persistent_init(call, comm, request, [&] {
    return ask_host(host().persistent_large.Reduce_scatter_init, sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                    request);
  });
}
#endif
