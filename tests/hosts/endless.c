/* Collectives without end, for tests that kill a rank, disconnect a node or stop a launcher's
 * daemon meanwhile.
 *
 *   endless FILE [VICTIM] [returns]
 *
 * Rank 0 prints "going" once Tutti has set up. All ranks end when FILE exists. VICTIM: a rank that
 * is then killed (-1: none). returns: MPI returns errors, and the program ignores them. Every
 * result is checked. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { first_rounds = 20, ints = 20000 };

static void check(int got, int expected, const char* what) {
  if (got == expected) return;
  fprintf(stderr, "%s: %d instead of %d\n", what, got, expected);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* True if it was the last one. */
static int round_of_calls(int round, int rank, int size, const char* file) {
  static int data[ints];
  enum { last = 1000 };
  int one = rank == 0 && access(file, F_OK) == 0 ? 1 + last : 1, sum = 0;
  if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS)
    check(sum % last, size, "allreduce");
  const int root = round % size, count = round % 2 == 0 ? 100 : ints;
  for (int i = 0; i < count; ++i) data[i] = rank == root ? round + i : -1;
  if (MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS)
    check(data[count - 1], round + count - 1, "bcast");
  if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS) usleep(1000);
  return sum >= last;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* file = argc > 1 ? argv[1] : "";
  const int victim = argc > 2 ? atoi(argv[2]) : -1;
  if (argc > 3 && strcmp(argv[3], "returns") == 0)
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0, ended = 0; !ended; ++round) {
    if (round == first_rounds && rank == 0) {
      printf("going\n");
      fflush(stdout);
    }
    if (round == first_rounds && rank == victim) {
      usleep(100000); /* the others wait by now */
      raise(SIGKILL);
    }
    ended = round_of_calls(round, rank, size, file);
  }
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
