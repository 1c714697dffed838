#include "forms.h"

#include "calls.h"

bool form_exists(BenchCollective collective, BenchForm form) {
  return form != BENCH_PERSISTENT || calls_find(calls_persistent_name(collective)) != NULL;
}

void form_open(Cell* cell) {
  cell->request = MPI_REQUEST_NULL;
  if (cell->kind.form == BENCH_PERSISTENT) calls_make_persistent(cell, &cell->request);
}

void form_close(Cell* cell) {
  if (cell->request != MPI_REQUEST_NULL) MPI_Request_free(&cell->request);
}

void form_start(Cell* cell) {
  switch (cell->kind.form) {
    case BENCH_NONBLOCKING: nonblocking_calls[cell->kind.collective](cell, &cell->request); return;
    case BENCH_PERSISTENT: MPI_Start(&cell->request); return;
    default: blocking_calls[cell->kind.collective](cell);
  }
}

void form_finish(Cell* cell) {
  if (cell->kind.form != BENCH_BLOCKING) MPI_Wait(&cell->request, MPI_STATUS_IGNORE);
}
