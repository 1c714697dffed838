/* The calls that start non-blocking collectives, by collective (calls.h). */
#include "calls.h"

static void allreduce(const Cell* cell, MPI_Request* request) {
  MPI_Iallreduce(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
                 cell_communicator(cell), request);
}
static void bcast(const Cell* cell, MPI_Request* request) {
  MPI_Ibcast(cell->rank == cell->kind.root ? cell->in : cell->out, (int)cell->count,
             cell_type(cell), cell->kind.root, cell_communicator(cell), request);
}
static void reduce(const Cell* cell, MPI_Request* request) {
  MPI_Ireduce(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM, cell->kind.root,
              cell_communicator(cell), request);
}
static void barrier(const Cell* cell, MPI_Request* request) {
  MPI_Ibarrier(cell_communicator(cell), request);
}
static void gather(const Cell* cell, MPI_Request* request) {
  const int count = (int)cell->count;
  MPI_Igather(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell), cell->kind.root,
              cell_communicator(cell), request);
}
static void scatter(const Cell* cell, MPI_Request* request) {
  const int count = (int)cell->count;
  MPI_Iscatter(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell), cell->kind.root,
               cell_communicator(cell), request);
}
static void allgather(const Cell* cell, MPI_Request* request) {
  const int count = (int)cell->count;
  MPI_Iallgather(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell),
                 cell_communicator(cell), request);
}
static void alltoall(const Cell* cell, MPI_Request* request) {
  const int count = (int)cell->count;
  MPI_Ialltoall(cell->in, count, cell_type(cell), cell->out, count, cell_type(cell),
                cell_communicator(cell), request);
}
static void reduce_scatter_block(const Cell* cell, MPI_Request* request) {
  MPI_Ireduce_scatter_block(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
                            cell_communicator(cell), request);
}
static void scan(const Cell* cell, MPI_Request* request) {
  MPI_Iscan(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
            cell_communicator(cell), request);
}
static void exscan(const Cell* cell, MPI_Request* request) {
  MPI_Iexscan(cell->in, cell->out, (int)cell->count, cell_type(cell), MPI_SUM,
              cell_communicator(cell), request);
}
static void gatherv(const Cell* cell, MPI_Request* request) {
  MPI_Igatherv(cell->in, cell->sent[cell->kind.root], cell_type(cell), cell->out, cell->received,
               cell->received_at, cell_type(cell), cell->kind.root, cell_communicator(cell),
               request);
}
static void scatterv(const Cell* cell, MPI_Request* request) {
  MPI_Iscatterv(cell->in, cell->sent, cell->sent_at, cell_type(cell), cell->out,
                cell->received[cell->kind.root], cell_type(cell), cell->kind.root,
                cell_communicator(cell), request);
}
static void allgatherv(const Cell* cell, MPI_Request* request) {
  MPI_Iallgatherv(cell->in, cell->sent[cell->rank], cell_type(cell), cell->out, cell->received,
                  cell->received_at, cell_type(cell), cell_communicator(cell), request);
}
static void alltoallv(const Cell* cell, MPI_Request* request) {
  MPI_Ialltoallv(cell->in, cell->sent, cell->sent_at, cell_type(cell), cell->out, cell->received,
                 cell->received_at, cell_type(cell), cell_communicator(cell), request);
}
static void reduce_scatter(const Cell* cell, MPI_Request* request) {
  MPI_Ireduce_scatter(cell->in, cell->out, cell->sent, cell_type(cell), MPI_SUM,
                      cell_communicator(cell), request);
}
static void alltoallw(const Cell* cell, MPI_Request* request) {
  MPI_Ialltoallw(cell->in, cell->sent, cell->sent_from, cell->types, cell->out, cell->received,
                 cell->received_from, cell->types, cell_communicator(cell), request);
}

void (*const nonblocking_calls[BENCH_COLLECTIVES])(const Cell* cell, MPI_Request* request) = {
#define BENCH_COLLECTIVE(constant, name, ...) [constant] = name,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};
