// persistent.c with large counts.
#define _GNU_SOURCE
#include <mpi.h>

#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define MPI_Bcast_init MPI_Bcast_init_c
#define MPI_Gather_init MPI_Gather_init_c
#define MPI_Gatherv_init MPI_Gatherv_init_c
#define MPI_Scatter_init MPI_Scatter_init_c
#define MPI_Scatterv_init MPI_Scatterv_init_c
#define MPI_Allgather_init MPI_Allgather_init_c
#define MPI_Allgatherv_init MPI_Allgatherv_init_c
#define MPI_Alltoall_init MPI_Alltoall_init_c
#define MPI_Alltoallv_init MPI_Alltoallv_init_c
#define MPI_Alltoallw_init MPI_Alltoallw_init_c
#define MPI_Reduce_init MPI_Reduce_init_c
#define MPI_Allreduce_init MPI_Allreduce_init_c
#define MPI_Reduce_scatter_init MPI_Reduce_scatter_init_c
#define MPI_Reduce_scatter_block_init MPI_Reduce_scatter_block_init_c
#define MPI_Scan_init MPI_Scan_init_c
#define MPI_Exscan_init MPI_Exscan_init_c

#include "persistent.c"
