/* The blocking calls, by collective (calls.h). */
#include "calls.h"

static void allreduce(const Cell* cell) {
  MPI_Allreduce(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
                cell_communicator(cell));
}
static void bcast(const Cell* cell) {
  MPI_Bcast(cell->rank == cell->kind.root ? cell->in : cell->out, (int)cell->count, cell_type(cell),
            cell->kind.root, cell_communicator(cell));
}
static void reduce(const Cell* cell) {
  MPI_Reduce(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM, cell->kind.root,
             cell_communicator(cell));
}
static void barrier(const Cell* cell) { MPI_Barrier(cell_communicator(cell)); }
static void gather(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Gather(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell), cell->kind.root,
             cell_communicator(cell));
}
static void scatter(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Scatter(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell), cell->kind.root,
              cell_communicator(cell));
}
static void allgather(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Allgather(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell),
                cell_communicator(cell));
}
static void alltoall(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Alltoall(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell),
               cell_communicator(cell));
}
static void reduce_scatter_block(const Cell* cell) {
  MPI_Reduce_scatter_block(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
                           cell_communicator(cell));
}
static void scan(const Cell* cell) {
  MPI_Scan(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
           cell_communicator(cell));
}
static void exscan(const Cell* cell) {
  MPI_Exscan(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
             cell_communicator(cell));
}
static void gatherv(const Cell* cell) {
  MPI_Gatherv(cell->in, cell->sent[cell->kind.root], cell_type(cell), cell->out, cell->received,
              cell->received_at, cell_type(cell), cell->kind.root, cell_communicator(cell));
}
static void scatterv(const Cell* cell) {
  MPI_Scatterv(cell->in, cell->sent, cell->sent_at, cell_type(cell), cell->out,
               cell->received[cell->kind.root], cell_type(cell), cell->kind.root,
               cell_communicator(cell));
}
static void allgatherv(const Cell* cell) {
  MPI_Allgatherv(cell->in, cell->sent[cell->rank], cell_type(cell), cell->out, cell->received,
                 cell->received_at, cell_type(cell), cell_communicator(cell));
}
static void alltoallv(const Cell* cell) {
  MPI_Alltoallv(cell->in, cell->sent, cell->sent_at, cell_type(cell), cell->out, cell->received,
                cell->received_at, cell_type(cell), cell_communicator(cell));
}
static void reduce_scatter(const Cell* cell) {
  MPI_Reduce_scatter(cell->in, cell->out, cell->sent, cell_type(cell), MPI_SUM,
                     cell_communicator(cell));
}
static void alltoallw(const Cell* cell) {
  MPI_Alltoallw(cell->in, cell->sent, cell->sent_from, cell->types, cell->out, cell->received,
                cell->received_from, cell->types, cell_communicator(cell));
}

void (*const blocking_calls[BENCH_COLLECTIVES])(const Cell* cell) = {
#define BENCH_COLLECTIVE(constant, name, ...) [constant] = name,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};
