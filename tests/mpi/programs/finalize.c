// Users' callbacks run inside MPI_Finalize and may still call MPI.
#include "check.h"

static int at_end(MPI_Comm communicator, int key, void* value, void* extra) {
  (void)communicator, (void)key, (void)value, (void)extra;
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != world_size) abort();
  if (world_rank == 0) printf("ok\n");
  fflush(stdout);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  set_up(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
