// Open MPI's Fortran entry points of the collectives that combine data. Why there are any is told
// in fortran.cpp.
#include "mpi/fortran.h"

#if defined(TUTTI_ABI_OPENMPI)

#include "mpi/calls.h"

using namespace tutti;
using namespace tutti::mpi::fortran;

TUTTI_ENTRY void mpi_reduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                             MPI_Fint* op, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::reduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                         c_op(*op), *root, c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_allreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                                MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::allreduce(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                            c_op(*op), c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_reduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* recvcount,
                                           MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                                           MPI_Fint* error) {
  set(error, mpi::reduce_scatter_block(c_address(sendbuf), c_address(recvbuf), *recvcount,
                                       c_type(*datatype), c_op(*op), c_communicator(*comm),
                                       mpi::Form::plain));
}

TUTTI_ENTRY void mpi_scan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                           MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::scan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype), c_op(*op),
                       c_communicator(*comm), mpi::Form::plain));
}

TUTTI_ENTRY void mpi_exscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype,
                             MPI_Fint* op, MPI_Fint* comm, MPI_Fint* error) {
  set(error, mpi::exscan(c_address(sendbuf), c_address(recvbuf), *count, c_type(*datatype),
                         c_op(*op), c_communicator(*comm), mpi::Form::plain));
}

// The other names of the same routines.
extern "C" {
void MPI_REDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");
void mpi_reduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_");

void MPI_ALLREDUCE(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");
void mpi_allreduce_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_allreduce_");

void MPI_REDUCE_SCATTER_BLOCK(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_reduce_scatter_block_");
void mpi_reduce_scatter_block_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                   MPI_Fint*) TUTTI_SAME_AS("mpi_reduce_scatter_block_");

void MPI_SCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");
void mpi_scan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_scan_");

void MPI_EXSCAN(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan__(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
void mpi_exscan_f08_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    TUTTI_SAME_AS("mpi_exscan_");
}

#endif
