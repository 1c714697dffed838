// Made by scripts/mpi_functions.py from src/mpi/functions.table. To change this file, change
// the table and run `make functions`.

// MPI's collectives as Tutti serves them: a function for each form of each collective. The
// entry points of all languages call them, on any thread (serve.h).
#pragma once

#include "mpi/collectives/serve.h"
#include "mpi/requests/neighbours.h"
#include "mpi/requests/nonblocking.h"
#include "mpi/requests/persistent.h"

namespace tutti::mpi::entry {

using plan::Collective;

[[gnu::always_inline]] inline int Barrier(MPI_Comm comm) {
  return serve_barrier<Function::Barrier>(comm);
}

[[gnu::always_inline]] inline int Bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                        MPI_Comm comm) {
  return serve_vector<Collective::bcast, Function::Bcast>(buffer, count, datatype, root, comm);
}

[[gnu::always_inline]] inline int Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype,
                                          int root, MPI_Comm comm) {
  return serve_vector<Collective::bcast, Function::Bcast_c>(buffer, count, datatype, root, comm);
}

[[gnu::always_inline]] inline int Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                         int root, MPI_Comm comm) {
  return serve_parts<Collective::gather, Function::Gather>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root,
      comm);
}

[[gnu::always_inline]] inline int Gather_c(const void* sendbuf, MPI_Count sendcount,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                           MPI_Comm comm) {
  return serve_parts<Collective::gather, Function::Gather_c>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root,
      comm);
}

[[gnu::always_inline]] inline int Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                          int root, MPI_Comm comm) {
  return serve_parts<Collective::scatter, Function::Scatter>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root,
      comm);
}

[[gnu::always_inline]] inline int Scatter_c(const void* sendbuf, MPI_Count sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                            MPI_Comm comm) {
  return serve_parts<Collective::scatter, Function::Scatter_c>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, root,
      comm);
}

[[gnu::always_inline]] inline int Allgather(const void* sendbuf, int sendcount,
                                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                            MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_parts<Collective::allgather, Function::Allgather>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, 0, comm);
}

[[gnu::always_inline]] inline int Allgather_c(const void* sendbuf, MPI_Count sendcount,
                                              MPI_Datatype sendtype, void* recvbuf,
                                              MPI_Count recvcount, MPI_Datatype recvtype,
                                              MPI_Comm comm) {
  return serve_parts<Collective::allgather, Function::Allgather_c>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, 0, comm);
}

[[gnu::always_inline]] inline int Alltoall(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                           MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_parts<Collective::alltoall, Function::Alltoall>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, 0, comm);
}

[[gnu::always_inline]] inline int Alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             MPI_Count recvcount, MPI_Datatype recvtype,
                                             MPI_Comm comm) {
  return serve_parts<Collective::alltoall, Function::Alltoall_c>(
      {const_cast<void*>(sendbuf), sendcount, sendtype}, {recvbuf, recvcount, recvtype}, 0, comm);
}

[[gnu::always_inline]] inline int Reduce(const void* sendbuf, void* recvbuf, int count,
                                         MPI_Datatype datatype, MPI_Op op, int root,
                                         MPI_Comm comm) {
  return serve_reduction<Collective::reduce, Function::Reduce>(sendbuf, recvbuf, count, datatype,
                                                               op, root, comm);
}

[[gnu::always_inline]] inline int Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                           MPI_Datatype datatype, MPI_Op op, int root,
                                           MPI_Comm comm) {
  return serve_reduction<Collective::reduce, Function::Reduce_c>(sendbuf, recvbuf, count, datatype,
                                                                 op, root, comm);
}

[[gnu::always_inline]] inline int Allreduce(const void* sendbuf, void* recvbuf, int count,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::allreduce, Function::Allreduce>(sendbuf, recvbuf, count,
                                                                     datatype, op, 0, comm);
}

[[gnu::always_inline]] inline int Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::allreduce, Function::Allreduce_c>(sendbuf, recvbuf, count,
                                                                       datatype, op, 0, comm);
}

[[gnu::always_inline]] inline int Reduce_scatter_block(const void* sendbuf, void* recvbuf,
                                                       int recvcount, MPI_Datatype datatype,
                                                       MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::reduce_scatter, Function::Reduce_scatter_block>(
      sendbuf, recvbuf, recvcount, datatype, op, 0, comm);
}

[[gnu::always_inline]] inline int Reduce_scatter_block_c(const void* sendbuf, void* recvbuf,
                                                         MPI_Count recvcount, MPI_Datatype datatype,
                                                         MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::reduce_scatter, Function::Reduce_scatter_block_c>(
      sendbuf, recvbuf, recvcount, datatype, op, 0, comm);
}

[[gnu::always_inline]] inline int Scan(const void* sendbuf, void* recvbuf, int count,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::scan, Function::Scan>(sendbuf, recvbuf, count, datatype, op, 0,
                                                           comm);
}

[[gnu::always_inline]] inline int Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::scan, Function::Scan_c>(sendbuf, recvbuf, count, datatype, op,
                                                             0, comm);
}

[[gnu::always_inline]] inline int Exscan(const void* sendbuf, void* recvbuf, int count,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::exscan, Function::Exscan>(sendbuf, recvbuf, count, datatype,
                                                               op, 0, comm);
}

[[gnu::always_inline]] inline int Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return serve_reduction<Collective::exscan, Function::Exscan_c>(sendbuf, recvbuf, count, datatype,
                                                                 op, 0, comm);
}

[[gnu::always_inline]] inline int Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, const int recvcounts[], const int displs[],
                                          MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve_any(
      Call{
          .function = Function::Gatherv,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm);
}

[[gnu::always_inline]] inline int Gatherv_c(const void* sendbuf, MPI_Count sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            const MPI_Count recvcounts[], const MPI_Aint displs[],
                                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve_any(
      Call{
          .function = Function::Gatherv_c,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm);
}

[[gnu::always_inline]] inline int Scatterv(const void* sendbuf, const int sendcounts[],
                                           const int displs[], MPI_Datatype sendtype, void* recvbuf,
                                           int recvcount, MPI_Datatype recvtype, int root,
                                           MPI_Comm comm) {
  return serve_any(Call{.function = Function::Scatterv,
                        .shape = Shape::v_parts,
                        .collective = Collective::scatter,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = displs,
                               .type = sendtype},
                        .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                        .root = root},
                   comm);
}

[[gnu::always_inline]] inline int Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                             const MPI_Aint displs[], MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount,
                                             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve_any(Call{.function = Function::Scatterv_c,
                        .shape = Shape::v_parts,
                        .collective = Collective::scatter,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = displs,
                               .type = sendtype},
                        .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                        .root = root},
                   comm);
}

[[gnu::always_inline]] inline int Allgatherv(const void* sendbuf, int sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             const int recvcounts[], const int displs[],
                                             MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_any(
      Call{.function = Function::Allgatherv,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                               MPI_Datatype sendtype, void* recvbuf,
                                               const MPI_Count recvcounts[],
                                               const MPI_Aint displs[], MPI_Datatype recvtype,
                                               MPI_Comm comm) {
  return serve_any(
      Call{.function = Function::Allgatherv_c,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Alltoallv(const void* sendbuf, const int sendcounts[],
                                            const int sdispls[], MPI_Datatype sendtype,
                                            void* recvbuf, const int recvcounts[],
                                            const int rdispls[], MPI_Datatype recvtype,
                                            MPI_Comm comm) {
  return serve_any(Call{.function = Function::Alltoallv,
                        .shape = Shape::v_parts,
                        .collective = Collective::alltoall,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = sdispls,
                               .type = sendtype},
                        .out = {.data = recvbuf,
                                .counts = recvcounts,
                                .displacements = rdispls,
                                .type = recvtype}},
                   comm);
}

[[gnu::always_inline]] inline int Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                              MPI_Comm comm) {
  return serve_any(Call{.function = Function::Alltoallv_c,
                        .shape = Shape::v_parts,
                        .collective = Collective::alltoall,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = sdispls,
                               .type = sendtype},
                        .out = {.data = recvbuf,
                                .counts = recvcounts,
                                .displacements = rdispls,
                                .type = recvtype}},
                   comm);
}

[[gnu::always_inline]] inline int Alltoallw(const void* sendbuf, const int sendcounts[],
                                            const int sdispls[], const MPI_Datatype sendtypes[],
                                            void* recvbuf, const int recvcounts[],
                                            const int rdispls[], const MPI_Datatype recvtypes[],
                                            MPI_Comm comm) {
  return serve_any(Call{.function = Function::Alltoallw,
                        .shape = Shape::v_parts,
                        .collective = Collective::alltoall,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = sdispls,
                               .types = sendtypes},
                        .out = {.data = recvbuf,
                                .counts = recvcounts,
                                .displacements = rdispls,
                                .types = recvtypes}},
                   comm);
}

[[gnu::always_inline]] inline int Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[],
                                              const MPI_Datatype sendtypes[], void* recvbuf,
                                              const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[],
                                              const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return serve_any(Call{.function = Function::Alltoallw_c,
                        .shape = Shape::v_parts,
                        .collective = Collective::alltoall,
                        .in = {.data = const_cast<void*>(sendbuf),
                               .counts = sendcounts,
                               .displacements = sdispls,
                               .types = sendtypes},
                        .out = {.data = recvbuf,
                                .counts = recvcounts,
                                .displacements = rdispls,
                                .types = recvtypes}},
                   comm);
}

[[gnu::always_inline]] inline int Reduce_scatter(const void* sendbuf, void* recvbuf,
                                                 const int recvcounts[], MPI_Datatype datatype,
                                                 MPI_Op op, MPI_Comm comm) {
  return serve_any(
      Call{.function = Function::Reduce_scatter,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm);
}

[[gnu::always_inline]] inline int Reduce_scatter_c(const void* sendbuf, void* recvbuf,
                                                   const MPI_Count recvcounts[],
                                                   MPI_Datatype datatype, MPI_Op op,
                                                   MPI_Comm comm) {
  return serve_any(
      Call{.function = Function::Reduce_scatter_c,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_allgather(const void* sendbuf, int sendcount,
                                                     MPI_Datatype sendtype, void* recvbuf,
                                                     int recvcount, MPI_Datatype recvtype,
                                                     MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_allgather,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount,
                                                       MPI_Datatype sendtype, void* recvbuf,
                                                       MPI_Count recvcount, MPI_Datatype recvtype,
                                                       MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_allgather_c,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoall(const void* sendbuf, int sendcount,
                                                    MPI_Datatype sendtype, void* recvbuf,
                                                    int recvcount, MPI_Datatype recvtype,
                                                    MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_alltoall,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                                      MPI_Datatype sendtype, void* recvbuf,
                                                      MPI_Count recvcount, MPI_Datatype recvtype,
                                                      MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_alltoall_c,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_allgatherv(const void* sendbuf, int sendcount,
                                                      MPI_Datatype sendtype, void* recvbuf,
                                                      const int recvcounts[], const int displs[],
                                                      MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_allgatherv,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                                        MPI_Datatype sendtype, void* recvbuf,
                                                        const MPI_Count recvcounts[],
                                                        const MPI_Aint displs[],
                                                        MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_neighbours(
      Call{.function = Function::Neighbor_allgatherv_c,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                                     const int sdispls[], MPI_Datatype sendtype,
                                                     void* recvbuf, const int recvcounts[],
                                                     const int rdispls[], MPI_Datatype recvtype,
                                                     MPI_Comm comm) {
  return serve_neighbours(Call{.function = Function::Neighbor_alltoallv,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .type = sendtype},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .type = recvtype}},
                          comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoallv_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm) {
  return serve_neighbours(Call{.function = Function::Neighbor_alltoallv_c,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .type = sendtype},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .type = recvtype}},
                          comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoallw(
    const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return serve_neighbours(Call{.function = Function::Neighbor_alltoallw,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .types = sendtypes},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .types = recvtypes}},
                          comm);
}

[[gnu::always_inline]] inline int Neighbor_alltoallw_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return serve_neighbours(Call{.function = Function::Neighbor_alltoallw_c,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .types = sendtypes},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .types = recvtypes}},
                          comm);
}

[[gnu::always_inline]] inline int Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ibarrier,
                                .shape = Shape::barrier,
                                .collective = Collective::barrier},
                           comm, request);
}

[[gnu::always_inline]] inline int Ibcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                         MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ibcast,
                                .shape = Shape::vector,
                                .collective = Collective::bcast,
                                .in = {.data = buffer, .count = count, .type = datatype},
                                .out = {.data = buffer, .count = count, .type = datatype},
                                .root = root},
                           comm, request);
}

[[gnu::always_inline]] inline int Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype,
                                           int root, MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ibcast_c,
                                .shape = Shape::vector,
                                .collective = Collective::bcast,
                                .in = {.data = buffer, .count = count, .type = datatype},
                                .out = {.data = buffer, .count = count, .type = datatype},
                                .root = root},
                           comm, request);
}

[[gnu::always_inline]] inline int Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                          int root, MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Igather,
           .shape = Shape::parts,
           .collective = Collective::gather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Igather_c(const void* sendbuf, MPI_Count sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                            MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Igather_c,
           .shape = Shape::parts,
           .collective = Collective::gather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Iscatter(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                           MPI_Datatype recvtype, int root, MPI_Comm comm,
                                           MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iscatter,
           .shape = Shape::parts,
           .collective = Collective::scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Iscatter_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                             MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iscatter_c,
           .shape = Shape::parts,
           .collective = Collective::scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Iallgather(const void* sendbuf, int sendcount,
                                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                             MPI_Datatype recvtype, MPI_Comm comm,
                                             MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallgather,
           .shape = Shape::parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Iallgather_c(const void* sendbuf, MPI_Count sendcount,
                                               MPI_Datatype sendtype, void* recvbuf,
                                               MPI_Count recvcount, MPI_Datatype recvtype,
                                               MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallgather_c,
           .shape = Shape::parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ialltoall(const void* sendbuf, int sendcount,
                                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                            MPI_Datatype recvtype, MPI_Comm comm,
                                            MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ialltoall,
           .shape = Shape::parts,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ialltoall_c(const void* sendbuf, MPI_Count sendcount,
                                              MPI_Datatype sendtype, void* recvbuf,
                                              MPI_Count recvcount, MPI_Datatype recvtype,
                                              MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ialltoall_c,
           .shape = Shape::parts,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ireduce(const void* sendbuf, void* recvbuf, int count,
                                          MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                          MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce,
           .shape = Shape::reduction,
           .collective = Collective::reduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .root = root,
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                            MPI_Datatype datatype, MPI_Op op, int root,
                                            MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce_c,
           .shape = Shape::reduction,
           .collective = Collective::reduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .root = root,
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iallreduce(const void* sendbuf, void* recvbuf, int count,
                                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                             MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallreduce,
           .shape = Shape::reduction,
           .collective = Collective::allreduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                               MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallreduce_c,
           .shape = Shape::reduction,
           .collective = Collective::allreduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Ireduce_scatter_block(const void* sendbuf, void* recvbuf,
                                                        int recvcount, MPI_Datatype datatype,
                                                        MPI_Op op, MPI_Comm comm,
                                                        MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce_scatter_block,
           .shape = Shape::reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = recvcount, .type = datatype},
           .out = {.data = recvbuf, .count = recvcount, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf,
                                                          MPI_Count recvcount,
                                                          MPI_Datatype datatype, MPI_Op op,
                                                          MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce_scatter_block_c,
           .shape = Shape::reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = recvcount, .type = datatype},
           .out = {.data = recvbuf, .count = recvcount, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iscan(const void* sendbuf, void* recvbuf, int count,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iscan,
           .shape = Shape::reduction,
           .collective = Collective::scan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                          MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iscan_c,
           .shape = Shape::reduction,
           .collective = Collective::scan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iexscan(const void* sendbuf, void* recvbuf, int count,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                          MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iexscan,
           .shape = Shape::reduction,
           .collective = Collective::exscan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                            MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iexscan_c,
           .shape = Shape::reduction,
           .collective = Collective::exscan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Igatherv(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           const int recvcounts[], const int displs[],
                                           MPI_Datatype recvtype, int root, MPI_Comm comm,
                                           MPI_Request* request) {
  return start_nonblocking(
      Call{
          .function = Function::Igatherv,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Igatherv_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             const MPI_Count recvcounts[], const MPI_Aint displs[],
                                             MPI_Datatype recvtype, int root, MPI_Comm comm,
                                             MPI_Request* request) {
  return start_nonblocking(
      Call{
          .function = Function::Igatherv_c,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm, request);
}

[[gnu::always_inline]] inline int Iscatterv(const void* sendbuf, const int sendcounts[],
                                            const int displs[], MPI_Datatype sendtype,
                                            void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                            int root, MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Iscatterv,
                                .shape = Shape::v_parts,
                                .collective = Collective::scatter,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = displs,
                                       .type = sendtype},
                                .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                                .root = root},
                           comm, request);
}

[[gnu::always_inline]] inline int Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint displs[], MPI_Datatype sendtype,
                                              void* recvbuf, MPI_Count recvcount,
                                              MPI_Datatype recvtype, int root, MPI_Comm comm,
                                              MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Iscatterv_c,
                                .shape = Shape::v_parts,
                                .collective = Collective::scatter,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = displs,
                                       .type = sendtype},
                                .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                                .root = root},
                           comm, request);
}

[[gnu::always_inline]] inline int Iallgatherv(const void* sendbuf, int sendcount,
                                              MPI_Datatype sendtype, void* recvbuf,
                                              const int recvcounts[], const int displs[],
                                              MPI_Datatype recvtype, MPI_Comm comm,
                                              MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallgatherv,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Iallgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                                MPI_Datatype sendtype, void* recvbuf,
                                                const MPI_Count recvcounts[],
                                                const MPI_Aint displs[], MPI_Datatype recvtype,
                                                MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Iallgatherv_c,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ialltoallv(const void* sendbuf, const int sendcounts[],
                                             const int sdispls[], MPI_Datatype sendtype,
                                             void* recvbuf, const int recvcounts[],
                                             const int rdispls[], MPI_Datatype recvtype,
                                             MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ialltoallv,
                                .shape = Shape::v_parts,
                                .collective = Collective::alltoall,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = sdispls,
                                       .type = sendtype},
                                .out = {.data = recvbuf,
                                        .counts = recvcounts,
                                        .displacements = rdispls,
                                        .type = recvtype}},
                           comm, request);
}

[[gnu::always_inline]] inline int Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                               const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                               void* recvbuf, const MPI_Count recvcounts[],
                                               const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                               MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ialltoallv_c,
                                .shape = Shape::v_parts,
                                .collective = Collective::alltoall,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = sdispls,
                                       .type = sendtype},
                                .out = {.data = recvbuf,
                                        .counts = recvcounts,
                                        .displacements = rdispls,
                                        .type = recvtype}},
                           comm, request);
}

[[gnu::always_inline]] inline int Ialltoallw(const void* sendbuf, const int sendcounts[],
                                             const int sdispls[], const MPI_Datatype sendtypes[],
                                             void* recvbuf, const int recvcounts[],
                                             const int rdispls[], const MPI_Datatype recvtypes[],
                                             MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ialltoallw,
                                .shape = Shape::v_parts,
                                .collective = Collective::alltoall,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = sdispls,
                                       .types = sendtypes},
                                .out = {.data = recvbuf,
                                        .counts = recvcounts,
                                        .displacements = rdispls,
                                        .types = recvtypes}},
                           comm, request);
}

[[gnu::always_inline]] inline int Ialltoallw_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(Call{.function = Function::Ialltoallw_c,
                                .shape = Shape::v_parts,
                                .collective = Collective::alltoall,
                                .in = {.data = const_cast<void*>(sendbuf),
                                       .counts = sendcounts,
                                       .displacements = sdispls,
                                       .types = sendtypes},
                                .out = {.data = recvbuf,
                                        .counts = recvcounts,
                                        .displacements = rdispls,
                                        .types = recvtypes}},
                           comm, request);
}

[[gnu::always_inline]] inline int Ireduce_scatter(const void* sendbuf, void* recvbuf,
                                                  const int recvcounts[], MPI_Datatype datatype,
                                                  MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce_scatter,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Ireduce_scatter_c(const void* sendbuf, void* recvbuf,
                                                    const MPI_Count recvcounts[],
                                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                    MPI_Request* request) {
  return start_nonblocking(
      Call{.function = Function::Ireduce_scatter_c,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_allgather(const void* sendbuf, int sendcount,
                                                      MPI_Datatype sendtype, void* recvbuf,
                                                      int recvcount, MPI_Datatype recvtype,
                                                      MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_allgather,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount,
                                                        MPI_Datatype sendtype, void* recvbuf,
                                                        MPI_Count recvcount, MPI_Datatype recvtype,
                                                        MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_allgather_c,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoall(const void* sendbuf, int sendcount,
                                                     MPI_Datatype sendtype, void* recvbuf,
                                                     int recvcount, MPI_Datatype recvtype,
                                                     MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_alltoall,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                                       MPI_Datatype sendtype, void* recvbuf,
                                                       MPI_Count recvcount, MPI_Datatype recvtype,
                                                       MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_alltoall_c,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_allgatherv(const void* sendbuf, int sendcount,
                                                       MPI_Datatype sendtype, void* recvbuf,
                                                       const int recvcounts[], const int displs[],
                                                       MPI_Datatype recvtype, MPI_Comm comm,
                                                       MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_allgatherv,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                                         MPI_Datatype sendtype, void* recvbuf,
                                                         const MPI_Count recvcounts[],
                                                         const MPI_Aint displs[],
                                                         MPI_Datatype recvtype, MPI_Comm comm,
                                                         MPI_Request* request) {
  return start_neighbours(
      Call{.function = Function::Ineighbor_allgatherv_c,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[],
                                                      const int sdispls[], MPI_Datatype sendtype,
                                                      void* recvbuf, const int recvcounts[],
                                                      const int rdispls[], MPI_Datatype recvtype,
                                                      MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(Call{.function = Function::Ineighbor_alltoallv,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .type = sendtype},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .type = recvtype}},
                          comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoallv_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(Call{.function = Function::Ineighbor_alltoallv_c,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .type = sendtype},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .type = recvtype}},
                          comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoallw(
    const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(Call{.function = Function::Ineighbor_alltoallw,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .types = sendtypes},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .types = recvtypes}},
                          comm, request);
}

[[gnu::always_inline]] inline int Ineighbor_alltoallw_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return start_neighbours(Call{.function = Function::Ineighbor_alltoallw_c,
                               .shape = Shape::v_neighbours,
                               .collective = Collective::alltoall,
                               .in = {.data = const_cast<void*>(sendbuf),
                                      .counts = sendcounts,
                                      .displacements = sdispls,
                                      .types = sendtypes},
                               .out = {.data = recvbuf,
                                       .counts = recvcounts,
                                       .displacements = rdispls,
                                       .types = recvtypes}},
                          comm, request);
}

[[gnu::always_inline]] inline int Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent_init(Call{.function = Function::Barrier_init,
                              .shape = Shape::barrier,
                              .collective = Collective::barrier},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Bcast_init(void* buffer, int count, MPI_Datatype datatype,
                                             int root, MPI_Comm comm, MPI_Info info,
                                             MPI_Request* request) {
  return persistent_init(Call{.function = Function::Bcast_init,
                              .shape = Shape::vector,
                              .collective = Collective::bcast,
                              .in = {.data = buffer, .count = count, .type = datatype},
                              .out = {.data = buffer, .count = count, .type = datatype},
                              .root = root},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype,
                                               int root, MPI_Comm comm, MPI_Info info,
                                               MPI_Request* request) {
  return persistent_init(Call{.function = Function::Bcast_init_c,
                              .shape = Shape::vector,
                              .collective = Collective::bcast,
                              .in = {.data = buffer, .count = count, .type = datatype},
                              .out = {.data = buffer, .count = count, .type = datatype},
                              .root = root},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Gather_init(const void* sendbuf, int sendcount,
                                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                              MPI_Datatype recvtype, int root, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Gather_init,
           .shape = Shape::parts,
           .collective = Collective::gather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Gather_init_c(const void* sendbuf, MPI_Count sendcount,
                                                MPI_Datatype sendtype, void* recvbuf,
                                                MPI_Count recvcount, MPI_Datatype recvtype,
                                                int root, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Gather_init_c,
           .shape = Shape::parts,
           .collective = Collective::gather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Scatter_init(const void* sendbuf, int sendcount,
                                               MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                               MPI_Datatype recvtype, int root, MPI_Comm comm,
                                               MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Scatter_init,
           .shape = Shape::parts,
           .collective = Collective::scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Scatter_init_c(const void* sendbuf, MPI_Count sendcount,
                                                 MPI_Datatype sendtype, void* recvbuf,
                                                 MPI_Count recvcount, MPI_Datatype recvtype,
                                                 int root, MPI_Comm comm, MPI_Info info,
                                                 MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Scatter_init_c,
           .shape = Shape::parts,
           .collective = Collective::scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
           .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Allgather_init(const void* sendbuf, int sendcount,
                                                 MPI_Datatype sendtype, void* recvbuf,
                                                 int recvcount, MPI_Datatype recvtype,
                                                 MPI_Comm comm, MPI_Info info,
                                                 MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allgather_init,
           .shape = Shape::parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Allgather_init_c(const void* sendbuf, MPI_Count sendcount,
                                                   MPI_Datatype sendtype, void* recvbuf,
                                                   MPI_Count recvcount, MPI_Datatype recvtype,
                                                   MPI_Comm comm, MPI_Info info,
                                                   MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allgather_init_c,
           .shape = Shape::parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Alltoall_init(const void* sendbuf, int sendcount,
                                                MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                                MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Alltoall_init,
           .shape = Shape::parts,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                                  MPI_Datatype sendtype, void* recvbuf,
                                                  MPI_Count recvcount, MPI_Datatype recvtype,
                                                  MPI_Comm comm, MPI_Info info,
                                                  MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Alltoall_init_c,
           .shape = Shape::parts,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_init(const void* sendbuf, void* recvbuf, int count,
                                              MPI_Datatype datatype, MPI_Op op, int root,
                                              MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_init,
           .shape = Shape::reduction,
           .collective = Collective::reduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .root = root,
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                                MPI_Datatype datatype, MPI_Op op, int root,
                                                MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_init_c,
           .shape = Shape::reduction,
           .collective = Collective::reduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .root = root,
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Allreduce_init(const void* sendbuf, void* recvbuf, int count,
                                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                 MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allreduce_init,
           .shape = Shape::reduction,
           .collective = Collective::allreduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Allreduce_init_c(const void* sendbuf, void* recvbuf,
                                                   MPI_Count count, MPI_Datatype datatype,
                                                   MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                   MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allreduce_init_c,
           .shape = Shape::reduction,
           .collective = Collective::allreduce,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_scatter_block_init(const void* sendbuf, void* recvbuf,
                                                            int recvcount, MPI_Datatype datatype,
                                                            MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                            MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_scatter_block_init,
           .shape = Shape::reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = recvcount, .type = datatype},
           .out = {.data = recvbuf, .count = recvcount, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf,
                                                              MPI_Count recvcount,
                                                              MPI_Datatype datatype, MPI_Op op,
                                                              MPI_Comm comm, MPI_Info info,
                                                              MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_scatter_block_init_c,
           .shape = Shape::reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .count = recvcount, .type = datatype},
           .out = {.data = recvbuf, .count = recvcount, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Scan_init(const void* sendbuf, void* recvbuf, int count,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                            MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Scan_init,
           .shape = Shape::reduction,
           .collective = Collective::scan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Scan_init_c,
           .shape = Shape::reduction,
           .collective = Collective::scan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Exscan_init(const void* sendbuf, void* recvbuf, int count,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                              MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Exscan_init,
           .shape = Shape::reduction,
           .collective = Collective::exscan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Exscan_init_c,
           .shape = Shape::reduction,
           .collective = Collective::exscan,
           .in = {.data = const_cast<void*>(sendbuf), .count = count, .type = datatype},
           .out = {.data = recvbuf, .count = count, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Gatherv_init(const void* sendbuf, int sendcount,
                                               MPI_Datatype sendtype, void* recvbuf,
                                               const int recvcounts[], const int displs[],
                                               MPI_Datatype recvtype, int root, MPI_Comm comm,
                                               MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{
          .function = Function::Gatherv_init,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Gatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                                 MPI_Datatype sendtype, void* recvbuf,
                                                 const MPI_Count recvcounts[],
                                                 const MPI_Aint displs[], MPI_Datatype recvtype,
                                                 int root, MPI_Comm comm, MPI_Info info,
                                                 MPI_Request* request) {
  return persistent_init(
      Call{
          .function = Function::Gatherv_init_c,
          .shape = Shape::v_parts,
          .collective = Collective::gather,
          .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
          .out = {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype},
          .root = root},
      comm, info, request);
}

[[gnu::always_inline]] inline int Scatterv_init(const void* sendbuf, const int sendcounts[],
                                                const int displs[], MPI_Datatype sendtype,
                                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                                int root, MPI_Comm comm, MPI_Info info,
                                                MPI_Request* request) {
  return persistent_init(Call{.function = Function::Scatterv_init,
                              .shape = Shape::v_parts,
                              .collective = Collective::scatter,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = displs,
                                     .type = sendtype},
                              .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                              .root = root},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                                  const MPI_Aint displs[], MPI_Datatype sendtype,
                                                  void* recvbuf, MPI_Count recvcount,
                                                  MPI_Datatype recvtype, int root, MPI_Comm comm,
                                                  MPI_Info info, MPI_Request* request) {
  return persistent_init(Call{.function = Function::Scatterv_init_c,
                              .shape = Shape::v_parts,
                              .collective = Collective::scatter,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = displs,
                                     .type = sendtype},
                              .out = {.data = recvbuf, .count = recvcount, .type = recvtype},
                              .root = root},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Allgatherv_init(const void* sendbuf, int sendcount,
                                                  MPI_Datatype sendtype, void* recvbuf,
                                                  const int recvcounts[], const int displs[],
                                                  MPI_Datatype recvtype, MPI_Comm comm,
                                                  MPI_Info info, MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allgatherv_init,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount,
                                                    MPI_Datatype sendtype, void* recvbuf,
                                                    const MPI_Count recvcounts[],
                                                    const MPI_Aint displs[], MPI_Datatype recvtype,
                                                    MPI_Comm comm, MPI_Info info,
                                                    MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Allgatherv_init_c,
           .shape = Shape::v_parts,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Alltoallv_init(const void* sendbuf, const int sendcounts[],
                                                 const int sdispls[], MPI_Datatype sendtype,
                                                 void* recvbuf, const int recvcounts[],
                                                 const int rdispls[], MPI_Datatype recvtype,
                                                 MPI_Comm comm, MPI_Info info,
                                                 MPI_Request* request) {
  return persistent_init(Call{.function = Function::Alltoallv_init,
                              .shape = Shape::v_parts,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .type = sendtype},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .type = recvtype}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Alltoallv_init_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent_init(Call{.function = Function::Alltoallv_init_c,
                              .shape = Shape::v_parts,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .type = sendtype},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .type = recvtype}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Alltoallw_init(const void* sendbuf, const int sendcounts[],
                                                 const int sdispls[],
                                                 const MPI_Datatype sendtypes[], void* recvbuf,
                                                 const int recvcounts[], const int rdispls[],
                                                 const MPI_Datatype recvtypes[], MPI_Comm comm,
                                                 MPI_Info info, MPI_Request* request) {
  return persistent_init(Call{.function = Function::Alltoallw_init,
                              .shape = Shape::v_parts,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .types = sendtypes},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .types = recvtypes}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Alltoallw_init_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  return persistent_init(Call{.function = Function::Alltoallw_init_c,
                              .shape = Shape::v_parts,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .types = sendtypes},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .types = recvtypes}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_scatter_init(const void* sendbuf, void* recvbuf,
                                                      const int recvcounts[], MPI_Datatype datatype,
                                                      MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                      MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_scatter_init,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Reduce_scatter_init_c(const void* sendbuf, void* recvbuf,
                                                        const MPI_Count recvcounts[],
                                                        MPI_Datatype datatype, MPI_Op op,
                                                        MPI_Comm comm, MPI_Info info,
                                                        MPI_Request* request) {
  return persistent_init(
      Call{.function = Function::Reduce_scatter_init_c,
           .shape = Shape::v_reduction,
           .collective = Collective::reduce_scatter,
           .in = {.data = const_cast<void*>(sendbuf), .counts = recvcounts, .type = datatype},
           .out = {.data = recvbuf, .counts = recvcounts, .type = datatype},
           .op = op},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_allgather_init(const void* sendbuf, int sendcount,
                                                          MPI_Datatype sendtype, void* recvbuf,
                                                          int recvcount, MPI_Datatype recvtype,
                                                          MPI_Comm comm, MPI_Info info,
                                                          MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_allgather_init,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_allgather_init_c(const void* sendbuf,
                                                            MPI_Count sendcount,
                                                            MPI_Datatype sendtype, void* recvbuf,
                                                            MPI_Count recvcount,
                                                            MPI_Datatype recvtype, MPI_Comm comm,
                                                            MPI_Info info, MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_allgather_init_c,
           .shape = Shape::neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoall_init(const void* sendbuf, int sendcount,
                                                         MPI_Datatype sendtype, void* recvbuf,
                                                         int recvcount, MPI_Datatype recvtype,
                                                         MPI_Comm comm, MPI_Info info,
                                                         MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_alltoall_init,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount,
                                                           MPI_Datatype sendtype, void* recvbuf,
                                                           MPI_Count recvcount,
                                                           MPI_Datatype recvtype, MPI_Comm comm,
                                                           MPI_Info info, MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_alltoall_init_c,
           .shape = Shape::neighbours,
           .collective = Collective::alltoall,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out = {.data = recvbuf, .count = recvcount, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_allgatherv_init(const void* sendbuf, int sendcount,
                                                           MPI_Datatype sendtype, void* recvbuf,
                                                           const int recvcounts[],
                                                           const int displs[],
                                                           MPI_Datatype recvtype, MPI_Comm comm,
                                                           MPI_Info info, MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_allgatherv_init,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_allgatherv_init_c(
    const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request* request) {
  return neighbours_init(
      Call{.function = Function::Neighbor_allgatherv_init_c,
           .shape = Shape::v_neighbours,
           .collective = Collective::allgather,
           .in = {.data = const_cast<void*>(sendbuf), .count = sendcount, .type = sendtype},
           .out =
               {.data = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype}},
      comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoallv_init(
    const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return neighbours_init(Call{.function = Function::Neighbor_alltoallv_init,
                              .shape = Shape::v_neighbours,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .type = sendtype},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .type = recvtype}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoallv_init_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return neighbours_init(Call{.function = Function::Neighbor_alltoallv_init_c,
                              .shape = Shape::v_neighbours,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .type = sendtype},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .type = recvtype}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoallw_init(
    const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return neighbours_init(Call{.function = Function::Neighbor_alltoallw_init,
                              .shape = Shape::v_neighbours,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .types = sendtypes},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .types = recvtypes}},
                         comm, info, request);
}

[[gnu::always_inline]] inline int Neighbor_alltoallw_init_c(
    const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
    MPI_Request* request) {
  return neighbours_init(Call{.function = Function::Neighbor_alltoallw_init_c,
                              .shape = Shape::v_neighbours,
                              .collective = Collective::alltoall,
                              .in = {.data = const_cast<void*>(sendbuf),
                                     .counts = sendcounts,
                                     .displacements = sdispls,
                                     .types = sendtypes},
                              .out = {.data = recvbuf,
                                      .counts = recvcounts,
                                      .displacements = rdispls,
                                      .types = recvtypes}},
                         comm, info, request);
}

}  // namespace tutti::mpi::entry
