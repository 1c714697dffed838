// Wrong arguments give the same error class with Tutti as with the host MPI alone, and later calls
// still work.
#include "check.h"
#include "host.h"

static void compare(const char* what, int with, int without) {
  int one = MPI_SUCCESS, other = MPI_SUCCESS;
  MPI_Error_class(with, &one);
  MPI_Error_class(without, &other);
  CHECK(one == other && with != MPI_SUCCESS, "%s: class %d, the host alone %d", what, one, other);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  set_up(MPI_COMM_WORLD);
  const MPI_Comm world = MPI_COMM_WORLD;
  int a[2] = {1, 2}, b[2] = {0, 0}, many[64] = {0};
  // A host that checks no arguments.
  if (HOST(Bcast)(a, -1, MPI_INT, 0, MPI_COMM_SELF) == MPI_SUCCESS) {
    b[0] = 1;
    MPI_Allreduce(world_rank == 0 ? b : a, b, 1, MPI_INT, MPI_SUM, world);
    CHECK(b[0] == world_size, "one rank aliases: %d", b[0]);
    return finish();
  }
#define SAME(name, ...) compare(#name, MPI_##name(__VA_ARGS__), HOST(name)(__VA_ARGS__))
#ifndef OPEN_MPI
  int ones[64], at[64];
  MPI_Datatype types[64], gap;
  for (int i = 0; i < 64; ++i) ones[i] = 1, at[i] = i, types[i] = MPI_INT;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
  MPI_Type_commit(&gap);
#endif
  for (int round = 0; round < 3; ++round) {
#ifdef OPEN_MPI  // MPICH's own reductions crash on these
    SAME(Allreduce, a, b, -1, MPI_INT, MPI_SUM, world);
    SAME(Allreduce, a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, world);
    SAME(Allreduce, a, b, 1, MPI_INT, MPI_OP_NULL, world);
    SAME(Reduce, a, b, 1, MPI_INT, MPI_OP_NULL, 0, world);
    SAME(Reduce, a, b, -2, MPI_INT, MPI_SUM, 0, world);
    SAME(Scan, a, b, -1, MPI_INT, MPI_SUM, world);
    SAME(Reduce_scatter_block, a, b, 1, MPI_INT, MPI_OP_NULL, world);
#else  // Open MPI accepts these
    SAME(Allreduce, a, a, 1, MPI_INT, MPI_SUM, world);
    SAME(Scan, a, a, 1, MPI_INT, MPI_SUM, world);
    SAME(Exscan, a, a, 1, MPI_INT, MPI_SUM, world);
    SAME(Reduce_scatter_block, many, many, 1, MPI_INT, MPI_SUM, world);
    SAME(Allgather, many + world_rank, 1, MPI_INT, many, 1, MPI_INT, world);
    SAME(Alltoall, many, 1, MPI_INT, many, 1, MPI_INT, world);
    SAME(Allgatherv, many + world_rank, 1, MPI_INT, many, ones, at, MPI_INT, world);
    SAME(Alltoallv, many, ones, at, MPI_INT, many, ones, at, MPI_INT, world);
    SAME(Alltoallw, many, ones, at, types, many, ones, at, types, world);
    SAME(Reduce_scatter, many, many, ones, MPI_INT, MPI_SUM, world);
    // In collectives with a root only the root makes the wrong call; the others would wait for it.
    for (int root = 0; root < world_size; ++root) {
      if (world_rank != root) continue;
      SAME(Gatherv, many + root, 1, MPI_INT, many, ones, at, MPI_INT, root, world);
      SAME(Scatterv, many, ones, at, MPI_INT, many + root, 1, MPI_INT, root, world);
    }
    // By their extents these buffers overlap, by their sizes they do not, and hosts raise no error.
    const int last = world_size - 1;
    if (last > 0) MPI_Gather(many + 2 * world_rank, 1, gap, many, 1, gap, last, world);
    if (last > 0) MPI_Gatherv(many + 2 * world_rank, 1, gap, many, ones, at, gap, last, world);
#endif
    SAME(Gather, a, -1, MPI_INT, many, -1, MPI_INT, 0, world);
    SAME(Gather, a, 1, MPI_INT, many, 1, MPI_INT, world_size, world);
    SAME(Scatter, many, -1, MPI_INT, a, -1, MPI_INT, 0, world);
    SAME(Scatter, many, 1, MPI_INT, a, 1, MPI_INT, -1, world);
    SAME(Allgather, a, 1, MPI_INT, many, 1, MPI_DATATYPE_NULL, world);
    SAME(Allgather, a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world);
    SAME(Alltoall, a, 1, MPI_INT, many, -1, MPI_INT, world);
    SAME(Scan, a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world);
    SAME(Reduce_scatter_block, many, a, 1, MPI_FLOAT, MPI_BAND, world);
    SAME(Exscan, a, b, 1, MPI_FLOAT, MPI_BXOR, world);
    SAME(Alltoall, a, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_NULL);
    SAME(Bcast, a, -1, MPI_INT, 0, world);
    SAME(Bcast, a, 1, MPI_INT, world_size, world);
    SAME(Bcast, a, 1, MPI_INT, -7, world);
    SAME(Bcast, a, 1, MPI_DATATYPE_NULL, 0, world);
    SAME(Reduce, a, b, 1, MPI_INT, MPI_SUM, -1, world);
    SAME(Barrier, MPI_COMM_NULL);
    SAME(Allreduce, a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL);
    SAME(Allreduce, a, b, 1, MPI_FLOAT, MPI_BAND, world);
    MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, world);
    MPI_Allgather(a, 1, MPI_INT, many, 1, MPI_INT, world);
    for (int i = 0; i < world_size; ++i)
      CHECK(many[i] == 1, "allgather after the errors: %d", many[i]);
    CHECK(b[0] == world_size && b[1] == 2 * world_size, "after the errors: %d %d", b[0], b[1]);
  }
  return finish();
}
