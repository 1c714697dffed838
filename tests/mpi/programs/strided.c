// Calls for counting instructions, with datatypes that have gaps. Some libraries (ScaLAPACK's
// messages) make a type for one broadcast and free it. The last rank is late, so that it need not
// wait. Each of its calls gets a dump of its own, under its name.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

static double in[64], out[128];
static MPI_Datatype gaps;

static void own_sum(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)to)[i] += ((double*)from)[i];
}

__attribute__((noinline)) void counted_bcast(void) {
  MPI_Bcast(in, 1, gaps, world_size - 1, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_gather(void) {
  MPI_Gather(in, 1, gaps, out, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
__attribute__((noinline)) void counted_reduce(MPI_Op op) {
  MPI_Reduce(in, out, 4, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 20, warming = 5;
  set_up(MPI_COMM_WORLD);
  MPI_Op op;
  MPI_Op_create(own_sum, 1, &op);
  for (int i = 0; i < warming + calls; ++i) {
    MPI_Type_vector(2, 2, 8, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    static const char* const names[] = {"bcast", "gather", "reduce"};
    for (int which = 0; which < 3; ++which) {
      for (int k = 0; k < 64; ++k) in[k] = k;
      if (world_rank == world_size - 1) usleep(2000);
      if (i == warming && which == 0) CALLGRIND_ZERO_STATS;
      if (which == 0) counted_bcast();
      if (which == 1) counted_gather();
      if (which == 2) counted_reduce(op);
      if (i >= warming) CALLGRIND_DUMP_STATS_AT(names[which]);
      if (which == 0)
        CHECK(in[1] == 1 && in[8] == 8 && in[9] == 9, "bcast: %g %g %g", in[1], in[8], in[9]);
      if (which == 1 && world_rank == 0)
        CHECK(out[4] == 0 && out[5] == 1 && out[6] == 8 && out[7] == 9, "gather: %g %g", out[6],
              out[7]);
      if (which == 2 && world_rank == 0) CHECK(out[3] == 3.0 * world_size, "reduce: %g", out[3]);
    }
    MPI_Type_free(&gaps);
  }
  MPI_Op_free(&op);
  return finish();
}
