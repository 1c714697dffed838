// For counting instructions: the last rank always arrives late, so that it seldom waits in its
// 8-byte allreduces.
#include <unistd.h>

#include "check.h"

// The counted function: a call after set-up.
__attribute__((noinline)) void counted_allreduce(const double* in, double* out) {
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 100;
  double in = 1, out = 0;
  for (int i = 0; i < 50 + calls; ++i) {
    if (world_rank == world_size - 1) usleep(8000);
    if (i < 50)
      MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
      counted_allreduce(&in, &out);
    CHECK(out == world_size, "call %d: %g", i, out);
  }
  return finish();
}
