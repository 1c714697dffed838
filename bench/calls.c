#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Functions that make persistent operations, by their parameters. */
typedef int BarrierInit(MPI_Comm, MPI_Info, MPI_Request*);
typedef int BcastInit(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
typedef int ReduceInit(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                       MPI_Request*);
typedef int CombineInit(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                        MPI_Request*);
typedef int ReduceScatterInit(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm,
                              MPI_Info, MPI_Request*);
typedef int RootedInit(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                       MPI_Info, MPI_Request*);
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

static const char* const persistent_names[BENCH_COLLECTIVES] = {
#define BENCH_COLLECTIVE(constant, name, persistent, ...) [constant] = persistent,
#include "collectives.inc.h"
#undef BENCH_COLLECTIVE
};

CallsFunction calls_find(const char* name) {
  CallsFunction function;
  void* const address = dlsym(RTLD_DEFAULT, name);
  memcpy(&function, &address, sizeof function); /* C has no cast from one to the other */
  return function;
}

bool call_exists(BenchCollective collective, BenchForm form) {
  return form != BENCH_PERSISTENT || calls_find(persistent_names[collective]) != NULL;
}

static void make_persistent(Cell* cell) {
  const CallsFunction make = calls_find(persistent_names[cell->kind.collective]);
  const int count = (int)cell->count, root = cell->kind.root;
  const MPI_Datatype type = cell_type(cell);
  const MPI_Comm communicator = cell_communicator(cell);
  switch (cell->kind.collective) {
#define BENCH_CALL(collective, blocking, nonblocking, Init, ...) \
  case collective: ((Init*)make)(__VA_ARGS__, MPI_INFO_NULL, &cell->request); return;
#include "calls.inc.h"
#undef BENCH_CALL
    case BENCH_COLLECTIVES: return;
  }
}

void call_open(Cell* cell) {
  cell->request = MPI_REQUEST_NULL;
  if (cell->kind.form == BENCH_PERSISTENT) make_persistent(cell);
}

void call_close(Cell* cell) {
  if (cell->request != MPI_REQUEST_NULL) MPI_Request_free(&cell->request);
}

void call_start(Cell* cell) {
  if (cell->kind.form == BENCH_PERSISTENT) {
    MPI_Start(&cell->request);
    return;
  }
  const bool is_blocking = cell->kind.form == BENCH_BLOCKING;
  const int count = (int)cell->count, root = cell->kind.root;
  const MPI_Datatype type = cell_type(cell);
  const MPI_Comm communicator = cell_communicator(cell);
  switch (cell->kind.collective) {
#define BENCH_CALL(collective, blocking, nonblocking, Init, ...) \
  case collective:                                               \
    if (is_blocking)                                             \
      blocking(__VA_ARGS__);                                     \
    else                                                         \
      nonblocking(__VA_ARGS__, &cell->request);                  \
    return;
#include "calls.inc.h"
#undef BENCH_CALL
    case BENCH_COLLECTIVES: return;
  }
}

void call_finish(Cell* cell) {
  if (cell->kind.form != BENCH_BLOCKING) MPI_Wait(&cell->request, MPI_STATUS_IGNORE);
}
