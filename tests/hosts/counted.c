/* Makes CALLS calls of one collective and nothing else, so that its messages can be counted:
 * counted COLLECTIVE CALLS BYTES. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call(const char* collective, void* in, void* out, int bytes, MPI_Comm world) {
  if (strcmp(collective, "barrier") == 0) MPI_Barrier(world);
  if (strcmp(collective, "bcast") == 0) MPI_Bcast(in, bytes, MPI_BYTE, 0, world);
  if (strcmp(collective, "reduce") == 0) MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, world);
  if (strcmp(collective, "allreduce") == 0) MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, world);
  if (strcmp(collective, "gather") == 0)
    MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world);
  if (strcmp(collective, "scatter") == 0)
    MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, world);
  if (strcmp(collective, "allgather") == 0)
    MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
  if (strcmp(collective, "alltoall") == 0)
    MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, world);
  if (strcmp(collective, "scan") == 0) MPI_Scan(in, out, bytes, MPI_BYTE, MPI_BOR, world);
}

int main(int argc, char** argv) {
  int size, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int calls = atoi(argv[2]), bytes = atoi(argv[3]);
  void *in = calloc((size_t)size, (size_t)bytes), *out = calloc((size_t)size, (size_t)bytes);
  MPI_Comm
      copy; /* the second half of the calls is another communicator's, which ends before MPI does */
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &copy);
  for (int i = 0; i < calls; ++i)
    call(argv[1], in, out, bytes, i < calls / 2 ? MPI_COMM_WORLD : copy);
  MPI_Comm_free(&copy);
  free(in), free(out);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
