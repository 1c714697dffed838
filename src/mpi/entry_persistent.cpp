// The C entry points of the persistent collectives. What entry points are is told in entry.cpp.
#include "mpi/persistent_calls.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;
using mpi::host;
using plan::Collective;

TUTTI_ENTRY int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_barrier({comm, info, request});
}

TUTTI_ENTRY int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_bcast(host().persistent.Bcast_init, buffer, count, datatype, root,
                         {comm, info, request});
}

TUTTI_ENTRY int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_rooted_move(Collective::gather, host().persistent.Gather_init, sendbuf,
                               sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               {comm, info, request});
}

TUTTI_ENTRY int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_rooted_move(Collective::scatter, host().persistent.Scatter_init, sendbuf,
                               sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               {comm, info, request});
}

TUTTI_ENTRY int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_move(Collective::allgather, host().persistent.Allgather_init, sendbuf, sendcount,
                        sendtype, recvbuf, recvcount, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_move(Collective::alltoall, host().persistent.Alltoall_init, sendbuf, sendcount,
                        sendtype, recvbuf, recvcount, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const int displs[],
                                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return mpi::init_gatherv(host().persistent.Gatherv_init, sendbuf, sendcount, sendtype, recvbuf,
                           recvcounts, displs, recvtype, root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                                  MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return mpi::init_scatterv(host().persistent.Scatterv_init, sendbuf, sendcounts, displs, sendtype,
                            recvbuf, recvcount, recvtype, root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const int recvcounts[], const int displs[],
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  return mpi::init_allgatherv(host().persistent.Allgatherv_init, sendbuf, sendcount, sendtype,
                              recvbuf, recvcounts, displs, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request) {
  return mpi::init_v_alltoall(host().persistent.Alltoallv_init, sendbuf, sendcounts, sdispls,
                              sendtype, recvbuf, recvcounts, rdispls, recvtype,
                              {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   const MPI_Datatype sendtypes[], void* recvbuf,
                                   const int recvcounts[], const int rdispls[],
                                   const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  return mpi::init_v_alltoall(host().persistent.Alltoallw_init, sendbuf, sendcounts, sdispls,
                              sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                              {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count,
                                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
  return mpi::init_reduce(host().persistent.Reduce_init, sendbuf, recvbuf, count, datatype, op,
                          root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  return mpi::init_reduction(Collective::allreduce, host().persistent.Allreduce_init, sendbuf,
                             recvbuf, count, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return mpi::init_reduction(Collective::reduce_scatter,
                             host().persistent.Reduce_scatter_block_init, sendbuf, recvbuf,
                             recvcount, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_reduction(Collective::scan, host().persistent.Scan_init, sendbuf, recvbuf, count,
                             datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return mpi::init_reduction(Collective::exscan, host().persistent.Exscan_init, sendbuf, recvbuf,
                             count, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        MPI_Info info, MPI_Request* request) {
  return mpi::init_reduce_scatter(host().persistent.Reduce_scatter_init, sendbuf, recvbuf,
                                  recvcounts, datatype, op, {comm, info, request});
}

#ifdef TUTTI_LARGE_COUNTS
TUTTI_ENTRY int MPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_bcast(host().persistent_large.Bcast_init, buffer, count, datatype, root,
                         {comm, info, request});
}

TUTTI_ENTRY int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_rooted_move(Collective::gather, host().persistent_large.Gather_init, sendbuf,
                               sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               {comm, info, request});
}

TUTTI_ENTRY int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_rooted_move(Collective::scatter, host().persistent_large.Scatter_init, sendbuf,
                               sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               {comm, info, request});
}

TUTTI_ENTRY int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::init_move(Collective::allgather, host().persistent_large.Allgather_init, sendbuf,
                        sendcount, sendtype, recvbuf, recvcount, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_move(Collective::alltoall, host().persistent_large.Alltoall_init, sendbuf,
                        sendcount, sendtype, recvbuf, recvcount, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_gatherv(host().persistent_large.Gatherv_init, sendbuf, sendcount, sendtype,
                           recvbuf, recvcounts, displs, recvtype, root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_scatterv(host().persistent_large.Scatterv_init, sendbuf, sendcounts, displs,
                            sendtype, recvbuf, recvcount, recvtype, root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint displs[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                      MPI_Request* request) {
  return mpi::init_allgatherv(host().persistent_large.Allgatherv_init, sendbuf, sendcount, sendtype,
                              recvbuf, recvcounts, displs, recvtype, {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::init_v_alltoall(host().persistent_large.Alltoallv_init, sendbuf, sendcounts, sdispls,
                              sendtype, recvbuf, recvcounts, rdispls, recvtype,
                              {comm, info, request});
}

TUTTI_ENTRY int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                     void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::init_v_alltoall(host().persistent_large.Alltoallw_init, sendbuf, sendcounts, sdispls,
                              sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                              {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  return mpi::init_reduce(host().persistent_large.Reduce_init, sendbuf, recvbuf, count, datatype,
                          op, root, {comm, info, request});
}

TUTTI_ENTRY int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::init_reduction(Collective::allreduce, host().persistent_large.Allreduce_init, sendbuf,
                             recvbuf, count, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf,
                                                MPI_Count recvcount, MPI_Datatype datatype,
                                                MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return mpi::init_reduction(Collective::reduce_scatter,
                             host().persistent_large.Reduce_scatter_block_init, sendbuf, recvbuf,
                             recvcount, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return mpi::init_reduction(Collective::scan, host().persistent_large.Scan_init, sendbuf, recvbuf,
                             count, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return mpi::init_reduction(Collective::exscan, host().persistent_large.Exscan_init, sendbuf,
                             recvbuf, count, datatype, op, {comm, info, request});
}

TUTTI_ENTRY int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf,
                                          const MPI_Count recvcounts[], MPI_Datatype datatype,
                                          MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  return mpi::init_reduce_scatter(host().persistent_large.Reduce_scatter_init, sendbuf, recvbuf,
                                  recvcounts, datatype, op, {comm, info, request});
}
#endif
