// Made by scripts/mpi_functions.py from src/mpi/functions.table. To change this file, change
// the table and run `make functions`.

// The C entry points: a program calls them instead of the host's functions of these names.
#include "mpi/entry/dist_graph.h"
#include "mpi/entry/makers.h"
#include "mpi/entry/calls.h"
#include "mpi/entry/life.h"
#include "mpi/entry/memory.h"
#include "mpi/abi/held.h"
#include "mpi/job/poll.h"
#include "mpi/entry/windows.h"
#include "mpi/entry/spawn.h"
#include "mpi/requests/requests.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;

TUTTI_ENTRY int MPI_Barrier(MPI_Comm comm) { return mpi::entry::Barrier(comm); }

TUTTI_ENTRY int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return mpi::entry::Bcast(buffer, count, datatype, root, comm);
}

TUTTI_ENTRY int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::entry::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

TUTTI_ENTRY int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm) {
  return mpi::entry::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                             comm);
}

TUTTI_ENTRY int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

TUTTI_ENTRY int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

TUTTI_ENTRY int MPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm) {
  return mpi::entry::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

TUTTI_ENTRY int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Scan(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::entry::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                             root, comm);
}

TUTTI_ENTRY int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::entry::Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                              root, comm);
}

TUTTI_ENTRY int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm);
}

TUTTI_ENTRY int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                               recvtype, comm);
}

TUTTI_ENTRY int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return mpi::entry::Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                               rdispls, recvtypes, comm);
}

TUTTI_ENTRY int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm comm) {
  return mpi::entry::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       comm);
}

TUTTI_ENTRY int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, const int recvcounts[], const int displs[],
                                        MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                         recvtype, comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                       const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                       const int recvcounts[], const int rdispls[],
                                       MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                        rdispls, recvtype, comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                       const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                       MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                        recvcounts, rdispls, recvtypes, comm);
}

TUTTI_ENTRY int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ibarrier(comm, request);
}

TUTTI_ENTRY int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                           MPI_Request* request) {
  return mpi::entry::Ibcast(buffer, count, datatype, root, comm, request);
}

TUTTI_ENTRY int MPI_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             request);
}

TUTTI_ENTRY int MPI_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm, request);
}

TUTTI_ENTRY int MPI_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Request* request) {
  return mpi::entry::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                request);
}

TUTTI_ENTRY int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Request* request) {
  return mpi::entry::Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                               request);
}

TUTTI_ENTRY int MPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

TUTTI_ENTRY int MPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                          MPI_Request* request) {
  return mpi::entry::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm,
                                           request);
}

TUTTI_ENTRY int MPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              root, comm, request);
}

TUTTI_ENTRY int MPI_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype, int root, MPI_Comm comm,
                              MPI_Request* request) {
  return mpi::entry::Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                               root, comm, request);
}

TUTTI_ENTRY int MPI_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, const int recvcounts[], const int displs[],
                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Request* request) {
  return mpi::entry::Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               const MPI_Datatype sendtypes[], void* recvbuf,
                               const int recvcounts[], const int rdispls[],
                               const MPI_Datatype recvtypes[], MPI_Comm comm,
                               MPI_Request* request) {
  return mpi::entry::Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm, request);
}

TUTTI_ENTRY int MPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    MPI_Request* request) {
  return mpi::entry::Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                        MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, const int recvcounts[], const int displs[],
                                         MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Request* request) {
  return mpi::entry::Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                        const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                        const int recvcounts[], const int rdispls[],
                                        MPI_Datatype recvtype, MPI_Comm comm,
                                        MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                        const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                        void* recvbuf, const int recvcounts[],
                                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                        MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm, request);
}

TUTTI_ENTRY int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Barrier_init(comm, info, request);
}

TUTTI_ENTRY int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Bcast_init(buffer, count, datatype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                 comm, info, request);
}

TUTTI_ENTRY int MPI_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                  comm, info, request);
}

TUTTI_ENTRY int MPI_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                   info, request);
}

TUTTI_ENTRY int MPI_Reduce_init(const void* sendbuf, void* recvbuf, int count,
                                MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
  return mpi::entry::Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  return mpi::entry::Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return mpi::entry::Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm,
                                               info, request);
}

TUTTI_ENTRY int MPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Exscan_init(const void* sendbuf, void* recvbuf, int count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return mpi::entry::Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const int displs[],
                                 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return mpi::entry::Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                  recvtype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                                  MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                  MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return mpi::entry::Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                   recvtype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const int recvcounts[], const int displs[],
                                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                    MPI_Request* request) {
  return mpi::entry::Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Info info, MPI_Request* request) {
  return mpi::entry::Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                    rdispls, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   const MPI_Datatype sendtypes[], void* recvbuf,
                                   const int recvcounts[], const int rdispls[],
                                   const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  return mpi::entry::Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm, info, request);
}

TUTTI_ENTRY int MPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        MPI_Info info, MPI_Request* request) {
  return mpi::entry::Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                         request);
}

TUTTI_ENTRY int MPI_Neighbor_allgather_init(const void* sendbuf, int sendcount,
                                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  return mpi::entry::Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                             recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request) {
  return mpi::entry::Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                            recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             const int recvcounts[], const int displs[],
                                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                             MPI_Request* request) {
  return mpi::entry::Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                              displs, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                            const int sdispls[], MPI_Datatype sendtype,
                                            void* recvbuf, const int recvcounts[],
                                            const int rdispls[], MPI_Datatype recvtype,
                                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                             recvcounts, rdispls, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                            const MPI_Aint sdispls[],
                                            const MPI_Datatype sendtypes[], void* recvbuf,
                                            const int recvcounts[], const MPI_Aint rdispls[],
                                            const MPI_Datatype recvtypes[], MPI_Comm comm,
                                            MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                             recvcounts, rdispls, recvtypes, comm, info, request);
}

#ifdef TUTTI_LARGE_COUNTS
TUTTI_ENTRY int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                            MPI_Comm comm) {
  return mpi::entry::Bcast_c(buffer, count, datatype, root, comm);
}

TUTTI_ENTRY int MPI_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm) {
  return mpi::entry::Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm);
}

TUTTI_ENTRY int MPI_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm) {
  return mpi::entry::Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               comm);
}

TUTTI_ENTRY int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                MPI_Comm comm) {
  return mpi::entry::Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

TUTTI_ENTRY int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm) {
  return mpi::entry::Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

TUTTI_ENTRY int MPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  return mpi::entry::Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
}

TUTTI_ENTRY int MPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Scan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::entry::Exscan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::entry::Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               root, comm);
}

TUTTI_ENTRY int MPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm) {
  return mpi::entry::Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                                root, comm);
}

TUTTI_ENTRY int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                  recvtype, comm);
}

TUTTI_ENTRY int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                 rdispls, recvtype, comm);
}

TUTTI_ENTRY int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                MPI_Comm comm) {
  return mpi::entry::Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                 rdispls, recvtypes, comm);
}

TUTTI_ENTRY int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf,
                                     const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                     MPI_Comm comm) {
  return mpi::entry::Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

TUTTI_ENTRY int MPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount,
                                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                         MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                          recvtype, comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                        MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm);
}

TUTTI_ENTRY int MPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                          MPI_Datatype sendtype, void* recvbuf,
                                          const MPI_Count recvcounts[], const MPI_Aint displs[],
                                          MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::entry::Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                           displs, recvtype, comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                         const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                         void* recvbuf, const MPI_Count recvcounts[],
                                         const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                         MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                          recvcounts, rdispls, recvtype, comm);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                         const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                         void* recvbuf, const MPI_Count recvcounts[],
                                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                         MPI_Comm comm) {
  return mpi::entry::Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                          recvcounts, rdispls, recvtypes, comm);
}

TUTTI_ENTRY int MPI_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                             MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ibcast_c(buffer, count, datatype, root, comm, request);
}

TUTTI_ENTRY int MPI_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               comm, request);
}

TUTTI_ENTRY int MPI_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                comm, request);
}

TUTTI_ENTRY int MPI_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  request);
}

TUTTI_ENTRY int MPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                 request);
}

TUTTI_ENTRY int MPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                              MPI_Request* request) {
  return mpi::entry::Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

TUTTI_ENTRY int MPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request* request) {
  return mpi::entry::Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                            MPI_Request* request) {
  return mpi::entry::Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm,
                                             request);
}

TUTTI_ENTRY int MPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  return mpi::entry::Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, int root, MPI_Comm comm,
                               MPI_Request* request) {
  return mpi::entry::Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                root, comm, request);
}

TUTTI_ENTRY int MPI_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                MPI_Request* request) {
  return mpi::entry::Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                 recvtype, root, comm, request);
}

TUTTI_ENTRY int MPI_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const MPI_Count recvcounts[],
                                  const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                  MPI_Request* request) {
  return mpi::entry::Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                 MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes, comm, request);
}

TUTTI_ENTRY int MPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf,
                                      const MPI_Count recvcounts[], MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                          MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Request* request) {
  return mpi::entry::Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                           recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                         MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                          recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           const MPI_Count recvcounts[], const MPI_Aint displs[],
                                           MPI_Datatype recvtype, MPI_Comm comm,
                                           MPI_Request* request) {
  return mpi::entry::Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                            displs, recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                          void* recvbuf, const MPI_Count recvcounts[],
                                          const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                          MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                           recvcounts, rdispls, recvtype, comm, request);
}

TUTTI_ENTRY int MPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                          void* recvbuf, const MPI_Count recvcounts[],
                                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                          MPI_Comm comm, MPI_Request* request) {
  return mpi::entry::Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                           recvcounts, rdispls, recvtypes, comm, request);
}

TUTTI_ENTRY int MPI_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Bcast_init_c(buffer, count, datatype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                   comm, info, request);
}

TUTTI_ENTRY int MPI_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    root, comm, info, request);
}

TUTTI_ENTRY int MPI_Allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::entry::Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm, info, request);
}

TUTTI_ENTRY int MPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  return mpi::entry::Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info,
                                   request);
}

TUTTI_ENTRY int MPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::entry::Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf,
                                                MPI_Count recvcount, MPI_Datatype datatype,
                                                MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return mpi::entry::Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm,
                                                 info, request);
}

TUTTI_ENTRY int MPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return mpi::entry::Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return mpi::entry::Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

TUTTI_ENTRY int MPI_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                    recvtype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                     recvtype, root, comm, info, request);
}

TUTTI_ENTRY int MPI_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                      MPI_Datatype sendtype, void* recvbuf,
                                      const MPI_Count recvcounts[], const MPI_Aint displs[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                      MPI_Request* request) {
  return mpi::entry::Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                       recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  return mpi::entry::Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                      rdispls, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                     void* recvbuf, const MPI_Count recvcounts[],
                                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                      rdispls, recvtypes, comm, info, request);
}

TUTTI_ENTRY int MPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf,
                                          const MPI_Count recvcounts[], MPI_Datatype datatype,
                                          MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  return mpi::entry::Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                           request);
}

TUTTI_ENTRY int MPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                              MPI_Datatype sendtype, void* recvbuf,
                                              MPI_Count recvcount, MPI_Datatype recvtype,
                                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             MPI_Count recvcount, MPI_Datatype recvtype,
                                             MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                              recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                               MPI_Datatype sendtype, void* recvbuf,
                                               const MPI_Count recvcounts[],
                                               const MPI_Aint displs[], MPI_Datatype recvtype,
                                               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                displs, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                               recvcounts, rdispls, recvtype, comm, info, request);
}

TUTTI_ENTRY int MPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[],
                                              const MPI_Datatype sendtypes[], void* recvbuf,
                                              const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[],
                                              const MPI_Datatype recvtypes[], MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return mpi::entry::Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                               recvcounts, rdispls, recvtypes, comm, info, request);
}

#endif

TUTTI_ENTRY int MPI_Init(int* argc, char*** argv) { return mpi::init(argc, argv); }

TUTTI_ENTRY int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return mpi::init_thread(argc, argv, required, provided);
}

TUTTI_ENTRY int MPI_Query_thread(int* provided) { return mpi::query_thread(provided); }

TUTTI_ENTRY int MPI_Finalize() { return mpi::finalize(); }

TUTTI_ENTRY int MPI_Abort(MPI_Comm comm, int errorcode) { return mpi::abort(comm, errorcode); }

#ifdef TUTTI_SESSIONS
TUTTI_ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  return mpi::session_init(info, errhandler, session);
}

#endif
#ifdef TUTTI_SESSIONS
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

TUTTI_ENTRY int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  return mpi::alloc_mem(size, info, baseptr);
}

TUTTI_ENTRY int MPI_Free_mem(void* base) { return mpi::free_mem(base); }

TUTTI_ENTRY int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                 void* baseptr, MPI_Win* win) {
  return mpi::win_allocate(size, disp_unit, info, comm, baseptr, win);
}

TUTTI_ENTRY int MPI_Win_free(MPI_Win* win) { return mpi::win_free(win); }

TUTTI_ENTRY int MPI_Win_get_attr(MPI_Win win, int win_keyval, void* attribute_val, int* flag) {
  return mpi::win_get_attr(win, win_keyval, attribute_val, flag);
}

#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Win win) {
  return mpi::put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                  target_count, target_datatype, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Win win) {
  return mpi::get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                  target_count, target_datatype, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Accumulate(const void* origin_addr, int origin_count,
                               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                               int target_count, MPI_Datatype target_datatype, MPI_Op op,
                               MPI_Win win) {
  return mpi::accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                         target_count, target_datatype, op, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Get_accumulate(const void* origin_addr, int origin_count,
                                   MPI_Datatype origin_datatype, void* result_addr,
                                   int result_count, MPI_Datatype result_datatype, int target_rank,
                                   MPI_Aint target_disp, int target_count,
                                   MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return mpi::get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                             result_datatype, target_rank, target_disp, target_count,
                             target_datatype, op, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                                 int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  return mpi::fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Compare_and_swap(const void* origin_addr, const void* compare_addr,
                                     void* result_addr, MPI_Datatype datatype, int target_rank,
                                     MPI_Aint target_disp, MPI_Win win) {
  return mpi::compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                               target_disp, win);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  return mpi::rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win, request);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  return mpi::rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win, request);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Raccumulate(const void* origin_addr, int origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                MPI_Win win, MPI_Request* request) {
  return mpi::raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                          target_count, target_datatype, op, win, request);
}

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int MPI_Rget_accumulate(const void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, void* result_addr,
                                    int result_count, MPI_Datatype result_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                                    MPI_Request* request) {
  return mpi::rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                              result_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, request);
}

#endif
TUTTI_ENTRY int MPI_Start(MPI_Request* request) { return mpi::start(request); }

TUTTI_ENTRY int MPI_Startall(int count, MPI_Request array_of_requests[]) {
  return mpi::start_all(count, array_of_requests);
}

TUTTI_ENTRY int MPI_Request_free(MPI_Request* request) { return mpi::free_request(request); }

TUTTI_ENTRY int MPI_Cancel(MPI_Request* request) { return mpi::cancel(request); }

TUTTI_ENTRY int MPI_Waitany(int count, MPI_Request array_of_requests[], int* index,
                            MPI_Status* status) {
  return mpi::wait_any(count, array_of_requests, index, status);
}

TUTTI_ENTRY int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[]) {
  return mpi::wait_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

TUTTI_ENTRY int MPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                            MPI_Status* status) {
  return mpi::test_any(count, array_of_requests, index, flag, status);
}

TUTTI_ENTRY int MPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[]) {
  return mpi::test_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

TUTTI_ENTRY int MPI_Type_free(MPI_Datatype* datatype) { return mpi::free_type(datatype); }

TUTTI_ENTRY int MPI_Op_free(MPI_Op* op) { return mpi::free_op(op); }

TUTTI_ENTRY int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[],
                                           int* flag, MPI_Status* array_of_statuses) {
  return mpi::get_status_all(count, array_of_requests, flag, array_of_statuses);
}

TUTTI_ENTRY int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[],
                                           int* index, int* flag, MPI_Status* status) {
  return mpi::get_status_any(count, array_of_requests, index, flag, status);
}

TUTTI_ENTRY int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[],
                                            int* outcount, int array_of_indices[],
                                            MPI_Status* array_of_statuses) {
  return mpi::get_status_some(incount, array_of_requests, outcount, array_of_indices,
                              array_of_statuses);
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

TUTTI_ENTRY int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return mpi::wait_for_one(mpi::Requests{1, request}, status,
                           [&] { return mpi::host().Wait(request, status); });
}

TUTTI_ENTRY int MPI_Waitall(int count, MPI_Request array_of_requests[],
                            MPI_Status array_of_statuses[]) {
  return mpi::wait_for_all(mpi::Requests{count, array_of_requests}, array_of_statuses, [&] {
    return mpi::host().Waitall(count, array_of_requests, array_of_statuses);
  });
}

TUTTI_ENTRY int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return mpi::test_one(mpi::Requests{1, request}, flag, true,
                       [&] { return mpi::host().Test(request, flag, status); });
}

TUTTI_ENTRY int MPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
                            MPI_Status array_of_statuses[]) {
  return mpi::test_all(mpi::Requests{count, array_of_requests}, flag, array_of_statuses, true, [&] {
    return mpi::host().Testall(count, array_of_requests, flag, array_of_statuses);
  });
}

TUTTI_ENTRY int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return mpi::test_one(mpi::Requests{1, &request}, flag, false,
                       [&] { return mpi::host().Request_get_status(request, flag, status); });
}

// Simulated ranks call SMPI's own functions.
#if !defined(TUTTI_ABI_SMPI)
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Win win)
    __attribute__((alias("MPI_Put")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Win win)
    __attribute__((alias("MPI_Get")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Accumulate(const void* origin_addr, int origin_count,
                                MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                int target_count, MPI_Datatype target_datatype, MPI_Op op,
                                MPI_Win win) __attribute__((alias("MPI_Accumulate")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Get_accumulate(const void* origin_addr, int origin_count,
                                    MPI_Datatype origin_datatype, void* result_addr,
                                    int result_count, MPI_Datatype result_datatype, int target_rank,
                                    MPI_Aint target_disp, int target_count,
                                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
    __attribute__((alias("MPI_Get_accumulate")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                                  int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
    __attribute__((alias("MPI_Fetch_and_op")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr,
                                      void* result_addr, MPI_Datatype datatype, int target_rank,
                                      MPI_Aint target_disp, MPI_Win win)
    __attribute__((alias("MPI_Compare_and_swap")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                          int target_rank, MPI_Aint target_disp, int target_count,
                          MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request)
    __attribute__((alias("MPI_Rput")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                          int target_rank, MPI_Aint target_disp, int target_count,
                          MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request)
    __attribute__((alias("MPI_Rget")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Raccumulate(const void* origin_addr, int origin_count,
                                 MPI_Datatype origin_datatype, int target_rank,
                                 MPI_Aint target_disp, int target_count,
                                 MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                                 MPI_Request* request) __attribute__((alias("MPI_Raccumulate")));

#endif
#ifdef TUTTI_WINDOWS
TUTTI_ENTRY int PMPI_Rget_accumulate(const void* origin_addr, int origin_count,
                                     MPI_Datatype origin_datatype, void* result_addr,
                                     int result_count, MPI_Datatype result_datatype,
                                     int target_rank, MPI_Aint target_disp, int target_count,
                                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                                     MPI_Request* request)
    __attribute__((alias("MPI_Rget_accumulate")));

#endif
TUTTI_ENTRY int PMPI_Start(MPI_Request* request) __attribute__((alias("MPI_Start")));

TUTTI_ENTRY int PMPI_Startall(int count, MPI_Request array_of_requests[])
    __attribute__((alias("MPI_Startall")));

TUTTI_ENTRY int PMPI_Request_free(MPI_Request* request) __attribute__((alias("MPI_Request_free")));

TUTTI_ENTRY int PMPI_Cancel(MPI_Request* request) __attribute__((alias("MPI_Cancel")));

TUTTI_ENTRY int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index,
                             MPI_Status* status) __attribute__((alias("MPI_Waitany")));

TUTTI_ENTRY int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                              int array_of_indices[], MPI_Status array_of_statuses[])
    __attribute__((alias("MPI_Waitsome")));

TUTTI_ENTRY int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                             MPI_Status* status) __attribute__((alias("MPI_Testany")));

TUTTI_ENTRY int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                              int array_of_indices[], MPI_Status array_of_statuses[])
    __attribute__((alias("MPI_Testsome")));

TUTTI_ENTRY int PMPI_Type_free(MPI_Datatype* datatype) __attribute__((alias("MPI_Type_free")));

TUTTI_ENTRY int PMPI_Op_free(MPI_Op* op) __attribute__((alias("MPI_Op_free")));

TUTTI_ENTRY int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[],
                                            int* flag, MPI_Status* array_of_statuses)
    __attribute__((alias("MPI_Request_get_status_all")));

TUTTI_ENTRY int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[],
                                            int* index, int* flag, MPI_Status* status)
    __attribute__((alias("MPI_Request_get_status_any")));

TUTTI_ENTRY int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[],
                                             int* outcount, int array_of_indices[],
                                             MPI_Status* array_of_statuses)
    __attribute__((alias("MPI_Request_get_status_some")));

TUTTI_ENTRY int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status)
    __attribute__((alias("MPI_Iprobe")));

TUTTI_ENTRY int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                             MPI_Status* status) __attribute__((alias("MPI_Improbe")));

TUTTI_ENTRY int PMPI_Win_test(MPI_Win win, int* flag) __attribute__((alias("MPI_Win_test")));

TUTTI_ENTRY int PMPI_Wait(MPI_Request* request, MPI_Status* status)
    __attribute__((alias("MPI_Wait")));

TUTTI_ENTRY int PMPI_Waitall(int count, MPI_Request array_of_requests[],
                             MPI_Status array_of_statuses[]) __attribute__((alias("MPI_Waitall")));

TUTTI_ENTRY int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
    __attribute__((alias("MPI_Test")));

TUTTI_ENTRY int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
                             MPI_Status array_of_statuses[]) __attribute__((alias("MPI_Testall")));

TUTTI_ENTRY int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status)
    __attribute__((alias("MPI_Request_get_status")));

TUTTI_ENTRY int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().makers.Comm_dup(comm, made); });
}

TUTTI_ENTRY int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().Comm_dup(comm, made); });
}

TUTTI_ENTRY int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().makers.Comm_dup_with_info(comm, info, made); });
}

TUTTI_ENTRY int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().Comm_dup_with_info(comm, info, made); });
}

TUTTI_ENTRY int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return mpi::made(mpi::Making::by_request(comm), made,
                   [&] { return mpi::host().makers.Comm_idup(comm, made, request); });
}

TUTTI_ENTRY int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return mpi::made(mpi::Making::by_request(comm), made,
                   [&] { return mpi::host().Comm_idup(comm, made, request); });
}

TUTTI_ENTRY int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made,
                                        MPI_Request* request) {
  return mpi::made(mpi::Making::by_request(comm), made, [&]() -> int {
    if (mpi::host().makers.Comm_idup_with_info == nullptr) return MPI_ERR_OTHER;
    return mpi::host().makers.Comm_idup_with_info(comm, info, made, request);
  });
}

TUTTI_ENTRY int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made,
                                         MPI_Request* request) {
  return mpi::made(mpi::Making::by_request(comm), made, [&]() -> int {
    if (mpi::host().Comm_idup_with_info == nullptr) return MPI_ERR_OTHER;
    return mpi::host().Comm_idup_with_info(comm, info, made, request);
  });
}

TUTTI_ENTRY int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().makers.Comm_create(comm, group, made); },
      [&] { return mpi::is_outside(group); });
}

TUTTI_ENTRY int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().Comm_create(comm, group, made); },
      [&] { return mpi::is_outside(group); });
}

TUTTI_ENTRY int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_group(comm, group, tag), made,
      [&] { return mpi::host().makers.Comm_create_group(comm, group, tag, made); },
      [&] { return mpi::is_outside(group); });
}

TUTTI_ENTRY int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_group(comm, group, tag), made,
      [&] { return mpi::host().Comm_create_group(comm, group, tag, made); },
      [&] { return mpi::is_outside(group); });
}

TUTTI_ENTRY int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                                           MPI_Errhandler handler, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_session(), made, [&]() -> int {
    if (mpi::host().makers.Comm_create_from_group == nullptr) return MPI_ERR_OTHER;
    return mpi::host().makers.Comm_create_from_group(group, tag, info, handler, made);
  });
}

TUTTI_ENTRY int PMPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                                            MPI_Errhandler handler, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_session(), made, [&]() -> int {
    if (mpi::host().Comm_create_from_group == nullptr) return MPI_ERR_OTHER;
    return mpi::host().Comm_create_from_group(group, tag, info, handler, made);
  });
}

TUTTI_ENTRY int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().makers.Comm_split(comm, color, key, made); },
      [&] { return color == MPI_UNDEFINED; });
}

TUTTI_ENTRY int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().Comm_split(comm, color, key, made); },
      [&] { return color == MPI_UNDEFINED; });
}

TUTTI_ENTRY int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                    MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().makers.Comm_split_type(comm, type, key, info, made); },
      [&] { return type == MPI_UNDEFINED; });
}

TUTTI_ENTRY int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                     MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().Comm_split_type(comm, type, key, info, made); },
      [&] { return type == MPI_UNDEFINED; });
}

TUTTI_ENTRY int MPI_Cart_create(MPI_Comm comm, int dimensions, const int lengths[],
                                const int periods[], int reorder, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] {
        return mpi::host().makers.Cart_create(comm, dimensions, lengths, periods, reorder, made);
      },
      [&] { return mpi::is_beyond(comm, dimensions, lengths); });
}

TUTTI_ENTRY int PMPI_Cart_create(MPI_Comm comm, int dimensions, const int lengths[],
                                 const int periods[], int reorder, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().Cart_create(comm, dimensions, lengths, periods, reorder, made); },
      [&] { return mpi::is_beyond(comm, dimensions, lengths); });
}

TUTTI_ENTRY int MPI_Cart_sub(MPI_Comm comm, const int remaining[], MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().makers.Cart_sub(comm, remaining, made); });
}

TUTTI_ENTRY int PMPI_Cart_sub(MPI_Comm comm, const int remaining[], MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made,
                   [&] { return mpi::host().Cart_sub(comm, remaining, made); });
}

TUTTI_ENTRY int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[],
                                 int reorder, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().makers.Graph_create(comm, nodes, index, edges, reorder, made); },
      [&] { return mpi::is_beyond(comm, nodes); });
}

TUTTI_ENTRY int PMPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[],
                                  int reorder, MPI_Comm* made) {
  return mpi::made(
      mpi::Making::by_parent(comm), made,
      [&] { return mpi::host().Graph_create(comm, nodes, index, edges, reorder, made); },
      [&] { return mpi::is_beyond(comm, nodes); });
}

TUTTI_ENTRY int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[],
                                      const int degrees[], const int destinations[],
                                      const int weights[], MPI_Info info, int reorder,
                                      MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made, [&] {
    return mpi::dist_graph_create(mpi::host().makers, comm, n, sources, degrees, destinations,
                                  weights, info, reorder, made);
  });
}

TUTTI_ENTRY int PMPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[],
                                       const int degrees[], const int destinations[],
                                       const int weights[], MPI_Info info, int reorder,
                                       MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made, [&] {
    return mpi::dist_graph_create(mpi::host(), comm, n, sources, degrees, destinations, weights,
                                  info, reorder, made);
  });
}

TUTTI_ENTRY int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[],
                                               const int source_weights[], int out,
                                               const int destinations[],
                                               const int destination_weights[], MPI_Info info,
                                               int reorder, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made, [&] {
    return mpi::host().makers.Dist_graph_create_adjacent(comm, in, sources, source_weights, out,
                                                         destinations, destination_weights, info,
                                                         reorder, made);
  });
}

TUTTI_ENTRY int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int sources[],
                                                const int source_weights[], int out,
                                                const int destinations[],
                                                const int destination_weights[], MPI_Info info,
                                                int reorder, MPI_Comm* made) {
  return mpi::made(mpi::Making::by_parent(comm), made, [&] {
    return mpi::host().Dist_graph_create_adjacent(comm, in, sources, source_weights, out,
                                                  destinations, destination_weights, info, reorder,
                                                  made);
  });
}

TUTTI_ENTRY int MPI_Comm_free(MPI_Comm* comm) {
  return mpi::freed(comm, [&] { return mpi::host().makers.Comm_free(comm); });
}

TUTTI_ENTRY int PMPI_Comm_free(MPI_Comm* comm) {
  return mpi::freed(comm, [&] { return mpi::host().Comm_free(comm); });
}

TUTTI_ENTRY int MPI_Comm_disconnect(MPI_Comm* comm) {
  return mpi::freed(comm, [&] { return mpi::host().makers.Comm_disconnect(comm); });
}

TUTTI_ENTRY int PMPI_Comm_disconnect(MPI_Comm* comm) {
  return mpi::freed(comm, [&] { return mpi::host().Comm_disconnect(comm); });
}

#endif
