// Rank 0 makes another call than the other ranks; the user must be told of this error. Argument:
// the kind of mismatch.
#include "check.h"

// Rank 0 sends more to each rank than each receives, also to itself.
static void with_sides_that_differ(void) {
  int in[64] = {0}, out[64], class = MPI_SUCCESS;
  MPI_Request request;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Ialltoall(in, world_rank == 0 ? 2 : 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
  CHECK(class == MPI_ERR_TRUNCATE, "error class %d", class);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "bcast";
  const MPI_Comm world = MPI_COMM_WORLD;
  set_up(world);
  int data = 1, sum, many[64] = {0};
  if (strcmp(what, "sides") == 0) {
    with_sides_that_differ();
  } else if (strcmp(what, "gather") ==
             0) {  // the count of the whole buffer instead of that of a part
    MPI_Gather(&data, 1, MPI_INT, many, world_rank == 0 ? world_size : 0, MPI_INT, 0, world);
  } else if (strcmp(what, "scatter") == 0) {
    MPI_Scatter(many, world_rank == 0 ? 8 : 0, MPI_INT, &data, 1, MPI_INT, 0, world);
  } else if (strcmp(what, "scan") == 0) {
    if (world_rank == 0)
      MPI_Exscan(&data, &sum, 1, MPI_INT, MPI_SUM, world);
    else
      MPI_Scan(&data, &sum, 1, MPI_INT, MPI_SUM, world);
  } else if (world_rank == 0) {
    MPI_Bcast(&data, 1, MPI_INT, world_size - 1, world);
  } else {
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, world);
  }
  MPI_Barrier(world);
  return finish();
}
