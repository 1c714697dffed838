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

// The functions that complete many requests say in the statuses which of them has failed.
static void with_errors_in_statuses(void) {
  for (int way = 0; way < 4; ++way) {
    int in[64] = {0}, out[64], sum = 0, got = -1, class = MPI_SUCCESS, flag = 0, seen = 0;
    int some, indices[4];
    MPI_Comm copy;
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    memset(statuses, 0x5a, sizeof statuses);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    set_up(copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Ialltoall(in, world_rank == 0 ? 2 : 1, MPI_INT, out, 1, MPI_INT, copy, &requests[0]);
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, copy, &requests[1]);
    MPI_Irecv(&got, 1, MPI_INT, 0, way, MPI_COMM_SELF, &requests[3]);
    MPI_Send(&way, 1, MPI_INT, 0, way, MPI_COMM_SELF);
    while (way < 2 && !flag) {
      if (way == 0)
        flag = 1, MPI_Error_class(MPI_Waitall(4, requests, statuses), &class);
      else
        MPI_Error_class(MPI_Testall(4, requests, &flag, statuses), &class);
      CHECK(class == (flag ? MPI_ERR_IN_STATUS : MPI_SUCCESS), "way %d: class %d", way, class);
      for (int i = 0; flag && i < 4; ++i) {
        MPI_Error_class(statuses[i].MPI_ERROR, &class);
        CHECK(class == (i == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "status %d: %d", i, class);
      }
    }
    while (way >= 2 && seen < 3) {
      int failed = 0;
      if (way == 2)
        MPI_Error_class(MPI_Waitsome(4, requests, &some, indices, statuses), &class);
      else
        MPI_Error_class(MPI_Testsome(4, requests, &some, indices, statuses), &class);
      for (int i = 0; i < some; ++i) failed |= indices[i] == 0;
      CHECK(class == (failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS), "way %d: class %d", way, class);
      for (int i = 0; failed && i < some; ++i) {
        MPI_Error_class(statuses[i].MPI_ERROR, &class);
        CHECK(class == (indices[i] == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "status of %d: %d",
              indices[i], class);
      }
      seen += some;
    }
    CHECK(sum == world_size * (world_size - 1) / 2 && got == way, "sum %d, got %d", sum, got);
    for (int i = 0; i < 4; ++i) CHECK(requests[i] == MPI_REQUEST_NULL, "request %d", i);
    MPI_Comm_free(&copy);
  }
}

// Rank 1 sends other lengths than all ranks receive. Only this rank can know it, and no rank waits
// for it: the hosts leave out what is too much, which is an error in an alltoall alone.
static void with_other_lengths_at_one_rank(void) {
  int in[64], out[64], class = MPI_SUCCESS;
  const int from = world_rank == 1 ? 1 : 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int sent = 3; sent > 0; sent -= 2) {
    for (int i = 0; i < 64; ++i) in[i] = 100 * world_rank + i, out[i] = -1;
    MPI_Error_class(MPI_Allgather(in, from ? sent : 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD),
                    &class);
    CHECK(class == MPI_SUCCESS, "error class %d", class);
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == 100, "%d %d %d", out[0], out[1], out[2]);
    CHECK(sent < 2 || out[3] == 101, "%d", out[3]);
    MPI_Error_class(MPI_Alltoall(in, from ? sent : 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD),
                    &class);
    CHECK(class == (from && sent > 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "error class %d", class);
    CHECK(out[0] == 2 * world_rank && out[2] == 100 + sent * world_rank, "%d %d", out[0], out[2]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "bcast";
  const MPI_Comm world = MPI_COMM_WORLD;
  set_up(world);
  int data = 1, sum, many[64] = {0};
  if (strcmp(what, "sides") == 0) {
    with_sides_that_differ();
  } else if (strcmp(what, "statuses") == 0) {
    with_errors_in_statuses();
  } else if (strcmp(what, "lengths") == 0) {
    with_other_lengths_at_one_rank();
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
