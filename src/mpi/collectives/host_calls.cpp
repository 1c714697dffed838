// Made by scripts/mpi_functions.py from src/mpi/functions.table. To change this file, change
// the table and run `make functions`.

// Calls of the host's functions with the arguments that the program gave. If the host lacks
// a large-count function, the plain one makes the call, provided that it is not persistent,
// has no arrays of counts, and its counts fit an int. Any other call that the host cannot
// make is an error.
#include <climits>

#include "mpi/abi/host.h"
#include "mpi/collectives/call.h"
#include "mpi/job/thrown.h"

namespace tutti::mpi {
namespace {

bool fits_int(const Call& call) { return call.in.count <= INT_MAX && call.out.count <= INT_MAX; }

}  // namespace

int call_host(const Call& call, MPI_Comm comm) {
  switch (call.function) {
    case Function::Barrier: return host().Barrier(comm);
    case Function::Bcast:
      return host().Bcast(call.in.data, static_cast<int>(call.in.count), call.in.type, call.root,
                          comm);
    case Function::Bcast_c:
      if (host().Bcast_c != nullptr)
        return host().Bcast_c(call.in.data, call.in.count, call.in.type, call.root, comm);
      if (fits_int(call))
        return host().Bcast(call.in.data, static_cast<int>(call.in.count), call.in.type, call.root,
                            comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Gather:
      return host().Gather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                           call.out.data, static_cast<int>(call.out.count), call.out.type,
                           call.root, comm);
    case Function::Gather_c:
      if (host().Gather_c != nullptr)
        return host().Gather_c(call.in.data, call.in.count, call.in.type, call.out.data,
                               call.out.count, call.out.type, call.root, comm);
      if (fits_int(call))
        return host().Gather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                             call.out.data, static_cast<int>(call.out.count), call.out.type,
                             call.root, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Scatter:
      return host().Scatter(call.in.data, static_cast<int>(call.in.count), call.in.type,
                            call.out.data, static_cast<int>(call.out.count), call.out.type,
                            call.root, comm);
    case Function::Scatter_c:
      if (host().Scatter_c != nullptr)
        return host().Scatter_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                call.out.count, call.out.type, call.root, comm);
      if (fits_int(call))
        return host().Scatter(call.in.data, static_cast<int>(call.in.count), call.in.type,
                              call.out.data, static_cast<int>(call.out.count), call.out.type,
                              call.root, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Allgather:
      return host().Allgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                              call.out.data, static_cast<int>(call.out.count), call.out.type, comm);
    case Function::Allgather_c:
      if (host().Allgather_c != nullptr)
        return host().Allgather_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                  call.out.count, call.out.type, comm);
      if (fits_int(call))
        return host().Allgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                call.out.data, static_cast<int>(call.out.count), call.out.type,
                                comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Alltoall:
      return host().Alltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                             call.out.data, static_cast<int>(call.out.count), call.out.type, comm);
    case Function::Alltoall_c:
      if (host().Alltoall_c != nullptr)
        return host().Alltoall_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                 call.out.count, call.out.type, comm);
      if (fits_int(call))
        return host().Alltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                               call.out.data, static_cast<int>(call.out.count), call.out.type,
                               comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Reduce:
      return host().Reduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                           call.in.type, call.op, call.root, comm);
    case Function::Reduce_c:
      if (host().Reduce_c != nullptr)
        return host().Reduce_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                               call.root, comm);
      if (fits_int(call))
        return host().Reduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                             call.in.type, call.op, call.root, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Allreduce:
      return host().Allreduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                              call.in.type, call.op, comm);
    case Function::Allreduce_c:
      if (host().Allreduce_c != nullptr)
        return host().Allreduce_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                                  comm);
      if (fits_int(call))
        return host().Allreduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                call.in.type, call.op, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Reduce_scatter_block:
      return host().Reduce_scatter_block(call.in.data, call.out.data,
                                         static_cast<int>(call.in.count), call.in.type, call.op,
                                         comm);
    case Function::Reduce_scatter_block_c:
      if (host().Reduce_scatter_block_c != nullptr)
        return host().Reduce_scatter_block_c(call.in.data, call.out.data, call.in.count,
                                             call.in.type, call.op, comm);
      if (fits_int(call))
        return host().Reduce_scatter_block(call.in.data, call.out.data,
                                           static_cast<int>(call.in.count), call.in.type, call.op,
                                           comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Scan:
      return host().Scan(call.in.data, call.out.data, static_cast<int>(call.in.count), call.in.type,
                         call.op, comm);
    case Function::Scan_c:
      if (host().Scan_c != nullptr)
        return host().Scan_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                             comm);
      if (fits_int(call))
        return host().Scan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                           call.in.type, call.op, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Exscan:
      return host().Exscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                           call.in.type, call.op, comm);
    case Function::Exscan_c:
      if (host().Exscan_c != nullptr)
        return host().Exscan_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                               comm);
      if (fits_int(call))
        return host().Exscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                             call.in.type, call.op, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Gatherv:
      return host().Gatherv(call.in.data, static_cast<int>(call.in.count), call.in.type,
                            call.out.data, call.out.counts.plain(), call.out.displacements.plain(),
                            call.out.type, call.root, comm);
    case Function::Gatherv_c:
      if (host().Gatherv_c != nullptr)
        return host().Gatherv_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                call.out.counts.large(), call.out.displacements.large(),
                                call.out.type, call.root, comm);
      break;
    case Function::Scatterv:
      return host().Scatterv(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                             call.in.type, call.out.data, static_cast<int>(call.out.count),
                             call.out.type, call.root, comm);
    case Function::Scatterv_c:
      if (host().Scatterv_c != nullptr)
        return host().Scatterv_c(call.in.data, call.in.counts.large(),
                                 call.in.displacements.large(), call.in.type, call.out.data,
                                 call.out.count, call.out.type, call.root, comm);
      break;
    case Function::Allgatherv:
      return host().Allgatherv(call.in.data, static_cast<int>(call.in.count), call.in.type,
                               call.out.data, call.out.counts.plain(),
                               call.out.displacements.plain(), call.out.type, comm);
    case Function::Allgatherv_c:
      if (host().Allgatherv_c != nullptr)
        return host().Allgatherv_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                   call.out.counts.large(), call.out.displacements.large(),
                                   call.out.type, comm);
      break;
    case Function::Alltoallv:
      return host().Alltoallv(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                              call.in.type, call.out.data, call.out.counts.plain(),
                              call.out.displacements.plain(), call.out.type, comm);
    case Function::Alltoallv_c:
      if (host().Alltoallv_c != nullptr)
        return host().Alltoallv_c(call.in.data, call.in.counts.large(),
                                  call.in.displacements.large(), call.in.type, call.out.data,
                                  call.out.counts.large(), call.out.displacements.large(),
                                  call.out.type, comm);
      break;
    case Function::Alltoallw:
      return host().Alltoallw(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                              call.in.types, call.out.data, call.out.counts.plain(),
                              call.out.displacements.plain(), call.out.types, comm);
    case Function::Alltoallw_c:
      if (host().Alltoallw_c != nullptr)
        return host().Alltoallw_c(call.in.data, call.in.counts.large(),
                                  call.in.displacements.large(), call.in.types, call.out.data,
                                  call.out.counts.large(), call.out.displacements.large(),
                                  call.out.types, comm);
      break;
    case Function::Reduce_scatter:
      return host().Reduce_scatter(call.in.data, call.out.data, call.in.counts.plain(),
                                   call.in.type, call.op, comm);
    case Function::Reduce_scatter_c:
      if (host().Reduce_scatter_c != nullptr)
        return host().Reduce_scatter_c(call.in.data, call.out.data, call.in.counts.large(),
                                       call.in.type, call.op, comm);
      break;
    case Function::Neighbor_allgather:
      return host().Neighbor_allgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                       call.out.data, static_cast<int>(call.out.count),
                                       call.out.type, comm);
    case Function::Neighbor_allgather_c:
      if (host().Neighbor_allgather_c != nullptr)
        return host().Neighbor_allgather_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                           call.out.count, call.out.type, comm);
      if (fits_int(call))
        return host().Neighbor_allgather(call.in.data, static_cast<int>(call.in.count),
                                         call.in.type, call.out.data,
                                         static_cast<int>(call.out.count), call.out.type, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Neighbor_alltoall:
      return host().Neighbor_alltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                      call.out.data, static_cast<int>(call.out.count),
                                      call.out.type, comm);
    case Function::Neighbor_alltoall_c:
      if (host().Neighbor_alltoall_c != nullptr)
        return host().Neighbor_alltoall_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                          call.out.count, call.out.type, comm);
      if (fits_int(call))
        return host().Neighbor_alltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                        call.out.data, static_cast<int>(call.out.count),
                                        call.out.type, comm);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Neighbor_allgatherv:
      return host().Neighbor_allgatherv(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                        call.out.data, call.out.counts.plain(),
                                        call.out.displacements.plain(), call.out.type, comm);
    case Function::Neighbor_allgatherv_c:
      if (host().Neighbor_allgatherv_c != nullptr)
        return host().Neighbor_allgatherv_c(call.in.data, call.in.count, call.in.type,
                                            call.out.data, call.out.counts.large(),
                                            call.out.displacements.large(), call.out.type, comm);
      break;
    case Function::Neighbor_alltoallv:
      return host().Neighbor_alltoallv(call.in.data, call.in.counts.plain(),
                                       call.in.displacements.plain(), call.in.type, call.out.data,
                                       call.out.counts.plain(), call.out.displacements.plain(),
                                       call.out.type, comm);
    case Function::Neighbor_alltoallv_c:
      if (host().Neighbor_alltoallv_c != nullptr)
        return host().Neighbor_alltoallv_c(call.in.data, call.in.counts.large(),
                                           call.in.displacements.large(), call.in.type,
                                           call.out.data, call.out.counts.large(),
                                           call.out.displacements.large(), call.out.type, comm);
      break;
    case Function::Neighbor_alltoallw:
      return host().Neighbor_alltoallw(call.in.data, call.in.counts.plain(),
                                       call.in.displacements.large(), call.in.types, call.out.data,
                                       call.out.counts.plain(), call.out.displacements.large(),
                                       call.out.types, comm);
    case Function::Neighbor_alltoallw_c:
      if (host().Neighbor_alltoallw_c != nullptr)
        return host().Neighbor_alltoallw_c(call.in.data, call.in.counts.large(),
                                           call.in.displacements.large(), call.in.types,
                                           call.out.data, call.out.counts.large(),
                                           call.out.displacements.large(), call.out.types, comm);
      break;
    default: break;
  }
  return raise(comm, MPI_ERR_OTHER);
}

int call_host(const Call& call, MPI_Comm comm, MPI_Request* request) {
  switch (call.function) {
    case Function::Ibarrier: return host().Ibarrier(comm, request);
    case Function::Ibcast:
      return host().Ibcast(call.in.data, static_cast<int>(call.in.count), call.in.type, call.root,
                           comm, request);
    case Function::Ibcast_c:
      if (host().Ibcast_c != nullptr)
        return host().Ibcast_c(call.in.data, call.in.count, call.in.type, call.root, comm, request);
      if (fits_int(call))
        return host().Ibcast(call.in.data, static_cast<int>(call.in.count), call.in.type, call.root,
                             comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Igather:
      return host().Igather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                            call.out.data, static_cast<int>(call.out.count), call.out.type,
                            call.root, comm, request);
    case Function::Igather_c:
      if (host().Igather_c != nullptr)
        return host().Igather_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                call.out.count, call.out.type, call.root, comm, request);
      if (fits_int(call))
        return host().Igather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                              call.out.data, static_cast<int>(call.out.count), call.out.type,
                              call.root, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Iscatter:
      return host().Iscatter(call.in.data, static_cast<int>(call.in.count), call.in.type,
                             call.out.data, static_cast<int>(call.out.count), call.out.type,
                             call.root, comm, request);
    case Function::Iscatter_c:
      if (host().Iscatter_c != nullptr)
        return host().Iscatter_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                 call.out.count, call.out.type, call.root, comm, request);
      if (fits_int(call))
        return host().Iscatter(call.in.data, static_cast<int>(call.in.count), call.in.type,
                               call.out.data, static_cast<int>(call.out.count), call.out.type,
                               call.root, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Iallgather:
      return host().Iallgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                               call.out.data, static_cast<int>(call.out.count), call.out.type, comm,
                               request);
    case Function::Iallgather_c:
      if (host().Iallgather_c != nullptr)
        return host().Iallgather_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                   call.out.count, call.out.type, comm, request);
      if (fits_int(call))
        return host().Iallgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                 call.out.data, static_cast<int>(call.out.count), call.out.type,
                                 comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Ialltoall:
      return host().Ialltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                              call.out.data, static_cast<int>(call.out.count), call.out.type, comm,
                              request);
    case Function::Ialltoall_c:
      if (host().Ialltoall_c != nullptr)
        return host().Ialltoall_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                  call.out.count, call.out.type, comm, request);
      if (fits_int(call))
        return host().Ialltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                call.out.data, static_cast<int>(call.out.count), call.out.type,
                                comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Ireduce:
      return host().Ireduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                            call.in.type, call.op, call.root, comm, request);
    case Function::Ireduce_c:
      if (host().Ireduce_c != nullptr)
        return host().Ireduce_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                                call.root, comm, request);
      if (fits_int(call))
        return host().Ireduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                              call.in.type, call.op, call.root, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Iallreduce:
      return host().Iallreduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                               call.in.type, call.op, comm, request);
    case Function::Iallreduce_c:
      if (host().Iallreduce_c != nullptr)
        return host().Iallreduce_c(call.in.data, call.out.data, call.in.count, call.in.type,
                                   call.op, comm, request);
      if (fits_int(call))
        return host().Iallreduce(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                 call.in.type, call.op, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Ireduce_scatter_block:
      return host().Ireduce_scatter_block(call.in.data, call.out.data,
                                          static_cast<int>(call.in.count), call.in.type, call.op,
                                          comm, request);
    case Function::Ireduce_scatter_block_c:
      if (host().Ireduce_scatter_block_c != nullptr)
        return host().Ireduce_scatter_block_c(call.in.data, call.out.data, call.in.count,
                                              call.in.type, call.op, comm, request);
      if (fits_int(call))
        return host().Ireduce_scatter_block(call.in.data, call.out.data,
                                            static_cast<int>(call.in.count), call.in.type, call.op,
                                            comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Iscan:
      return host().Iscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                          call.in.type, call.op, comm, request);
    case Function::Iscan_c:
      if (host().Iscan_c != nullptr)
        return host().Iscan_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                              comm, request);
      if (fits_int(call))
        return host().Iscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                            call.in.type, call.op, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Iexscan:
      return host().Iexscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                            call.in.type, call.op, comm, request);
    case Function::Iexscan_c:
      if (host().Iexscan_c != nullptr)
        return host().Iexscan_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                                comm, request);
      if (fits_int(call))
        return host().Iexscan(call.in.data, call.out.data, static_cast<int>(call.in.count),
                              call.in.type, call.op, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Igatherv:
      return host().Igatherv(call.in.data, static_cast<int>(call.in.count), call.in.type,
                             call.out.data, call.out.counts.plain(), call.out.displacements.plain(),
                             call.out.type, call.root, comm, request);
    case Function::Igatherv_c:
      if (host().Igatherv_c != nullptr)
        return host().Igatherv_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                 call.out.counts.large(), call.out.displacements.large(),
                                 call.out.type, call.root, comm, request);
      break;
    case Function::Iscatterv:
      return host().Iscatterv(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                              call.in.type, call.out.data, static_cast<int>(call.out.count),
                              call.out.type, call.root, comm, request);
    case Function::Iscatterv_c:
      if (host().Iscatterv_c != nullptr)
        return host().Iscatterv_c(call.in.data, call.in.counts.large(),
                                  call.in.displacements.large(), call.in.type, call.out.data,
                                  call.out.count, call.out.type, call.root, comm, request);
      break;
    case Function::Iallgatherv:
      return host().Iallgatherv(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                call.out.data, call.out.counts.plain(),
                                call.out.displacements.plain(), call.out.type, comm, request);
    case Function::Iallgatherv_c:
      if (host().Iallgatherv_c != nullptr)
        return host().Iallgatherv_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                    call.out.counts.large(), call.out.displacements.large(),
                                    call.out.type, comm, request);
      break;
    case Function::Ialltoallv:
      return host().Ialltoallv(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                               call.in.type, call.out.data, call.out.counts.plain(),
                               call.out.displacements.plain(), call.out.type, comm, request);
    case Function::Ialltoallv_c:
      if (host().Ialltoallv_c != nullptr)
        return host().Ialltoallv_c(call.in.data, call.in.counts.large(),
                                   call.in.displacements.large(), call.in.type, call.out.data,
                                   call.out.counts.large(), call.out.displacements.large(),
                                   call.out.type, comm, request);
      break;
    case Function::Ialltoallw:
      return host().Ialltoallw(call.in.data, call.in.counts.plain(), call.in.displacements.plain(),
                               call.in.types, call.out.data, call.out.counts.plain(),
                               call.out.displacements.plain(), call.out.types, comm, request);
    case Function::Ialltoallw_c:
      if (host().Ialltoallw_c != nullptr)
        return host().Ialltoallw_c(call.in.data, call.in.counts.large(),
                                   call.in.displacements.large(), call.in.types, call.out.data,
                                   call.out.counts.large(), call.out.displacements.large(),
                                   call.out.types, comm, request);
      break;
    case Function::Ireduce_scatter:
      return host().Ireduce_scatter(call.in.data, call.out.data, call.in.counts.plain(),
                                    call.in.type, call.op, comm, request);
    case Function::Ireduce_scatter_c:
      if (host().Ireduce_scatter_c != nullptr)
        return host().Ireduce_scatter_c(call.in.data, call.out.data, call.in.counts.large(),
                                        call.in.type, call.op, comm, request);
      break;
    case Function::Ineighbor_allgather:
      return host().Ineighbor_allgather(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                        call.out.data, static_cast<int>(call.out.count),
                                        call.out.type, comm, request);
    case Function::Ineighbor_allgather_c:
      if (host().Ineighbor_allgather_c != nullptr)
        return host().Ineighbor_allgather_c(call.in.data, call.in.count, call.in.type,
                                            call.out.data, call.out.count, call.out.type, comm,
                                            request);
      if (fits_int(call))
        return host().Ineighbor_allgather(
            call.in.data, static_cast<int>(call.in.count), call.in.type, call.out.data,
            static_cast<int>(call.out.count), call.out.type, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Ineighbor_alltoall:
      return host().Ineighbor_alltoall(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                       call.out.data, static_cast<int>(call.out.count),
                                       call.out.type, comm, request);
    case Function::Ineighbor_alltoall_c:
      if (host().Ineighbor_alltoall_c != nullptr)
        return host().Ineighbor_alltoall_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                           call.out.count, call.out.type, comm, request);
      if (fits_int(call))
        return host().Ineighbor_alltoall(
            call.in.data, static_cast<int>(call.in.count), call.in.type, call.out.data,
            static_cast<int>(call.out.count), call.out.type, comm, request);
      return raise(comm, MPI_ERR_COUNT);
    case Function::Ineighbor_allgatherv:
      return host().Ineighbor_allgatherv(
          call.in.data, static_cast<int>(call.in.count), call.in.type, call.out.data,
          call.out.counts.plain(), call.out.displacements.plain(), call.out.type, comm, request);
    case Function::Ineighbor_allgatherv_c:
      if (host().Ineighbor_allgatherv_c != nullptr)
        return host().Ineighbor_allgatherv_c(
            call.in.data, call.in.count, call.in.type, call.out.data, call.out.counts.large(),
            call.out.displacements.large(), call.out.type, comm, request);
      break;
    case Function::Ineighbor_alltoallv:
      return host().Ineighbor_alltoallv(call.in.data, call.in.counts.plain(),
                                        call.in.displacements.plain(), call.in.type, call.out.data,
                                        call.out.counts.plain(), call.out.displacements.plain(),
                                        call.out.type, comm, request);
    case Function::Ineighbor_alltoallv_c:
      if (host().Ineighbor_alltoallv_c != nullptr)
        return host().Ineighbor_alltoallv_c(
            call.in.data, call.in.counts.large(), call.in.displacements.large(), call.in.type,
            call.out.data, call.out.counts.large(), call.out.displacements.large(), call.out.type,
            comm, request);
      break;
    case Function::Ineighbor_alltoallw:
      return host().Ineighbor_alltoallw(call.in.data, call.in.counts.plain(),
                                        call.in.displacements.large(), call.in.types, call.out.data,
                                        call.out.counts.plain(), call.out.displacements.large(),
                                        call.out.types, comm, request);
    case Function::Ineighbor_alltoallw_c:
      if (host().Ineighbor_alltoallw_c != nullptr)
        return host().Ineighbor_alltoallw_c(
            call.in.data, call.in.counts.large(), call.in.displacements.large(), call.in.types,
            call.out.data, call.out.counts.large(), call.out.displacements.large(), call.out.types,
            comm, request);
      break;
    default: break;
  }
  return raise(comm, MPI_ERR_OTHER);
}

int call_host(const Call& call, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  switch (call.function) {
    case Function::Barrier_init:
      if (host().Barrier_init != nullptr) return host().Barrier_init(comm, info, request);
      break;
    case Function::Bcast_init:
      if (host().Bcast_init != nullptr)
        return host().Bcast_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                 call.root, comm, info, request);
      break;
    case Function::Bcast_init_c:
      if (host().Bcast_init_c != nullptr)
        return host().Bcast_init_c(call.in.data, call.in.count, call.in.type, call.root, comm, info,
                                   request);
      break;
    case Function::Gather_init:
      if (host().Gather_init != nullptr)
        return host().Gather_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                  call.out.data, static_cast<int>(call.out.count), call.out.type,
                                  call.root, comm, info, request);
      break;
    case Function::Gather_init_c:
      if (host().Gather_init_c != nullptr)
        return host().Gather_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                    call.out.count, call.out.type, call.root, comm, info, request);
      break;
    case Function::Scatter_init:
      if (host().Scatter_init != nullptr)
        return host().Scatter_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                   call.out.data, static_cast<int>(call.out.count), call.out.type,
                                   call.root, comm, info, request);
      break;
    case Function::Scatter_init_c:
      if (host().Scatter_init_c != nullptr)
        return host().Scatter_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                     call.out.count, call.out.type, call.root, comm, info, request);
      break;
    case Function::Allgather_init:
      if (host().Allgather_init != nullptr)
        return host().Allgather_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                     call.out.data, static_cast<int>(call.out.count), call.out.type,
                                     comm, info, request);
      break;
    case Function::Allgather_init_c:
      if (host().Allgather_init_c != nullptr)
        return host().Allgather_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                       call.out.count, call.out.type, comm, info, request);
      break;
    case Function::Alltoall_init:
      if (host().Alltoall_init != nullptr)
        return host().Alltoall_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                    call.out.data, static_cast<int>(call.out.count), call.out.type,
                                    comm, info, request);
      break;
    case Function::Alltoall_init_c:
      if (host().Alltoall_init_c != nullptr)
        return host().Alltoall_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                      call.out.count, call.out.type, comm, info, request);
      break;
    case Function::Reduce_init:
      if (host().Reduce_init != nullptr)
        return host().Reduce_init(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                  call.in.type, call.op, call.root, comm, info, request);
      break;
    case Function::Reduce_init_c:
      if (host().Reduce_init_c != nullptr)
        return host().Reduce_init_c(call.in.data, call.out.data, call.in.count, call.in.type,
                                    call.op, call.root, comm, info, request);
      break;
    case Function::Allreduce_init:
      if (host().Allreduce_init != nullptr)
        return host().Allreduce_init(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                     call.in.type, call.op, comm, info, request);
      break;
    case Function::Allreduce_init_c:
      if (host().Allreduce_init_c != nullptr)
        return host().Allreduce_init_c(call.in.data, call.out.data, call.in.count, call.in.type,
                                       call.op, comm, info, request);
      break;
    case Function::Reduce_scatter_block_init:
      if (host().Reduce_scatter_block_init != nullptr)
        return host().Reduce_scatter_block_init(call.in.data, call.out.data,
                                                static_cast<int>(call.in.count), call.in.type,
                                                call.op, comm, info, request);
      break;
    case Function::Reduce_scatter_block_init_c:
      if (host().Reduce_scatter_block_init_c != nullptr)
        return host().Reduce_scatter_block_init_c(call.in.data, call.out.data, call.in.count,
                                                  call.in.type, call.op, comm, info, request);
      break;
    case Function::Scan_init:
      if (host().Scan_init != nullptr)
        return host().Scan_init(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                call.in.type, call.op, comm, info, request);
      break;
    case Function::Scan_init_c:
      if (host().Scan_init_c != nullptr)
        return host().Scan_init_c(call.in.data, call.out.data, call.in.count, call.in.type, call.op,
                                  comm, info, request);
      break;
    case Function::Exscan_init:
      if (host().Exscan_init != nullptr)
        return host().Exscan_init(call.in.data, call.out.data, static_cast<int>(call.in.count),
                                  call.in.type, call.op, comm, info, request);
      break;
    case Function::Exscan_init_c:
      if (host().Exscan_init_c != nullptr)
        return host().Exscan_init_c(call.in.data, call.out.data, call.in.count, call.in.type,
                                    call.op, comm, info, request);
      break;
    case Function::Gatherv_init:
      if (host().Gatherv_init != nullptr)
        return host().Gatherv_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                   call.out.data, call.out.counts.plain(),
                                   call.out.displacements.plain(), call.out.type, call.root, comm,
                                   info, request);
      break;
    case Function::Gatherv_init_c:
      if (host().Gatherv_init_c != nullptr)
        return host().Gatherv_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                     call.out.counts.large(), call.out.displacements.large(),
                                     call.out.type, call.root, comm, info, request);
      break;
    case Function::Scatterv_init:
      if (host().Scatterv_init != nullptr)
        return host().Scatterv_init(call.in.data, call.in.counts.plain(),
                                    call.in.displacements.plain(), call.in.type, call.out.data,
                                    static_cast<int>(call.out.count), call.out.type, call.root,
                                    comm, info, request);
      break;
    case Function::Scatterv_init_c:
      if (host().Scatterv_init_c != nullptr)
        return host().Scatterv_init_c(
            call.in.data, call.in.counts.large(), call.in.displacements.large(), call.in.type,
            call.out.data, call.out.count, call.out.type, call.root, comm, info, request);
      break;
    case Function::Allgatherv_init:
      if (host().Allgatherv_init != nullptr)
        return host().Allgatherv_init(call.in.data, static_cast<int>(call.in.count), call.in.type,
                                      call.out.data, call.out.counts.plain(),
                                      call.out.displacements.plain(), call.out.type, comm, info,
                                      request);
      break;
    case Function::Allgatherv_init_c:
      if (host().Allgatherv_init_c != nullptr)
        return host().Allgatherv_init_c(call.in.data, call.in.count, call.in.type, call.out.data,
                                        call.out.counts.large(), call.out.displacements.large(),
                                        call.out.type, comm, info, request);
      break;
    case Function::Alltoallv_init:
      if (host().Alltoallv_init != nullptr)
        return host().Alltoallv_init(call.in.data, call.in.counts.plain(),
                                     call.in.displacements.plain(), call.in.type, call.out.data,
                                     call.out.counts.plain(), call.out.displacements.plain(),
                                     call.out.type, comm, info, request);
      break;
    case Function::Alltoallv_init_c:
      if (host().Alltoallv_init_c != nullptr)
        return host().Alltoallv_init_c(call.in.data, call.in.counts.large(),
                                       call.in.displacements.large(), call.in.type, call.out.data,
                                       call.out.counts.large(), call.out.displacements.large(),
                                       call.out.type, comm, info, request);
      break;
    case Function::Alltoallw_init:
      if (host().Alltoallw_init != nullptr)
        return host().Alltoallw_init(call.in.data, call.in.counts.plain(),
                                     call.in.displacements.plain(), call.in.types, call.out.data,
                                     call.out.counts.plain(), call.out.displacements.plain(),
                                     call.out.types, comm, info, request);
      break;
    case Function::Alltoallw_init_c:
      if (host().Alltoallw_init_c != nullptr)
        return host().Alltoallw_init_c(call.in.data, call.in.counts.large(),
                                       call.in.displacements.large(), call.in.types, call.out.data,
                                       call.out.counts.large(), call.out.displacements.large(),
                                       call.out.types, comm, info, request);
      break;
    case Function::Reduce_scatter_init:
      if (host().Reduce_scatter_init != nullptr)
        return host().Reduce_scatter_init(call.in.data, call.out.data, call.in.counts.plain(),
                                          call.in.type, call.op, comm, info, request);
      break;
    case Function::Reduce_scatter_init_c:
      if (host().Reduce_scatter_init_c != nullptr)
        return host().Reduce_scatter_init_c(call.in.data, call.out.data, call.in.counts.large(),
                                            call.in.type, call.op, comm, info, request);
      break;
    case Function::Neighbor_allgather_init:
      if (host().Neighbor_allgather_init != nullptr)
        return host().Neighbor_allgather_init(
            call.in.data, static_cast<int>(call.in.count), call.in.type, call.out.data,
            static_cast<int>(call.out.count), call.out.type, comm, info, request);
      break;
    case Function::Neighbor_allgather_init_c:
      if (host().Neighbor_allgather_init_c != nullptr)
        return host().Neighbor_allgather_init_c(call.in.data, call.in.count, call.in.type,
                                                call.out.data, call.out.count, call.out.type, comm,
                                                info, request);
      break;
    case Function::Neighbor_alltoall_init:
      if (host().Neighbor_alltoall_init != nullptr)
        return host().Neighbor_alltoall_init(
            call.in.data, static_cast<int>(call.in.count), call.in.type, call.out.data,
            static_cast<int>(call.out.count), call.out.type, comm, info, request);
      break;
    case Function::Neighbor_alltoall_init_c:
      if (host().Neighbor_alltoall_init_c != nullptr)
        return host().Neighbor_alltoall_init_c(call.in.data, call.in.count, call.in.type,
                                               call.out.data, call.out.count, call.out.type, comm,
                                               info, request);
      break;
    case Function::Neighbor_allgatherv_init:
      if (host().Neighbor_allgatherv_init != nullptr)
        return host().Neighbor_allgatherv_init(call.in.data, static_cast<int>(call.in.count),
                                               call.in.type, call.out.data, call.out.counts.plain(),
                                               call.out.displacements.plain(), call.out.type, comm,
                                               info, request);
      break;
    case Function::Neighbor_allgatherv_init_c:
      if (host().Neighbor_allgatherv_init_c != nullptr)
        return host().Neighbor_allgatherv_init_c(
            call.in.data, call.in.count, call.in.type, call.out.data, call.out.counts.large(),
            call.out.displacements.large(), call.out.type, comm, info, request);
      break;
    case Function::Neighbor_alltoallv_init:
      if (host().Neighbor_alltoallv_init != nullptr)
        return host().Neighbor_alltoallv_init(
            call.in.data, call.in.counts.plain(), call.in.displacements.plain(), call.in.type,
            call.out.data, call.out.counts.plain(), call.out.displacements.plain(), call.out.type,
            comm, info, request);
      break;
    case Function::Neighbor_alltoallv_init_c:
      if (host().Neighbor_alltoallv_init_c != nullptr)
        return host().Neighbor_alltoallv_init_c(
            call.in.data, call.in.counts.large(), call.in.displacements.large(), call.in.type,
            call.out.data, call.out.counts.large(), call.out.displacements.large(), call.out.type,
            comm, info, request);
      break;
    case Function::Neighbor_alltoallw_init:
      if (host().Neighbor_alltoallw_init != nullptr)
        return host().Neighbor_alltoallw_init(
            call.in.data, call.in.counts.plain(), call.in.displacements.large(), call.in.types,
            call.out.data, call.out.counts.plain(), call.out.displacements.large(), call.out.types,
            comm, info, request);
      break;
    case Function::Neighbor_alltoallw_init_c:
      if (host().Neighbor_alltoallw_init_c != nullptr)
        return host().Neighbor_alltoallw_init_c(
            call.in.data, call.in.counts.large(), call.in.displacements.large(), call.in.types,
            call.out.data, call.out.counts.large(), call.out.displacements.large(), call.out.types,
            comm, info, request);
      break;
    default: break;
  }
  return raise(comm, MPI_ERR_OTHER);
}

}  // namespace tutti::mpi
