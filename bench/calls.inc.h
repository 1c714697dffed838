/* The table of the calls that tutti-bench measures: one row for each collective.
 *
 * Columns: the collective, its blocking function, its non-blocking one, the type of the function
 * that makes a persistent operation (calls.c), and the arguments that the three have in common. In
 * these, `cell` is the cell; `count`, `type`, `root` and `communicator` are its elements, their
 * type, its root and its communicator. */
BENCH_CALL(BENCH_ALLREDUCE, MPI_Allreduce, MPI_Iallreduce, CombineInit, cell->in, cell->out, count,
           type, MPI_SUM, communicator)
BENCH_CALL(BENCH_BCAST, MPI_Bcast, MPI_Ibcast, BcastInit, cell->rank == root ? cell->in : cell->out,
           count, type, root, communicator)
BENCH_CALL(BENCH_REDUCE, MPI_Reduce, MPI_Ireduce, ReduceInit, cell->in, cell->out, count, type,
           MPI_SUM, root, communicator)
BENCH_CALL(BENCH_BARRIER, MPI_Barrier, MPI_Ibarrier, BarrierInit, communicator)
BENCH_CALL(BENCH_GATHER, MPI_Gather, MPI_Igather, RootedInit, cell->in, count, type, cell->out,
           count, type, root, communicator)
BENCH_CALL(BENCH_SCATTER, MPI_Scatter, MPI_Iscatter, RootedInit, cell->in, count, type, cell->out,
           count, type, root, communicator)
BENCH_CALL(BENCH_ALLGATHER, MPI_Allgather, MPI_Iallgather, EachInit, cell->in, count, type,
           cell->out, count, type, communicator)
BENCH_CALL(BENCH_ALLTOALL, MPI_Alltoall, MPI_Ialltoall, EachInit, cell->in, count, type, cell->out,
           count, type, communicator)
BENCH_CALL(BENCH_REDUCE_SCATTER_BLOCK, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
           CombineInit, cell->in, cell->out, count, type, MPI_SUM, communicator)
BENCH_CALL(BENCH_SCAN, MPI_Scan, MPI_Iscan, CombineInit, cell->in, cell->out, count, type, MPI_SUM,
           communicator)
BENCH_CALL(BENCH_EXSCAN, MPI_Exscan, MPI_Iexscan, CombineInit, cell->in, cell->out, count, type,
           MPI_SUM, communicator)
BENCH_CALL(BENCH_GATHERV, MPI_Gatherv, MPI_Igatherv, GathervInit, cell->in, cell->sent[root], type,
           cell->out, cell->received, cell->received_at, type, root, communicator)
BENCH_CALL(BENCH_SCATTERV, MPI_Scatterv, MPI_Iscatterv, ScattervInit, cell->in, cell->sent,
           cell->sent_at, type, cell->out, cell->received[root], type, root, communicator)
BENCH_CALL(BENCH_ALLGATHERV, MPI_Allgatherv, MPI_Iallgatherv, AllgathervInit, cell->in,
           cell->sent[cell->rank], type, cell->out, cell->received, cell->received_at, type,
           communicator)
BENCH_CALL(BENCH_ALLTOALLV, MPI_Alltoallv, MPI_Ialltoallv, AlltoallvInit, cell->in, cell->sent,
           cell->sent_at, type, cell->out, cell->received, cell->received_at, type, communicator)
BENCH_CALL(BENCH_REDUCE_SCATTER, MPI_Reduce_scatter, MPI_Ireduce_scatter, ReduceScatterInit,
           cell->in, cell->out, cell->sent, type, MPI_SUM, communicator)
BENCH_CALL(BENCH_ALLTOALLW, MPI_Alltoallw, MPI_Ialltoallw, AlltoallwInit, cell->in, cell->sent,
           cell->sent_from, cell->types, cell->out, cell->received, cell->received_from,
           cell->types, communicator)
