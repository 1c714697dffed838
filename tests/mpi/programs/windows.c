// Windows that MPI allocates: on all ranks and on one alone, with one-sided calls to a neighbour: 9
// puts, 9 gets and 18 accumulates of each rank.
#include "check.h"

static void check_window(MPI_Comm communicator) {
  int rank, size, *memory = NULL, *flavor = NULL, found = 0;
  MPI_Win window;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const int code = MPI_Win_allocate(100 * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                                    communicator, &memory, &window);
  CHECK(code == MPI_SUCCESS && memory != NULL, "MPI_Win_allocate of %d ranks: %d", size, code);
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
  CHECK(found && *flavor == MPI_WIN_FLAVOR_ALLOCATE, "flavor %d", found ? *flavor : -1);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(memory[7] == (rank + size - 1) % size, "rank %d has %d", rank, memory[7]);
  int got = -1, one = 1, before = -1;
  MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(got == rank, "got %d", got);
  MPI_Accumulate(&one, 1, MPI_INT, (rank + 1) % size, 7, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Fetch_and_op(&one, &before, MPI_INT, (rank + 1) % size, 7, MPI_SUM, window);
  MPI_Win_fence(0, window);
  CHECK(before == rank + 1, "before: %d", before);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &alone);
  for (int round = 0; round < 3; ++round) {
    check_window(MPI_COMM_WORLD);
    check_window(MPI_COMM_SELF);
    check_window(alone);
  }
  MPI_Comm_free(&alone);
  return finish();
}
