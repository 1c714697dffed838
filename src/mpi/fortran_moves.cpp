// Open MPI's Fortran entry points of the collectives that move data. Why there are any is told in
// fortran.cpp.
#include "mpi/fortran.h"

#if defined(TUTTI_ABI_OPENMPI)

#include "mpi/calls.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

namespace {

mpi::Side side(void* buffer, const MPI_Fint* count, const MPI_Fint* datatype) {
  return {c_address(buffer), *count, c_type(*datatype)};
}

}  // namespace

TUTTI_ENTRY void mpi_bcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root,
                            MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::bcast(c_address(buffer), *count, c_type(*datatype), *root, c_communicator(*comm),
                        mpi::Form::plain));
}

TUTTI_ENTRY void mpi_gather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                             MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root,
                             MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::gather(side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype),
                         *root, c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_scatter_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root,
                              MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::scatter(side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype),
                          *root, c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                                void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                                MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::allgather(side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype),
                            c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype,
                               void* recvbuf, MPI_Fint* recvcount, MPI_Fint* recvtype,
                               MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::alltoall(side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype),
                           c_communicator(*comm), mpi::Form::plain));
}

// The other names of the same routines.
extern "C" {
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
}

#endif
