// The table of collectives that have plans: one row for each. plan/collective.h includes it to make
// the enumeration and the properties, and the table of options to make the TUTTI_ALGORITHM_*
// variables.
//
// Columns: name, variable that names its algorithm, words for users, properties
// (plan/collective.h).
TUTTI_COLLECTIVE(barrier, "TUTTI_ALGORITHM_BARRIER", "barrier", .has_data = false)
TUTTI_COLLECTIVE(bcast, "TUTTI_ALGORITHM_BCAST", "broadcast", .rooted = true, .one_buffer = true)
TUTTI_COLLECTIVE(reduce, "TUTTI_ALGORITHM_REDUCE", "reduce", .rooted = true, .combines = true)
TUTTI_COLLECTIVE(allreduce, "TUTTI_ALGORITHM_ALLREDUCE", "allreduce", .combines = true)
TUTTI_COLLECTIVE(gather, "TUTTI_ALGORITHM_GATHER", "gather", .rooted = true, .parted_out = true)
TUTTI_COLLECTIVE(scatter, "TUTTI_ALGORITHM_SCATTER", "scatter", .rooted = true, .parted_in = true)
TUTTI_COLLECTIVE(allgather, "TUTTI_ALGORITHM_ALLGATHER", "allgather", .parted_out = true)
TUTTI_COLLECTIVE(alltoall, "TUTTI_ALGORITHM_ALLTOALL", "all-to-all", .parted_in = true,
                 .parted_out = true)
TUTTI_COLLECTIVE(reduce_scatter, "TUTTI_ALGORITHM_REDUCE_SCATTER", "reduce-scatter",
                 .combines = true, .parted_in = true)
TUTTI_COLLECTIVE(scan, "TUTTI_ALGORITHM_SCAN", "scan", .combines = true,
                 .combined = Combined::up_to_rank)
TUTTI_COLLECTIVE(exscan, "TUTTI_ALGORITHM_EXSCAN", "exclusive scan", .combines = true,
                 .combined = Combined::before_rank)
