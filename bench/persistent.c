/* The calls that make persistent collectives (calls.h). Functions with the same parameters share a
 * type and a case. */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char* const names[BENCH_COLLECTIVES] = {
#define BENCH_COLLECTIVE(constant, name, persistent, ...) [constant] = persistent,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};

typedef int BarrierInit(MPI_Comm, MPI_Info, MPI_Request*);
typedef int BcastInit(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
typedef int ReduceInit(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                       MPI_Request*);
/* allreduce, reduce_scatter_block, scan, exscan */
typedef int CombineInit(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                        MPI_Request*);
typedef int ReduceScatterInit(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm,
                              MPI_Info, MPI_Request*);
/* gather, scatter */
typedef int RootedInit(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                       MPI_Info, MPI_Request*);
/* allgather, alltoall */
typedef int EachInit(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                     MPI_Request*);
typedef int GathervInit(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                        int, MPI_Comm, MPI_Info, MPI_Request*);
typedef int ScattervInit(const void*, const int*, const int*, MPI_Datatype, void*, int,
                         MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
typedef int AllgathervInit(const void*, int, MPI_Datatype, void*, const int*, const int*,
                           MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
typedef int AlltoallvInit(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                          const int*, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
typedef int AlltoallwInit(const void*, const int*, const int*, const MPI_Datatype*, void*,
                          const int*, const int*, const MPI_Datatype*, MPI_Comm, MPI_Info,
                          MPI_Request*);

CallsFunction calls_find(const char* name) {
  CallsFunction function;
  void* const address = dlsym(RTLD_DEFAULT, name);
  memcpy(&function, &address, sizeof function); /* C has no cast from one to the other */
  return function;
}

const char* calls_persistent_name(BenchCollective collective) { return names[collective]; }

static void make_reduction(CallsFunction make, const Cell* cell, MPI_Request* request) {
  const int count = (int)cell->count, root = cell->kind.root;
  const MPI_Datatype type = cell_type(cell);
  const MPI_Comm communicator = cell_communicator(cell);
  switch (cell->kind.collective) {
    case BENCH_REDUCE:
      ((ReduceInit*)make)(cell->in, cell->out, count, type, MPI_SUM, root, communicator,
                          MPI_INFO_NULL, request);
      return;
    case BENCH_REDUCE_SCATTER:
      ((ReduceScatterInit*)make)(cell->in, cell->out, cell->sent, type, MPI_SUM, communicator,
                                 MPI_INFO_NULL, request);
      return;
    default:
      ((CombineInit*)make)(cell->in, cell->out, count, type, MPI_SUM, communicator, MPI_INFO_NULL,
                           request);
  }
}

static void make_v_collective(CallsFunction make, const Cell* cell, MPI_Request* request) {
  const int root = cell->kind.root;
  const MPI_Datatype type = cell_type(cell);
  const MPI_Comm communicator = cell_communicator(cell);
  switch (cell->kind.collective) {
    case BENCH_GATHERV:
      ((GathervInit*)make)(cell->in, cell->sent[root], type, cell->out, cell->received,
                           cell->received_at, type, root, communicator, MPI_INFO_NULL, request);
      return;
    case BENCH_SCATTERV:
      ((ScattervInit*)make)(cell->in, cell->sent, cell->sent_at, type, cell->out,
                            cell->received[root], type, root, communicator, MPI_INFO_NULL, request);
      return;
    case BENCH_ALLGATHERV:
      ((AllgathervInit*)make)(cell->in, cell->sent[cell->rank], type, cell->out, cell->received,
                              cell->received_at, type, communicator, MPI_INFO_NULL, request);
      return;
    case BENCH_ALLTOALLV:
      ((AlltoallvInit*)make)(cell->in, cell->sent, cell->sent_at, type, cell->out, cell->received,
                             cell->received_at, type, communicator, MPI_INFO_NULL, request);
      return;
    default:
      ((AlltoallwInit*)make)(cell->in, cell->sent, cell->sent_from, cell->types, cell->out,
                             cell->received, cell->received_from, cell->types, communicator,
                             MPI_INFO_NULL, request);
  }
}

void calls_make_persistent(const Cell* cell, MPI_Request* request) {
  const CallsFunction make = calls_find(names[cell->kind.collective]);
  const int count = (int)cell->count, root = cell->kind.root;
  const MPI_Datatype type = cell_type(cell);
  const MPI_Comm communicator = cell_communicator(cell);
  switch (cell->kind.collective) {
    case BENCH_BARRIER: ((BarrierInit*)make)(communicator, MPI_INFO_NULL, request); break;
    case BENCH_BCAST:
      ((BcastInit*)make)(cell->rank == root ? cell->in : cell->out, count, type, root, communicator,
                         MPI_INFO_NULL, request);
      break;
    case BENCH_GATHER:
    case BENCH_SCATTER:
      ((RootedInit*)make)(cell->in, count, type, cell->out, count, type, root, communicator,
                          MPI_INFO_NULL, request);
      break;
    case BENCH_ALLGATHER:
    case BENCH_ALLTOALL:
      ((EachInit*)make)(cell->in, count, type, cell->out, count, type, communicator, MPI_INFO_NULL,
                        request);
      break;
    case BENCH_GATHERV:
    case BENCH_SCATTERV:
    case BENCH_ALLGATHERV:
    case BENCH_ALLTOALLV:
    case BENCH_ALLTOALLW: make_v_collective(make, cell, request); break;
    default: make_reduction(make, cell, request);
  }
}
