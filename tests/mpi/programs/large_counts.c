// The _c forms of MPI 4; with the argument "huge" a count that is larger than any int.
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  const MPI_Count count = argc > 1 ? (MPI_Count)1 << 31 : 1000;
  unsigned char* data = calloc(count, 1);
  if (world_rank == world_size - 1) memset(data, 7, count);
  MPI_Bcast_c(data, count, MPI_BYTE, world_size - 1, MPI_COMM_WORLD);
  for (MPI_Count i = 0; i < count; i += 999) CHECK(data[i] == 7, "byte %lld", (long long)i);
  CHECK(data[count - 1] == 7, "the last byte");
  free(data);
  double a = world_rank, b = 0;
  MPI_Allreduce_c(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(b == world_size * (world_size - 1) / 2, "allreduce: %g", b);
  MPI_Reduce_c(&a, &b, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world_rank == 0) CHECK(b == world_size - 1, "reduce: %g", b);
#endif
  return finish();
}
