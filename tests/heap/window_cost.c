/* Measures lock, put and unlock on a window that MPI allocates and on one over the program's
 * memory, with two ranks. It gave the numbers of docs/decisions/windows-stay-with-the-host.md; it
 * is no test. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void measure(const char* kind, MPI_Win window, int rank, char* data, int bytes) {
  const int repeats = bytes < 100 ? 20000 : 500;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repeats; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, window);
    MPI_Put(data, bytes, MPI_CHAR, 1 - rank, 0, bytes, MPI_CHAR, window);
    MPI_Win_unlock(1 - rank, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s, %d bytes: %.2f us\n", kind, bytes, (MPI_Wtime() - begin) / repeats * 1e6);
}

int main(int argc, char** argv) {
  enum { most = 1 << 20 };
  int rank;
  void* memory;
  MPI_Win allocated, created;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* data = calloc(most, 1);
  void* own = calloc(most, 1);
  MPI_Win_allocate(most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &allocated);
  memset(memory, 1, most);
  MPI_Win_create(own, most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
  for (int bytes = 8; bytes <= most; bytes *= 362) {
    measure("allocated", allocated, rank, data, bytes);
    measure("created", created, rank, data, bytes);
  }
  MPI_Win_free(&allocated);
  MPI_Win_free(&created);
  MPI_Finalize();
  return 0;
}
