/* Collectives over all ranks, over the ranks of a node, and over one rank of each node. Rank 0
 * prints where each rank runs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 50000 /* ints: past the sizes that go at once */

static int mistakes;

static void check(int got, int expected, const char* what) {
  if (got != expected && mistakes++ == 0)
    fprintf(stderr, "%s: %d instead of %d\n", what, got, expected);
}

/* Each call is made at least twice, because Tutti leaves a communicator's first collective to the
 * host. */
static void exercise(MPI_Comm comm) {
  static int in[MOST], out[MOST];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < 4; ++round) {
    for (int count = 1; count <= MOST; count = count == 1 ? 1000 : count * 50) {
      for (int i = 0; i < count; ++i) in[i] = rank + i % 1000 + round;
      MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
      for (int i = 0; i < count; ++i)
        check(out[i], size * (size - 1) / 2 + size * (i % 1000 + round), "allreduce");
      MPI_Bcast(in, count, MPI_INT, round % size, comm);
      for (int i = 0; i < count; ++i) check(in[i], round % size + i % 1000 + round, "broadcast");
    }
    MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int rank, size, length, node_rank, all_mistakes;
  MPI_Comm node, across;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_split(MPI_COMM_WORLD, node_rank, 0, &across);
  exercise(MPI_COMM_WORLD);
  exercise(node);
  exercise(across);

  MPI_Get_processor_name(name, &length);
  char* names = malloc((size_t)size * sizeof name);
  MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&mistakes, &all_mistakes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < size; ++i) printf("%d %s\n", i, names + (size_t)i * sizeof name);
    if (all_mistakes == 0) printf("ok\n");
  }
  free(names);
  MPI_Comm_free(&across);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return all_mistakes != 0;
}
