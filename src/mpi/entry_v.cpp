// The C entry points of the collectives whose parts differ in length. What entry points are is told
// in entry.cpp.
#include "mpi/v_collectives.h"

#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace tutti;
using mpi::host;
using mpi::VSide;
using plan::Collective;

namespace {

VSide one_part(const void* data, MPI_Count count, MPI_Datatype type) {
  return {const_cast<void*>(data), count, {}, {}, type, nullptr};
}

template <class Count, class Displacement>
VSide parts(const void* data, const Count* counts, const Displacement* displacements,
            MPI_Datatype type) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, type, nullptr};
}

template <class Count, class Displacement>
VSide typed_parts(const void* data, const Count* counts, const Displacement* displacements,
                  const MPI_Datatype* types) {
  return {const_cast<void*>(data), 0, {counts}, {displacements}, {}, types};
}

}  // namespace

TUTTI_ENTRY int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::v_move({Collective::gather, one_part(sendbuf, sendcount, sendtype),
                      parts(recvbuf, recvcounts, displs, recvtype), root},
                     comm, [&] {
                       return host().Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                             displs, recvtype, root, comm);
                     });
}

TUTTI_ENTRY int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::v_move({Collective::scatter, parts(sendbuf, sendcounts, displs, sendtype),
                      one_part(recvbuf, recvcount, recvtype), root},
                     comm, [&] {
                       return host().Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                              recvcount, recvtype, root, comm);
                     });
}

TUTTI_ENTRY int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::v_move({Collective::allgather, one_part(sendbuf, sendcount, sendtype),
                      parts(recvbuf, recvcounts, displs, recvtype)},
                     comm, [&] {
                       return host().Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                displs, recvtype, comm);
                     });
}

TUTTI_ENTRY int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::v_move({Collective::alltoall, parts(sendbuf, sendcounts, sdispls, sendtype),
                      parts(recvbuf, recvcounts, rdispls, recvtype)},
                     comm, [&] {
                       return host().Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                               recvcounts, rdispls, recvtype, comm);
                     });
}

TUTTI_ENTRY int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return mpi::v_move({Collective::alltoall, typed_parts(sendbuf, sendcounts, sdispls, sendtypes),
                      typed_parts(recvbuf, recvcounts, rdispls, recvtypes)},
                     comm, [&] {
                       return host().Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                               recvcounts, rdispls, recvtypes, comm);
                     });
}

TUTTI_ENTRY int MPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return mpi::v_reduce_scatter({sendbuf, recvbuf, {recvcounts}, datatype, op}, comm, [&] {
    return host().Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  });
}

#ifdef TUTTI_LARGE_COUNTS
TUTTI_ENTRY int MPI_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                              MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return mpi::v_move({Collective::gather, one_part(sendbuf, sendcount, sendtype),
                      parts(recvbuf, recvcounts, displs, recvtype), root},
                     comm, [&] {
                       return host().Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                               displs, recvtype, root, comm);
                     });
}

TUTTI_ENTRY int MPI_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype recvtype, int root,
                               MPI_Comm comm) {
  return mpi::v_move({Collective::scatter, parts(sendbuf, sendcounts, displs, sendtype),
                      one_part(recvbuf, recvcount, recvtype), root},
                     comm, [&] {
                       return host().Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf,
                                                recvcount, recvtype, root, comm);
                     });
}

TUTTI_ENTRY int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::v_move({Collective::allgather, one_part(sendbuf, sendcount, sendtype),
                      parts(recvbuf, recvcounts, displs, recvtype)},
                     comm, [&] {
                       return host().Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                                  displs, recvtype, comm);
                     });
}

TUTTI_ENTRY int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                MPI_Datatype recvtype, MPI_Comm comm) {
  return mpi::v_move({Collective::alltoall, parts(sendbuf, sendcounts, sdispls, sendtype),
                      parts(recvbuf, recvcounts, rdispls, recvtype)},
                     comm, [&] {
                       return host().Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                 recvcounts, rdispls, recvtype, comm);
                     });
}

TUTTI_ENTRY int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                                const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                MPI_Comm comm) {
  return mpi::v_move({Collective::alltoall, typed_parts(sendbuf, sendcounts, sdispls, sendtypes),
                      typed_parts(recvbuf, recvcounts, rdispls, recvtypes)},
                     comm, [&] {
                       return host().Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                 recvcounts, rdispls, recvtypes, comm);
                     });
}

TUTTI_ENTRY int MPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf,
                                     const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                                     MPI_Comm comm) {
  return mpi::v_reduce_scatter({sendbuf, recvbuf, {recvcounts}, datatype, op}, comm, [&] {
    return host().Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  });
}
#endif
