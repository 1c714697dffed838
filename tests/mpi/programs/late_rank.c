// The last rank is late: it computes for 20 ms before each of ten allreduces, and before each of
// ten messages to rank 0.
#include <mpi.h>
#include <stdio.h>

static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) {
  }
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last = ranks - 1;
  for (int round = 0; round < 30; ++round) {
    int one = 1, sum = 0;
    if (rank == last && round >= 20) compute(0.02);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks;
  }
  for (int round = 0; round < 10; ++round) {
    int value = -1;
    if (rank == last) {
      compute(0.02);
      MPI_Send(&round, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    if (rank == 0) {
      MPI_Request request;
      if (round % 2 == 0) {
        MPI_Recv(&value, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Irecv(&value, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      wrong += value != round;
    }
  }
  MPI_Finalize();
  if (rank == 0 && wrong == 0) puts("ok");
  if (wrong > 0) fprintf(stderr, "rank %d: %d wrong answers\n", rank, wrong);
  return wrong > 0;
}
