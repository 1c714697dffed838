// For counting instructions: 18 kinds of short calls in shuffled order, on two communicators. The
// last rank is always late, so that it seldom waits. Each round has every kind once. The test
// counts an 8-byte allreduce among them, and each call of all kinds.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

enum { kinds = 18, longest = 1024 };
static double in[2 * longest], out[2 * longest];
static int integers_in[longest], integers_out[longest];
static MPI_Comm copy;
static int last;

__attribute__((noinline)) void counted_allreduce(void) {
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// The kinds of the table in docs/measurements/2026-11-23.md.
__attribute__((noinline)) void counted_call(int kind) {
  switch (kind) {
    case 1: MPI_Allreduce(integers_in, integers_out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Allreduce(in, out, 512, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 4: MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, copy); break;
    case 5: MPI_Allreduce(integers_in, integers_out, 16, MPI_INT, MPI_MAX, copy); break;
    case 6: MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 7: MPI_Bcast(in, 1, MPI_DOUBLE, last, MPI_COMM_WORLD); break;
    case 8: MPI_Bcast(in, 64, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 9: MPI_Bcast(in, 512, MPI_DOUBLE, 0, copy); break;
    case 10: MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case 11: MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, last, MPI_COMM_WORLD); break;
    case 12: MPI_Barrier(MPI_COMM_WORLD); break;
    case 13: MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD); break;
    case 14: MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD); break;
    case 15: MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case 16: MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 17: MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  last = world_size - 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  set_up(MPI_COMM_WORLD);
  set_up(copy);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20, warming = 5;
  unsigned seed = 7;
  int order[kinds];
  for (int i = 0; i < kinds; ++i) order[i] = i;
  for (int round = 0; round < warming + rounds; ++round) {
    for (int i = kinds; i-- > 1;) {
      seed = seed * 1103515245 + 12345;
      const int other = (int)(seed >> 8) % (i + 1), kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
    if (round == warming) CALLGRIND_ZERO_STATS;
    for (int i = 0; i < kinds; ++i) {
      if (world_rank == last) usleep(2000);
      if (order[i] == 0) {
        in[0] = 1;
        counted_allreduce();
        CHECK(out[0] == world_size, "round %d: %g", round, out[0]);
        if (round >= warming) CALLGRIND_DUMP_STATS_AT("allreduce");
      } else {
        counted_call(order[i]);
        if (round >= warming) CALLGRIND_DUMP_STATS_AT("others");
      }
    }
  }
  MPI_Comm_free(&copy);
  return finish();
}
