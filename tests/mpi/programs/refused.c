// One rank alone makes a call that the host refuses for its arguments: the others do not know of
// it, and all later calls match. argv[1]: the rounds of calls before it; argv[2]: the communicator
// has an error handler of the program, after which some hosts return success.
#include "check.h"

enum { most = 16 };

static void right_calls(MPI_Comm communicator, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int parts[most], mine = -1, sum = -1;
    for (int i = 0; i < world_size; ++i) parts[i] = 100 * round + i;
    MPI_Scatter(parts, 1, MPI_INT, &mine, 1, MPI_INT, 0, communicator);
    CHECK(mine == 100 * round + world_rank, "scatter %d: %d", round, mine);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, communicator);
    CHECK(sum == world_size * 100 * round + world_size * (world_size - 1) / 2, "allreduce %d: %d",
          round, sum);
  }
}

static int raised;
static void note(MPI_Comm* communicator, int* code, ...) {
  (void)communicator;
  (void)code;
  ++raised;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int before = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Comm communicator;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (argc > 2) MPI_Comm_create_errhandler(note, &handler);
  MPI_Comm_set_errhandler(communicator, handler);
  right_calls(communicator, before);
  if (world_rank == 0) {
    int parts[most] = {0}, mine = 0;
#ifdef OPEN_MPI  // hosts check different arguments
    CHECK(MPI_Allreduce(parts, &mine, -1, MPI_INT, MPI_SUM, communicator) != MPI_SUCCESS ||
              raised == 1,
          "a count of %d is taken", -1);
#else
    CHECK(MPI_Scatter(parts, -1, MPI_INT, &mine, 1, MPI_INT, 0, communicator) != MPI_SUCCESS ||
              raised == 1,
          "a count of %d is taken", -1);
#endif
  }
  // The others may wait for a message from the rank whose call was refused.
  int word = world_rank == 0 ? 7 : 0;
  if (world_rank == 0)
    for (int to = 1; to < world_size; ++to) MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(word == 7, "the word is %d", word);
  right_calls(communicator, 12);
  MPI_Comm_free(&communicator);
  return finish();
}
