/* Exchanges of ghost cells (grid.h), in each way in which a program may write them: by one call of
 * MPI_Neighbor_alltoallw with subarray types, in its three forms; by MPI_Irecv and MPI_Isend with
 * the same types; and packed by hand into MPI_Neighbor_alltoall or MPI_Neighbor_alltoallv.
 *
 * Each rank rewrites its cells before each exchange, and verifies every ghost cell after it. */
#ifndef TUTTI_BENCH_HALO_H
#define TUTTI_BENCH_HALO_H

#include "bench.h"

/* Measures each way for each size of a face; for an overlap (overlap.h) the first four ways, alone
 * and beside computations. All ranks call it. */
void halo_measure(Bench* bench, BenchCondition condition);

#endif
