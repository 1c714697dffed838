/* The table of MPI's collectives that tutti-bench measures: one row for each. The enumeration
 * (kinds.h), the names, the shapes and the calls of each form come from it. Results list the
 * collectives in this order.
 *
 * The table is apart from Tutti's own (src/base/collectives.inc.h), because tutti-bench measures
 * functions of MPI and judges their results by its own definition of them.
 *
 * Columns: constant, name, persistent function, shape (kinds.h). */
BENCH_COLLECTIVE(BENCH_ALLREDUCE, allreduce, "MPI_Allreduce_init", .reduces = true)
BENCH_COLLECTIVE(BENCH_BCAST, bcast, "MPI_Bcast_init", .rooted = true)
BENCH_COLLECTIVE(BENCH_REDUCE, reduce, "MPI_Reduce_init", .rooted = true, .reduces = true)
BENCH_COLLECTIVE(BENCH_BARRIER, barrier, "MPI_Barrier_init", .rooted = false)
BENCH_COLLECTIVE(BENCH_GATHER, gather, "MPI_Gather_init", .rooted = true, .each_out = true)
BENCH_COLLECTIVE(BENCH_SCATTER, scatter, "MPI_Scatter_init", .rooted = true, .each_in = true)
BENCH_COLLECTIVE(BENCH_ALLGATHER, allgather, "MPI_Allgather_init", .each_out = true)
BENCH_COLLECTIVE(BENCH_ALLTOALL, alltoall, "MPI_Alltoall_init", .each_in = true, .each_out = true)
BENCH_COLLECTIVE(BENCH_REDUCE_SCATTER_BLOCK, reduce_scatter_block, "MPI_Reduce_scatter_block_init",
                 .each_in = true, .reduces = true)
BENCH_COLLECTIVE(BENCH_SCAN, scan, "MPI_Scan_init", .reduces = true)
BENCH_COLLECTIVE(BENCH_EXSCAN, exscan, "MPI_Exscan_init", .reduces = true)
BENCH_COLLECTIVE(BENCH_GATHERV, gatherv, "MPI_Gatherv_init", .rooted = true, .each_out = true,
                 .uneven = true)
BENCH_COLLECTIVE(BENCH_SCATTERV, scatterv, "MPI_Scatterv_init", .rooted = true, .each_in = true,
                 .uneven = true)
BENCH_COLLECTIVE(BENCH_ALLGATHERV, allgatherv, "MPI_Allgatherv_init", .each_out = true,
                 .uneven = true)
BENCH_COLLECTIVE(BENCH_ALLTOALLV, alltoallv, "MPI_Alltoallv_init", .each_in = true,
                 .each_out = true, .uneven = true)
BENCH_COLLECTIVE(BENCH_REDUCE_SCATTER, reduce_scatter, "MPI_Reduce_scatter_init", .each_in = true,
                 .reduces = true, .uneven = true)
BENCH_COLLECTIVE(BENCH_ALLTOALLW, alltoallw, "MPI_Alltoallw_init", .each_in = true,
                 .each_out = true, .uneven = true)
