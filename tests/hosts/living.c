// Communicators over several nodes, which come and go, or live all at once: living ROUNDS LIVING.
// The host's supply of communicators is small, and the program must be able to use nearly all of
// it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void use(MPI_Comm communicator, int calls) {
  for (int i = 0; i < calls; ++i) {
    int value = rank + i, sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, communicator);
    if (sum == size * (size - 1) / 2 + size * i) continue;
    fprintf(stderr, "rank %d, call %d: %d\n", rank, i, sum);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10, count = argc > 2 ? atoi(argv[2]) : 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm brief;
    MPI_Comm_dup(MPI_COMM_WORLD, &brief);
    use(brief, 3);
    MPI_Comm_free(&brief);
  }
  MPI_Comm* all = malloc(sizeof *all * (size_t)(count + 1));
  for (int i = 0; i < count; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all[i]);
    use(all[i], 2);
  }
  for (int i = 0; i < count; ++i) {
    use(all[i], 2);
    MPI_Comm_free(&all[i]);
  }
  if (count > 0) {  // what the living ones had is there again
    MPI_Comm_dup(MPI_COMM_WORLD, &all[0]);
    use(all[0], 3);
    MPI_Comm_free(&all[0]);
  }
  free(all);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
