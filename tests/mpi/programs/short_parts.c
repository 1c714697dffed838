// Parts of 8, 16, 24, ... bytes, by rank: gatherv to the last rank, scatterv from it, allgatherv
// and alltoallv; all results are checked.
#include <stdint.h>

#include "check.h"

enum { rounds = 10, most = 8, all = most * (most + 1) / 2 };

static int64_t value(int from, int to, int i, int round) {
  return 1000 * from + 100 * to + 10 * i + round;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int own = world_rank + 1, last = world_size - 1;
  int64_t in[most * most], out[most * most];
  int counts[most], places[most], same[most], apart[most];
  for (int i = 0, total = 0; i < world_size; ++i)
    counts[i] = i + 1, places[i] = total, total += counts[i], same[i] = own, apart[i] = most * i;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < own; ++i) in[i] = value(world_rank, 0, i, round);
    MPI_Gatherv(in, own, MPI_INT64_T, out, counts, places, MPI_INT64_T, last, MPI_COMM_WORLD);
    for (int from = 0; from < world_size && world_rank == last; ++from)
      for (int i = 0; i < counts[from]; ++i)
        CHECK(out[places[from] + i] == value(from, 0, i, round), "gatherv, from %d", from);
    MPI_Allgatherv(in, own, MPI_INT64_T, out, counts, places, MPI_INT64_T, MPI_COMM_WORLD);
    for (int from = 0; from < world_size; ++from)
      for (int i = 0; i < counts[from]; ++i)
        CHECK(out[places[from] + i] == value(from, 0, i, round), "allgatherv, from %d", from);
    for (int to = 0; to < world_size; ++to)
      for (int i = 0; i < counts[to]; ++i) in[places[to] + i] = value(world_rank, to, i, round);
    MPI_Scatterv(in, counts, places, MPI_INT64_T, out, own, MPI_INT64_T, last, MPI_COMM_WORLD);
    for (int i = 0; i < own; ++i)
      CHECK(out[i] == value(last, world_rank, i, round), "scatterv, %d", i);
    MPI_Alltoallv(in, counts, places, MPI_INT64_T, out, same, apart, MPI_INT64_T, MPI_COMM_WORLD);
    for (int from = 0; from < world_size; ++from)
      for (int i = 0; i < own; ++i)
        CHECK(out[apart[from] + i] == value(from, world_rank, i, round), "alltoallv, from %d",
              from);
  }
  return finish();
}
