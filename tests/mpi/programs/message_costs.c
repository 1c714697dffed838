// For counting instructions: rank 1 sends messages to itself, in functions of their own, whose
// counts are dumped by their names. Nothing waits.
#include <valgrind/callgrind.h>

#include "check.h"

static long from = 5, to;
static MPI_Request request;

__attribute__((noinline)) static void counted_send(void) {
  MPI_Send(&from, 1, MPI_LONG, 0, 3, MPI_COMM_SELF);
}
__attribute__((noinline)) static void counted_recv(void) {
  MPI_Recv(&to, 1, MPI_LONG, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) static void counted_isend(void) {
  MPI_Isend(&from, 1, MPI_LONG, 0, 3, MPI_COMM_SELF, &request);
}
__attribute__((noinline)) static void counted_irecv(void) {
  MPI_Irecv(&to, 1, MPI_LONG, 0, 3, MPI_COMM_SELF, &request);
}
__attribute__((noinline)) static void counted_wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
__attribute__((noinline)) static void counted_test(void) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  CHECK(done, "a message to itself has not arrived");
}

#define COUNT(name)                 \
  do {                              \
    counted_##name();               \
    CALLGRIND_DUMP_STATS_AT(#name); \
  } while (0)

int main(int argc, char** argv) {
  start(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < rounds && world_rank == 1; ++i) {
    COUNT(irecv);
    COUNT(send);
    COUNT(wait);
    COUNT(isend);
    COUNT(recv);
    COUNT(test);
  }
  return finish();
}
