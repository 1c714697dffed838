// Made by scripts/mpi_functions.py from src/mpi/functions.table. To change this file, change
// the table and run `make functions`.

// The host MPI's functions by name (host.h says who owns them and when they are found). A
// pointer is null if the MPI lacks the function.
#pragma once

#include "net/abi.h"

namespace tutti::mpi {

// The functions that make and free communicators of this process's job.
struct CommunicatorFunctions {
  int (*Comm_dup)(MPI_Comm comm, MPI_Comm* made);
  int (*Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm* made);
  int (*Comm_idup)(MPI_Comm comm, MPI_Comm* made, MPI_Request* request);
  int (*Comm_idup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request);
  int (*Comm_create)(MPI_Comm comm, MPI_Group group, MPI_Comm* made);
  int (*Comm_create_group)(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
  int (*Comm_create_from_group)(MPI_Group group, const char* tag, MPI_Info info,
                                MPI_Errhandler handler, MPI_Comm* made);
  int (*Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm* made);
  int (*Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made);
  int (*Cart_create)(MPI_Comm comm, int dimensions, const int lengths[], const int periods[],
                     int reorder, MPI_Comm* made);
  int (*Cart_sub)(MPI_Comm comm, const int remaining[], MPI_Comm* made);
  int (*Graph_create)(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                      MPI_Comm* made);
  int (*Dist_graph_create)(MPI_Comm comm, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info,
                           int reorder, MPI_Comm* made);
  int (*Dist_graph_create_adjacent)(MPI_Comm comm, int in, const int sources[],
                                    const int source_weights[], int out, const int destinations[],
                                    const int destination_weights[], MPI_Info info, int reorder,
                                    MPI_Comm* made);
  int (*Comm_free)(MPI_Comm* comm);
  int (*Comm_disconnect)(MPI_Comm* comm);
};

struct HostFunctions {
  // The collectives: blocking, non-blocking (I...), persistent (_init), each also with large
  // counts (_c).
  int (*Barrier)(MPI_Comm comm);
  int (*Bcast)(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
  int (*Bcast_c)(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
  int (*Gather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
  int (*Gather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
  int (*Scatter)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
  int (*Scatter_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
  int (*Allgather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Allgather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Alltoall)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Alltoall_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Reduce)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm);
  int (*Reduce_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm);
  int (*Allreduce)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm);
  int (*Allreduce_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm);
  int (*Reduce_scatter_block)(const void* sendbuf, void* recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
  int (*Reduce_scatter_block_c)(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
  int (*Scan)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm);
  int (*Scan_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm);
  int (*Exscan)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm);
  int (*Exscan_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm);
  int (*Gatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm);
  int (*Gatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm);
  int (*Scatterv)(const void* sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm);
  int (*Scatterv_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
  int (*Allgatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm);
  int (*Allgatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm);
  int (*Alltoallv)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
  int (*Alltoallv_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
  int (*Alltoallw)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
  int (*Alltoallw_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);
  int (*Reduce_scatter)(const void* sendbuf, void* recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
  int (*Reduce_scatter_c)(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
  int (*Neighbor_allgather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_allgather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm);
  int (*Neighbor_alltoall)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_alltoall_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm);
  int (*Neighbor_allgatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_allgatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_alltoallv)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_alltoallv_c)(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm);
  int (*Neighbor_alltoallw)(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                            MPI_Comm comm);
  int (*Neighbor_alltoallw_c)(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm);
  int (*Ibarrier)(MPI_Comm comm, MPI_Request* request);
  int (*Ibcast)(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request* request);
  int (*Ibcast_c)(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request* request);
  int (*Igather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request* request);
  int (*Igather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request* request);
  int (*Iscatter)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request* request);
  int (*Iscatter_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request* request);
  int (*Iallgather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
  int (*Iallgather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request);
  int (*Ialltoall)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
  int (*Ialltoall_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request* request);
  int (*Ireduce)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request* request);
  int (*Ireduce_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request* request);
  int (*Iallreduce)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request);
  int (*Iallreduce_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request* request);
  int (*Ireduce_scatter_block)(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request);
  int (*Ireduce_scatter_block_c)(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request* request);
  int (*Iscan)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request* request);
  int (*Iscan_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request* request);
  int (*Iexscan)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request* request);
  int (*Iexscan_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request* request);
  int (*Igatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request* request);
  int (*Igatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request* request);
  int (*Iscatterv)(const void* sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request* request);
  int (*Iscatterv_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request);
  int (*Iallgatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request* request);
  int (*Iallgatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
  int (*Ialltoallv)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request);
  int (*Ialltoallv_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request* request);
  int (*Ialltoallw)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request* request);
  int (*Ialltoallw_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request* request);
  int (*Ireduce_scatter)(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
  int (*Ireduce_scatter_c)(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_allgather)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request);
  int (*Ineighbor_allgather_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_alltoall)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request* request);
  int (*Ineighbor_alltoall_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_allgatherv)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_allgatherv_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request* request);
  int (*Ineighbor_alltoallv)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request);
  int (*Ineighbor_alltoallv_c)(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_alltoallw)(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request* request);
  int (*Ineighbor_alltoallw_c)(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void* recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request* request);
  int (*Barrier_init)(MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Bcast_init)(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request* request);
  int (*Bcast_init_c)(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request* request);
  int (*Gather_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request);
  int (*Gather_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Scatter_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request);
  int (*Scatter_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Allgather_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request);
  int (*Allgather_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request* request);
  int (*Alltoall_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request* request);
  int (*Alltoall_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request);
  int (*Reduce_init)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Reduce_init_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Allreduce_init)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Allreduce_init_c)(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request);
  int (*Reduce_scatter_block_init)(const void* sendbuf, void* recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request);
  int (*Reduce_scatter_block_init_c)(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request);
  int (*Scan_init)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Scan_init_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Exscan_init)(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Exscan_init_c)(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Gatherv_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Gatherv_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request);
  int (*Scatterv_init)(const void* sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Scatterv_init_c)(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request);
  int (*Allgatherv_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Allgatherv_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request* request);
  int (*Alltoallv_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request);
  int (*Alltoallv_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request);
  int (*Alltoallw_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request* request);
  int (*Alltoallw_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request* request);
  int (*Reduce_scatter_init)(const void* sendbuf, void* recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request);
  int (*Reduce_scatter_init_c)(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request* request);
  int (*Neighbor_allgather_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request);
  int (*Neighbor_allgather_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Neighbor_alltoall_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request);
  int (*Neighbor_alltoall_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request);
  int (*Neighbor_allgatherv_init)(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request);
  int (*Neighbor_allgatherv_init_c)(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request* request);
  int (*Neighbor_alltoallv_init)(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request);
  int (*Neighbor_alltoallv_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request);
  int (*Neighbor_alltoallw_init)(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request);
  int (*Neighbor_alltoallw_init_c)(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
  // The other functions that Tutti interposes.
  int (*Init)(int* argc, char*** argv);
  int (*Init_thread)(int* argc, char*** argv, int required, int* provided);
  int (*Query_thread)(int* provided);
  int (*Finalize)();
  int (*Abort)(MPI_Comm comm, int errorcode);
#ifdef TUTTI_SESSIONS
  int (*Session_init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
#endif
#ifdef TUTTI_SESSIONS
  int (*Session_finalize)(MPI_Session* session);
#endif
  int (*Comm_spawn)(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]);
  int (*Intercomm_merge)(MPI_Comm intercomm, int high, MPI_Comm* newintracomm);
  int (*Alloc_mem)(MPI_Aint size, MPI_Info info, void* baseptr);
  int (*Free_mem)(void* base);
  int (*Win_allocate)(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                      MPI_Win* win);
  int (*Win_free)(MPI_Win* win);
  int (*Win_get_attr)(MPI_Win win, int win_keyval, void* attribute_val, int* flag);
#ifdef TUTTI_WINDOWS
  int (*Put)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Get)(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Accumulate)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Get_accumulate)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void* result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Fetch_and_op)(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Compare_and_swap)(const void* origin_addr, const void* compare_addr, void* result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Win win);
#endif
#ifdef TUTTI_WINDOWS
  int (*Rput)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request* request);
#endif
#ifdef TUTTI_WINDOWS
  int (*Rget)(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request* request);
#endif
#ifdef TUTTI_WINDOWS
  int (*Raccumulate)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request);
#endif
#ifdef TUTTI_WINDOWS
  int (*Rget_accumulate)(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void* result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                         MPI_Request* request);
#endif
  int (*Start)(MPI_Request* request);
  int (*Startall)(int count, MPI_Request array_of_requests[]);
  int (*Request_free)(MPI_Request* request);
  int (*Cancel)(MPI_Request* request);
  int (*Waitany)(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status);
  int (*Waitsome)(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]);
  int (*Testany)(int count, MPI_Request array_of_requests[], int* index, int* flag,
                 MPI_Status* status);
  int (*Testsome)(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]);
  int (*Type_free)(MPI_Datatype* datatype);
  int (*Op_free)(MPI_Op* op);
  int (*Request_get_status_all)(int count, const MPI_Request array_of_requests[], int* flag,
                                MPI_Status* array_of_statuses);
  int (*Request_get_status_any)(int count, const MPI_Request array_of_requests[], int* index,
                                int* flag, MPI_Status* status);
  int (*Request_get_status_some)(int incount, const MPI_Request array_of_requests[], int* outcount,
                                 int array_of_indices[], MPI_Status* array_of_statuses);
  int (*Iprobe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
  int (*Improbe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                 MPI_Status* status);
  int (*Win_test)(MPI_Win win, int* flag);
  int (*Wait)(MPI_Request* request, MPI_Status* status);
  int (*Waitall)(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]);
  int (*Test)(MPI_Request* request, int* flag, MPI_Status* status);
  int (*Testall)(int count, MPI_Request array_of_requests[], int* flag,
                 MPI_Status array_of_statuses[]);
  int (*Request_get_status)(MPI_Request request, int* flag, MPI_Status* status);
  // The functions that only Tutti itself calls.
  decltype(&PMPI_Initialized) Initialized;
  decltype(&PMPI_Comm_size) Comm_size;
  decltype(&PMPI_Comm_remote_size) Comm_remote_size;
  decltype(&PMPI_Comm_rank) Comm_rank;
  decltype(&PMPI_Comm_group) Comm_group;
  decltype(&PMPI_Comm_test_inter) Comm_test_inter;
  decltype(&PMPI_Error_class) Error_class;
  decltype(&PMPI_Get_library_version) Get_library_version;
  decltype(&PMPI_Comm_call_errhandler) Comm_call_errhandler;
  decltype(&PMPI_Comm_set_errhandler) Comm_set_errhandler;
  decltype(&PMPI_Comm_create_errhandler) Comm_create_errhandler;
  decltype(&PMPI_Errhandler_free) Errhandler_free;
  decltype(&PMPI_Comm_create_keyval) Comm_create_keyval;
  decltype(&PMPI_Comm_free_keyval) Comm_free_keyval;
  decltype(&PMPI_Comm_set_attr) Comm_set_attr;
  decltype(&PMPI_Comm_get_attr) Comm_get_attr;
  decltype(&PMPI_Comm_get_parent) Comm_get_parent;
  decltype(&PMPI_Group_size) Group_size;
  decltype(&PMPI_Group_incl) Group_incl;
  decltype(&PMPI_Group_translate_ranks) Group_translate_ranks;
  decltype(&PMPI_Group_free) Group_free;
  decltype(&PMPI_Send_init) Send_init;
  decltype(&PMPI_Isend) Isend;
  decltype(&PMPI_Irecv) Irecv;
  decltype(&PMPI_Send) Send;
  decltype(&PMPI_Recv) Recv;
  decltype(&PMPI_Topo_test) Topo_test;
  decltype(&PMPI_Cartdim_get) Cartdim_get;
  decltype(&PMPI_Cart_shift) Cart_shift;
  decltype(&PMPI_Graph_neighbors_count) Graph_neighbors_count;
  decltype(&PMPI_Graph_neighbors) Graph_neighbors;
  decltype(&PMPI_Dist_graph_neighbors_count) Dist_graph_neighbors_count;
  decltype(&PMPI_Dist_graph_neighbors) Dist_graph_neighbors;
  decltype(&PMPI_Get_count) Get_count;
  decltype(&PMPI_Type_size) Type_size;
  decltype(&PMPI_Type_get_extent) Type_get_extent;
  decltype(&PMPI_Type_get_true_extent) Type_get_true_extent;
  decltype(&PMPI_Type_get_envelope) Type_get_envelope;
  decltype(&PMPI_Type_get_contents) Type_get_contents;
  decltype(&PMPI_Type_dup) Type_dup;
  decltype(&PMPI_Pack) Pack;
  decltype(&PMPI_Unpack) Unpack;
  decltype(&PMPI_Op_commutative) Op_commutative;
  decltype(&PMPI_Reduce_local) Reduce_local;
  decltype(&PMPI_Info_get) Info_get;
  decltype(&PMPI_Win_create) Win_create;
#ifdef TUTTI_LARGE_COUNTS
  decltype(&PMPI_Type_get_envelope_c) Type_get_envelope_c;
#endif
#ifdef TUTTI_SESSIONS
  decltype(&PMPI_Group_from_session_pset) Group_from_session_pset;
#endif
};

// Each calls locate(POINTER, NAME) for each function.
template <class Locate>
void locate_interposed(HostFunctions& functions, Locate&& locate) {
  locate(functions.Barrier, "PMPI_Barrier");
  locate(functions.Bcast, "PMPI_Bcast");
  locate(functions.Bcast_c, "PMPI_Bcast_c");
  locate(functions.Gather, "PMPI_Gather");
  locate(functions.Gather_c, "PMPI_Gather_c");
  locate(functions.Scatter, "PMPI_Scatter");
  locate(functions.Scatter_c, "PMPI_Scatter_c");
  locate(functions.Allgather, "PMPI_Allgather");
  locate(functions.Allgather_c, "PMPI_Allgather_c");
  locate(functions.Alltoall, "PMPI_Alltoall");
  locate(functions.Alltoall_c, "PMPI_Alltoall_c");
  locate(functions.Reduce, "PMPI_Reduce");
  locate(functions.Reduce_c, "PMPI_Reduce_c");
  locate(functions.Allreduce, "PMPI_Allreduce");
  locate(functions.Allreduce_c, "PMPI_Allreduce_c");
  locate(functions.Reduce_scatter_block, "PMPI_Reduce_scatter_block");
  locate(functions.Reduce_scatter_block_c, "PMPI_Reduce_scatter_block_c");
  locate(functions.Scan, "PMPI_Scan");
  locate(functions.Scan_c, "PMPI_Scan_c");
  locate(functions.Exscan, "PMPI_Exscan");
  locate(functions.Exscan_c, "PMPI_Exscan_c");
  locate(functions.Gatherv, "PMPI_Gatherv");
  locate(functions.Gatherv_c, "PMPI_Gatherv_c");
  locate(functions.Scatterv, "PMPI_Scatterv");
  locate(functions.Scatterv_c, "PMPI_Scatterv_c");
  locate(functions.Allgatherv, "PMPI_Allgatherv");
  locate(functions.Allgatherv_c, "PMPI_Allgatherv_c");
  locate(functions.Alltoallv, "PMPI_Alltoallv");
  locate(functions.Alltoallv_c, "PMPI_Alltoallv_c");
  locate(functions.Alltoallw, "PMPI_Alltoallw");
  locate(functions.Alltoallw_c, "PMPI_Alltoallw_c");
  locate(functions.Reduce_scatter, "PMPI_Reduce_scatter");
  locate(functions.Reduce_scatter_c, "PMPI_Reduce_scatter_c");
  locate(functions.Neighbor_allgather, "PMPI_Neighbor_allgather");
  locate(functions.Neighbor_allgather_c, "PMPI_Neighbor_allgather_c");
  locate(functions.Neighbor_alltoall, "PMPI_Neighbor_alltoall");
  locate(functions.Neighbor_alltoall_c, "PMPI_Neighbor_alltoall_c");
  locate(functions.Neighbor_allgatherv, "PMPI_Neighbor_allgatherv");
  locate(functions.Neighbor_allgatherv_c, "PMPI_Neighbor_allgatherv_c");
  locate(functions.Neighbor_alltoallv, "PMPI_Neighbor_alltoallv");
  locate(functions.Neighbor_alltoallv_c, "PMPI_Neighbor_alltoallv_c");
  locate(functions.Neighbor_alltoallw, "PMPI_Neighbor_alltoallw");
  locate(functions.Neighbor_alltoallw_c, "PMPI_Neighbor_alltoallw_c");
  locate(functions.Ibarrier, "PMPI_Ibarrier");
  locate(functions.Ibcast, "PMPI_Ibcast");
  locate(functions.Ibcast_c, "PMPI_Ibcast_c");
  locate(functions.Igather, "PMPI_Igather");
  locate(functions.Igather_c, "PMPI_Igather_c");
  locate(functions.Iscatter, "PMPI_Iscatter");
  locate(functions.Iscatter_c, "PMPI_Iscatter_c");
  locate(functions.Iallgather, "PMPI_Iallgather");
  locate(functions.Iallgather_c, "PMPI_Iallgather_c");
  locate(functions.Ialltoall, "PMPI_Ialltoall");
  locate(functions.Ialltoall_c, "PMPI_Ialltoall_c");
  locate(functions.Ireduce, "PMPI_Ireduce");
  locate(functions.Ireduce_c, "PMPI_Ireduce_c");
  locate(functions.Iallreduce, "PMPI_Iallreduce");
  locate(functions.Iallreduce_c, "PMPI_Iallreduce_c");
  locate(functions.Ireduce_scatter_block, "PMPI_Ireduce_scatter_block");
  locate(functions.Ireduce_scatter_block_c, "PMPI_Ireduce_scatter_block_c");
  locate(functions.Iscan, "PMPI_Iscan");
  locate(functions.Iscan_c, "PMPI_Iscan_c");
  locate(functions.Iexscan, "PMPI_Iexscan");
  locate(functions.Iexscan_c, "PMPI_Iexscan_c");
  locate(functions.Igatherv, "PMPI_Igatherv");
  locate(functions.Igatherv_c, "PMPI_Igatherv_c");
  locate(functions.Iscatterv, "PMPI_Iscatterv");
  locate(functions.Iscatterv_c, "PMPI_Iscatterv_c");
  locate(functions.Iallgatherv, "PMPI_Iallgatherv");
  locate(functions.Iallgatherv_c, "PMPI_Iallgatherv_c");
  locate(functions.Ialltoallv, "PMPI_Ialltoallv");
  locate(functions.Ialltoallv_c, "PMPI_Ialltoallv_c");
  locate(functions.Ialltoallw, "PMPI_Ialltoallw");
  locate(functions.Ialltoallw_c, "PMPI_Ialltoallw_c");
  locate(functions.Ireduce_scatter, "PMPI_Ireduce_scatter");
  locate(functions.Ireduce_scatter_c, "PMPI_Ireduce_scatter_c");
  locate(functions.Ineighbor_allgather, "PMPI_Ineighbor_allgather");
  locate(functions.Ineighbor_allgather_c, "PMPI_Ineighbor_allgather_c");
  locate(functions.Ineighbor_alltoall, "PMPI_Ineighbor_alltoall");
  locate(functions.Ineighbor_alltoall_c, "PMPI_Ineighbor_alltoall_c");
  locate(functions.Ineighbor_allgatherv, "PMPI_Ineighbor_allgatherv");
  locate(functions.Ineighbor_allgatherv_c, "PMPI_Ineighbor_allgatherv_c");
  locate(functions.Ineighbor_alltoallv, "PMPI_Ineighbor_alltoallv");
  locate(functions.Ineighbor_alltoallv_c, "PMPI_Ineighbor_alltoallv_c");
  locate(functions.Ineighbor_alltoallw, "PMPI_Ineighbor_alltoallw");
  locate(functions.Ineighbor_alltoallw_c, "PMPI_Ineighbor_alltoallw_c");
  locate(functions.Barrier_init, "PMPI_Barrier_init");
  locate(functions.Bcast_init, "PMPI_Bcast_init");
  locate(functions.Bcast_init_c, "PMPI_Bcast_init_c");
  locate(functions.Gather_init, "PMPI_Gather_init");
  locate(functions.Gather_init_c, "PMPI_Gather_init_c");
  locate(functions.Scatter_init, "PMPI_Scatter_init");
  locate(functions.Scatter_init_c, "PMPI_Scatter_init_c");
  locate(functions.Allgather_init, "PMPI_Allgather_init");
  locate(functions.Allgather_init_c, "PMPI_Allgather_init_c");
  locate(functions.Alltoall_init, "PMPI_Alltoall_init");
  locate(functions.Alltoall_init_c, "PMPI_Alltoall_init_c");
  locate(functions.Reduce_init, "PMPI_Reduce_init");
  locate(functions.Reduce_init_c, "PMPI_Reduce_init_c");
  locate(functions.Allreduce_init, "PMPI_Allreduce_init");
  locate(functions.Allreduce_init_c, "PMPI_Allreduce_init_c");
  locate(functions.Reduce_scatter_block_init, "PMPI_Reduce_scatter_block_init");
  locate(functions.Reduce_scatter_block_init_c, "PMPI_Reduce_scatter_block_init_c");
  locate(functions.Scan_init, "PMPI_Scan_init");
  locate(functions.Scan_init_c, "PMPI_Scan_init_c");
  locate(functions.Exscan_init, "PMPI_Exscan_init");
  locate(functions.Exscan_init_c, "PMPI_Exscan_init_c");
  locate(functions.Gatherv_init, "PMPI_Gatherv_init");
  locate(functions.Gatherv_init_c, "PMPI_Gatherv_init_c");
  locate(functions.Scatterv_init, "PMPI_Scatterv_init");
  locate(functions.Scatterv_init_c, "PMPI_Scatterv_init_c");
  locate(functions.Allgatherv_init, "PMPI_Allgatherv_init");
  locate(functions.Allgatherv_init_c, "PMPI_Allgatherv_init_c");
  locate(functions.Alltoallv_init, "PMPI_Alltoallv_init");
  locate(functions.Alltoallv_init_c, "PMPI_Alltoallv_init_c");
  locate(functions.Alltoallw_init, "PMPI_Alltoallw_init");
  locate(functions.Alltoallw_init_c, "PMPI_Alltoallw_init_c");
  locate(functions.Reduce_scatter_init, "PMPI_Reduce_scatter_init");
  locate(functions.Reduce_scatter_init_c, "PMPI_Reduce_scatter_init_c");
  locate(functions.Neighbor_allgather_init, "PMPI_Neighbor_allgather_init");
  locate(functions.Neighbor_allgather_init_c, "PMPI_Neighbor_allgather_init_c");
  locate(functions.Neighbor_alltoall_init, "PMPI_Neighbor_alltoall_init");
  locate(functions.Neighbor_alltoall_init_c, "PMPI_Neighbor_alltoall_init_c");
  locate(functions.Neighbor_allgatherv_init, "PMPI_Neighbor_allgatherv_init");
  locate(functions.Neighbor_allgatherv_init_c, "PMPI_Neighbor_allgatherv_init_c");
  locate(functions.Neighbor_alltoallv_init, "PMPI_Neighbor_alltoallv_init");
  locate(functions.Neighbor_alltoallv_init_c, "PMPI_Neighbor_alltoallv_init_c");
  locate(functions.Neighbor_alltoallw_init, "PMPI_Neighbor_alltoallw_init");
  locate(functions.Neighbor_alltoallw_init_c, "PMPI_Neighbor_alltoallw_init_c");
  locate(functions.Init, "PMPI_Init");
  locate(functions.Init_thread, "PMPI_Init_thread");
  locate(functions.Query_thread, "PMPI_Query_thread");
  locate(functions.Finalize, "PMPI_Finalize");
  locate(functions.Abort, "PMPI_Abort");
#ifdef TUTTI_SESSIONS
  locate(functions.Session_init, "PMPI_Session_init");
#endif
#ifdef TUTTI_SESSIONS
  locate(functions.Session_finalize, "PMPI_Session_finalize");
#endif
  locate(functions.Comm_spawn, "PMPI_Comm_spawn");
  locate(functions.Intercomm_merge, "PMPI_Intercomm_merge");
  locate(functions.Alloc_mem, "PMPI_Alloc_mem");
  locate(functions.Free_mem, "PMPI_Free_mem");
  locate(functions.Win_allocate, "PMPI_Win_allocate");
  locate(functions.Win_free, "PMPI_Win_free");
  locate(functions.Win_get_attr, "PMPI_Win_get_attr");
}

// For those that Tutti interposes under the name PMPI_*, too.
template <class Locate>
void locate_both(HostFunctions& functions, Locate&& locate) {
#ifdef TUTTI_WINDOWS
  locate(functions.Put, "PMPI_Put");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Get, "PMPI_Get");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Accumulate, "PMPI_Accumulate");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Get_accumulate, "PMPI_Get_accumulate");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Fetch_and_op, "PMPI_Fetch_and_op");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Compare_and_swap, "PMPI_Compare_and_swap");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Rput, "PMPI_Rput");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Rget, "PMPI_Rget");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Raccumulate, "PMPI_Raccumulate");
#endif
#ifdef TUTTI_WINDOWS
  locate(functions.Rget_accumulate, "PMPI_Rget_accumulate");
#endif
  locate(functions.Start, "PMPI_Start");
  locate(functions.Startall, "PMPI_Startall");
  locate(functions.Request_free, "PMPI_Request_free");
  locate(functions.Cancel, "PMPI_Cancel");
  locate(functions.Waitany, "PMPI_Waitany");
  locate(functions.Waitsome, "PMPI_Waitsome");
  locate(functions.Testany, "PMPI_Testany");
  locate(functions.Testsome, "PMPI_Testsome");
  locate(functions.Type_free, "PMPI_Type_free");
  locate(functions.Op_free, "PMPI_Op_free");
  locate(functions.Request_get_status_all, "PMPI_Request_get_status_all");
  locate(functions.Request_get_status_any, "PMPI_Request_get_status_any");
  locate(functions.Request_get_status_some, "PMPI_Request_get_status_some");
  locate(functions.Iprobe, "PMPI_Iprobe");
  locate(functions.Improbe, "PMPI_Improbe");
  locate(functions.Win_test, "PMPI_Win_test");
  locate(functions.Wait, "PMPI_Wait");
  locate(functions.Waitall, "PMPI_Waitall");
  locate(functions.Test, "PMPI_Test");
  locate(functions.Testall, "PMPI_Testall");
  locate(functions.Request_get_status, "PMPI_Request_get_status");
}

template <class Locate>
void locate_own(HostFunctions& functions, Locate&& locate) {
  locate(functions.Initialized, "PMPI_Initialized");
  locate(functions.Comm_size, "PMPI_Comm_size");
  locate(functions.Comm_remote_size, "PMPI_Comm_remote_size");
  locate(functions.Comm_rank, "PMPI_Comm_rank");
  locate(functions.Comm_group, "PMPI_Comm_group");
  locate(functions.Comm_test_inter, "PMPI_Comm_test_inter");
  locate(functions.Error_class, "PMPI_Error_class");
  locate(functions.Get_library_version, "PMPI_Get_library_version");
  locate(functions.Comm_call_errhandler, "PMPI_Comm_call_errhandler");
  locate(functions.Comm_set_errhandler, "PMPI_Comm_set_errhandler");
  locate(functions.Comm_create_errhandler, "PMPI_Comm_create_errhandler");
  locate(functions.Errhandler_free, "PMPI_Errhandler_free");
  locate(functions.Comm_create_keyval, "PMPI_Comm_create_keyval");
  locate(functions.Comm_free_keyval, "PMPI_Comm_free_keyval");
  locate(functions.Comm_set_attr, "PMPI_Comm_set_attr");
  locate(functions.Comm_get_attr, "PMPI_Comm_get_attr");
  locate(functions.Comm_get_parent, "PMPI_Comm_get_parent");
  locate(functions.Group_size, "PMPI_Group_size");
  locate(functions.Group_incl, "PMPI_Group_incl");
  locate(functions.Group_translate_ranks, "PMPI_Group_translate_ranks");
  locate(functions.Group_free, "PMPI_Group_free");
  locate(functions.Send_init, "PMPI_Send_init");
  locate(functions.Isend, "PMPI_Isend");
  locate(functions.Irecv, "PMPI_Irecv");
  locate(functions.Send, "PMPI_Send");
  locate(functions.Recv, "PMPI_Recv");
  locate(functions.Topo_test, "PMPI_Topo_test");
  locate(functions.Cartdim_get, "PMPI_Cartdim_get");
  locate(functions.Cart_shift, "PMPI_Cart_shift");
  locate(functions.Graph_neighbors_count, "PMPI_Graph_neighbors_count");
  locate(functions.Graph_neighbors, "PMPI_Graph_neighbors");
  locate(functions.Dist_graph_neighbors_count, "PMPI_Dist_graph_neighbors_count");
  locate(functions.Dist_graph_neighbors, "PMPI_Dist_graph_neighbors");
  locate(functions.Get_count, "PMPI_Get_count");
  locate(functions.Type_size, "PMPI_Type_size");
  locate(functions.Type_get_extent, "PMPI_Type_get_extent");
  locate(functions.Type_get_true_extent, "PMPI_Type_get_true_extent");
  locate(functions.Type_get_envelope, "PMPI_Type_get_envelope");
  locate(functions.Type_get_contents, "PMPI_Type_get_contents");
  locate(functions.Type_dup, "PMPI_Type_dup");
  locate(functions.Pack, "PMPI_Pack");
  locate(functions.Unpack, "PMPI_Unpack");
  locate(functions.Op_commutative, "PMPI_Op_commutative");
  locate(functions.Reduce_local, "PMPI_Reduce_local");
  locate(functions.Info_get, "PMPI_Info_get");
  locate(functions.Win_create, "PMPI_Win_create");
#ifdef TUTTI_LARGE_COUNTS
  locate(functions.Type_get_envelope_c, "PMPI_Type_get_envelope_c");
#endif
#ifdef TUTTI_SESSIONS
  locate(functions.Group_from_session_pset, "PMPI_Group_from_session_pset");
#endif
}

template <class Locate>
void locate_makers(CommunicatorFunctions& functions, Locate&& locate) {
  locate(functions.Comm_dup, "MPI_Comm_dup");
  locate(functions.Comm_dup_with_info, "MPI_Comm_dup_with_info");
  locate(functions.Comm_idup, "MPI_Comm_idup");
  locate(functions.Comm_idup_with_info, "MPI_Comm_idup_with_info");
  locate(functions.Comm_create, "MPI_Comm_create");
  locate(functions.Comm_create_group, "MPI_Comm_create_group");
  locate(functions.Comm_create_from_group, "MPI_Comm_create_from_group");
  locate(functions.Comm_split, "MPI_Comm_split");
  locate(functions.Comm_split_type, "MPI_Comm_split_type");
  locate(functions.Cart_create, "MPI_Cart_create");
  locate(functions.Cart_sub, "MPI_Cart_sub");
  locate(functions.Graph_create, "MPI_Graph_create");
  locate(functions.Dist_graph_create, "MPI_Dist_graph_create");
  locate(functions.Dist_graph_create_adjacent, "MPI_Dist_graph_create_adjacent");
  locate(functions.Comm_free, "MPI_Comm_free");
  locate(functions.Comm_disconnect, "MPI_Comm_disconnect");
}

}  // namespace tutti::mpi
