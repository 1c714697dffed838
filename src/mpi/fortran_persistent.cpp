// Open MPI's Fortran entry points of the persistent collectives, and mpi_f08's barrier in all
// libraries. Why there are any is told in fortran.cpp. Fortran's default integers are C's int, so
// arrays of counts pass as they are; handles are converted.
#include "mpi/fortran.h"
#include "mpi/persistent_calls.h"

using namespace tutti;
using namespace tutti::mpi::fortran;
using mpi::host;
using plan::Collective;

namespace {

MPI_Fint fortran_request(MPI_Request request) {
#if defined(TUTTI_ABI_MPICH)
  return request;
#elif defined(TUTTI_ABI_OPENMPI)
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Request_c2f)>(mpi::host_symbol("PMPI_Request_c2f"));
  return convert(request);
#else
  static const auto convert =
      reinterpret_cast<decltype(&PMPI_Request_toint)>(mpi::host_symbol("PMPI_Request_toint"));
  return convert(request);
#endif
}

// `call` makes the request that it is asked for.
template <class Call>
void init(const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request, MPI_Fint* error,
          Call call) {
  MPI_Request made{};
  const mpi::Asked asked{c_communicator(*comm), c_info(*info), &made};
  const int code = mpi::guarded(asked.comm, [&] { return call(asked); });
  if (code == MPI_SUCCESS) *request = fortran_request(made);
  set(error, code);
}

}  // namespace

TUTTI_ENTRY void mpi_barrier_init_f08_(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                       MPI_Fint* error) {
  init(comm, info, request, error,
       [](const mpi::Asked& asked) { return mpi::init_barrier(asked); });
}

#if defined(TUTTI_ABI_OPENMPI)

static_assert(sizeof(MPI_Fint) == sizeof(int));

TUTTI_ENTRY void mpi_barrier_init_(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                   MPI_Fint* error) {
  mpi_barrier_init_f08_(comm, info, request, error);
}

TUTTI_ENTRY void mpi_bcast_init_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root,
                                 MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                 MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_bcast(host().persistent.Bcast_init, c_address(buffer), *count,
                           c_type(*datatype), *root, asked);
  });
}

TUTTI_ENTRY void mpi_gather_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                  void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                  MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                  MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_rooted_move(Collective::gather, host().persistent.Gather_init,
                                 c_address(sendbuf), *sendcount, c_type(*sendtype),
                                 c_address(recvbuf), *recvcount, c_type(*recvtype), *root, asked);
  });
}

TUTTI_ENTRY void mpi_scatter_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                   void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                   MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info,
                                   MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_rooted_move(Collective::scatter, host().persistent.Scatter_init,
                                 c_address(sendbuf), *sendcount, c_type(*sendtype),
                                 c_address(recvbuf), *recvcount, c_type(*recvtype), *root, asked);
  });
}

TUTTI_ENTRY void mpi_allgather_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                     void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                     MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                     MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_move(Collective::allgather, host().persistent.Allgather_init,
                          c_address(sendbuf), *sendcount, c_type(*sendtype), c_address(recvbuf),
                          *recvcount, c_type(*recvtype), asked);
  });
}

TUTTI_ENTRY void mpi_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                    void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                    MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                    MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_move(Collective::alltoall, host().persistent.Alltoall_init, c_address(sendbuf),
                          *sendcount, c_type(*sendtype), c_address(recvbuf), *recvcount,
                          c_type(*recvtype), asked);
  });
}

TUTTI_ENTRY void mpi_gatherv_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                   void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                   MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                                   MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_gatherv(host().persistent.Gatherv_init, c_address(sendbuf), *sendcount,
                             c_type(*sendtype), c_address(recvbuf), recvcounts, displs,
                             c_type(*recvtype), *root, asked);
  });
}

TUTTI_ENTRY void mpi_scatterv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* displs,
                                    MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                                    MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm,
                                    MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_scatterv(host().persistent.Scatterv_init, c_address(sendbuf), sendcounts,
                              displs, c_type(*sendtype), c_address(recvbuf), *recvcount,
                              c_type(*recvtype), *root, asked);
  });
}

TUTTI_ENTRY void mpi_allgatherv_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                      void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* displs,
                                      MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                      MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_allgatherv(host().persistent.Allgatherv_init, c_address(sendbuf), *sendcount,
                                c_type(*sendtype), c_address(recvbuf), recvcounts, displs,
                                c_type(*recvtype), asked);
  });
}

TUTTI_ENTRY void mpi_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                     MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_v_alltoall(host().persistent.Alltoallv_init, c_address(sendbuf), sendcounts,
                                sdispls, c_type(*sendtype), c_address(recvbuf), recvcounts, rdispls,
                                c_type(*recvtype), asked);
  });
}

TUTTI_ENTRY void mpi_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls,
                                     MPI_Fint* sendtypes, void* recvbuf, MPI_Fint* recvcounts,
                                     MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    const std::vector<MPI_Datatype> in_types = c_types(sendtypes, asked.comm, c_address(sendbuf));
    const std::vector<MPI_Datatype> out_types = c_types(recvtypes, asked.comm, c_address(recvbuf));
    return mpi::init_v_alltoall(host().persistent.Alltoallw_init, c_address(sendbuf), sendcounts,
                                sdispls, in_types.data(), c_address(recvbuf), recvcounts, rdispls,
                                out_types.data(), asked);
  });
}

TUTTI_ENTRY void mpi_reduce_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                  MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* info,
                                  MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduce(host().persistent.Reduce_init, c_address(sendbuf), c_address(recvbuf),
                            *count, c_type(*datatype), c_op(*op), *root, asked);
  });
}

TUTTI_ENTRY void mpi_allreduce_init_(void* sendbuf, void* recvbuf, MPI_Fint* count,
                                     MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                     MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduction(Collective::allreduce, host().persistent.Allreduce_init,
                               c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                               c_op(*op), asked);
  });
}

TUTTI_ENTRY void mpi_reduce_scatter_block_init_(void* sendbuf, void* recvbuf, MPI_Fint* count,
                                                MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                                MPI_Fint* info, MPI_Fint* request,
                                                MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduction(Collective::reduce_scatter,
                               host().persistent.Reduce_scatter_block_init, c_address(sendbuf),
                               c_address(recvbuf), *count, c_type(*datatype), c_op(*op), asked);
  });
}

TUTTI_ENTRY void mpi_scan_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduction(Collective::scan, host().persistent.Scan_init, c_address(sendbuf),
                               c_address(recvbuf), *count, c_type(*datatype), c_op(*op), asked);
  });
}

TUTTI_ENTRY void mpi_exscan_init_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                  MPI_Fint* op, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request,
                                  MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduction(Collective::exscan, host().persistent.Exscan_init,
                               c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                               c_op(*op), asked);
  });
}

TUTTI_ENTRY void mpi_reduce_scatter_init_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts,
                                          MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                          MPI_Fint* info, MPI_Fint* request, MPI_Fint* error) {
  init(comm, info, request, error, [&](const mpi::Asked& asked) {
    return mpi::init_reduce_scatter(host().persistent.Reduce_scatter_init, c_address(sendbuf),
                                    c_address(recvbuf), recvcounts, c_type(*datatype), c_op(*op),
                                    asked);
  });
}

// The other names of the same routines.
#define TUTTI_FINTS_4 MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*
#define TUTTI_OTHER_NAMES(routine, CAPITALS, ...)         \
  void CAPITALS(__VA_ARGS__) TUTTI_SAME_AS(#routine "_"); \
  void routine(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");  \
  void routine##__(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");
#define TUTTI_OTHER_NAMES_F08(routine, CAPITALS, ...) \
  TUTTI_OTHER_NAMES(routine, CAPITALS, __VA_ARGS__)   \
  void routine##_f08_(__VA_ARGS__) TUTTI_SAME_AS(#routine "_");

extern "C" {
TUTTI_OTHER_NAMES(mpi_barrier_init, MPI_BARRIER_INIT, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_bcast_init, MPI_BCAST_INIT, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_gather_init, MPI_GATHER_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_scatter_init, MPI_SCATTER_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_allgather_init, MPI_ALLGATHER_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_alltoall_init, MPI_ALLTOALL_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_gatherv_init, MPI_GATHERV_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_scatterv_init, MPI_SCATTERV_INIT, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_allgatherv_init, MPI_ALLGATHERV_INIT, void*, MPI_Fint*, MPI_Fint*, void*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_alltoallv_init, MPI_ALLTOALLV_INIT, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_alltoallw_init, MPI_ALLTOALLW_INIT, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_reduce_init, MPI_REDUCE_INIT, void*, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_allreduce_init, MPI_ALLREDUCE_INIT, void*, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_reduce_scatter_block_init, MPI_REDUCE_SCATTER_BLOCK_INIT, void*, void*,
                      MPI_Fint*, MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_scan_init, MPI_SCAN_INIT, void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_exscan_init, MPI_EXSCAN_INIT, void*, void*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*, TUTTI_FINTS_4)
TUTTI_OTHER_NAMES_F08(mpi_reduce_scatter_init, MPI_REDUCE_SCATTER_INIT, void*, void*, MPI_Fint*,
                      MPI_Fint*, MPI_Fint*, TUTTI_FINTS_4)
}

#endif
