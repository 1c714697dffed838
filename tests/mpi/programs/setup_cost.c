// What the first collectives of a new communicator cost, set-up included, beside the host's MPI_Comm_dup: medians.
#include "check.h"

enum { rounds = 200 };

static int compare(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  double dup[rounds], first[rounds];
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm brief;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, &brief);
    const double middle = MPI_Wtime();
    for (int call = 0; call < 5; ++call) MPI_Barrier(brief);
    first[i] = MPI_Wtime() - middle;
    dup[i] = middle - begin;
    MPI_Comm_free(&brief);
  }
  qsort(dup, rounds, sizeof *dup, compare);
  qsort(first, rounds, sizeof *first, compare);
  if (world_rank == 0)
    printf("dup %.2f us, first 5 barriers %.2f us, ratio %.2f\n", dup[rounds / 2] * 1e6, first[rounds / 2] * 1e6,
           first[rounds / 2] / dup[rounds / 2]);
  return finish();
}
