// Open MPI's Fortran entry points of the collectives whose parts differ in length. Why there are
// any is told in fortran.cpp. Fortran's default integers are C's int, so arrays of counts pass as
// they are; handles are converted.
#include "mpi/fortran.h"

#if defined(TUTTI_ABI_OPENMPI)

#include "mpi/v_collectives.h"
#include "mpi/thrown.h"

using namespace tutti;
using namespace tutti::mpi::fortran;
using mpi::host;
using mpi::VSide;
using plan::Collective;

static_assert(sizeof(MPI_Fint) == sizeof(int));

namespace {

VSide one_part(void* data, const MPI_Fint* count, MPI_Datatype type) {
  return {c_address(data), *count, {}, {}, type, nullptr};
}

VSide parts(void* data, const MPI_Fint* counts, const MPI_Fint* displacements, MPI_Datatype type) {
  return {c_address(data), 0, {counts}, {displacements}, type, nullptr};
}

}  // namespace

TUTTI_ENTRY void mpi_gatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* displs, MPI_Fint* recvtype,
                              MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  const VSide in = one_part(sendbuf, sendcount, c_type(*sendtype));
  const VSide out = parts(recvbuf, recvcounts, displs, c_type(*recvtype));
  set(error, mpi::v_move({Collective::gather, in, out, *root}, communicator, [&] {
        return host().Gatherv(in.data, *sendcount, in.type, out.data, recvcounts, displs, out.type,
                              *root, communicator);
      }));
}

TUTTI_ENTRY void mpi_scatterv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* displs,
                               MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                               MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                               MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  const VSide in = parts(sendbuf, sendcounts, displs, c_type(*sendtype));
  const VSide out = one_part(recvbuf, recvcount, c_type(*recvtype));
  set(error, mpi::v_move({Collective::scatter, in, out, *root}, communicator, [&] {
        return host().Scatterv(in.data, sendcounts, displs, in.type, out.data, *recvcount, out.type,
                               *root, communicator);
      }));
}

TUTTI_ENTRY void mpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                 void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                 MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  const VSide in = one_part(sendbuf, sendcount, c_type(*sendtype));
  const VSide out = parts(recvbuf, recvcounts, displs, c_type(*recvtype));
  set(error, mpi::v_move({Collective::allgather, in, out}, communicator, [&] {
        return host().Allgatherv(in.data, *sendcount, in.type, out.data, recvcounts, displs,
                                 out.type, communicator);
      }));
}

TUTTI_ENTRY void mpi_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  const VSide in = parts(sendbuf, sendcounts, sdispls, c_type(*sendtype));
  const VSide out = parts(recvbuf, recvcounts, rdispls, c_type(*recvtype));
  set(error, mpi::v_move({Collective::alltoall, in, out}, communicator, [&] {
        return host().Alltoallv(in.data, sendcounts, sdispls, in.type, out.data, recvcounts,
                                rdispls, out.type, communicator);
      }));
}

TUTTI_ENTRY void mpi_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  VSide in = parts(sendbuf, sendcounts, sdispls, {});
  VSide out = parts(recvbuf, recvcounts, rdispls, {});
  set(error, mpi::guarded(communicator, [&] {
        const std::vector<MPI_Datatype> in_types = c_types(sendtypes, communicator, in.data);
        const std::vector<MPI_Datatype> out_types = c_types(recvtypes, communicator, out.data);
        in.types = in_types.data();
        out.types = out_types.data();
        return mpi::v_move({Collective::alltoall, in, out}, communicator, [&] {
          return host().Alltoallw(in.data, sendcounts, sdispls, in.types, out.data, recvcounts,
                                  rdispls, out.types, communicator);
        });
      }));
}

TUTTI_ENTRY void mpi_reduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                     MPI_Fint* error) {
  const MPI_Comm communicator = c_communicator(*comm);
  const mpi::VReduction reduction{
      c_address(sendbuf), c_address(recvbuf), {recvcounts}, c_type(*datatype), c_op(*op)};
  set(error, mpi::v_reduce_scatter(reduction, communicator, [&] {
        return host().Reduce_scatter(reduction.in, reduction.out, recvcounts, reduction.type,
                                     reduction.op, communicator);
      }));
}

// The other names of the same routines.
#define TUTTI_FINTS_5 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*
#define TUTTI_OTHER_NAMES(routine, CAPITALS, ...)            \
  void CAPITALS(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");    \
  void routine(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");     \
  void routine##__(__VA_ARGS__) TUTTI_SAME_AS(#routine "_"); \
  void routine##_f08_(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");

extern "C" {
TUTTI_OTHER_NAMES(mpi_gatherv, MPI_GATHERV, void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*,
                  TUTTI_FINTS_5)
TUTTI_OTHER_NAMES(mpi_scatterv, MPI_SCATTERV, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  TUTTI_FINTS_5)
TUTTI_OTHER_NAMES(mpi_allgatherv, MPI_ALLGATHERV, void*, MPI_Fint*, MPI_Fint*, void*, TUTTI_FINTS_5)
TUTTI_OTHER_NAMES(mpi_alltoallv, MPI_ALLTOALLV, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  TUTTI_FINTS_5)
TUTTI_OTHER_NAMES(mpi_alltoallw, MPI_ALLTOALLW, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*,
                  TUTTI_FINTS_5)
TUTTI_OTHER_NAMES(mpi_reduce_scatter, MPI_REDUCE_SCATTER, void*, void*, TUTTI_FINTS_5)
}

#endif
