// Every collective without data: counts of 0, with and without addresses, and types of no bytes.
#include "check.h"

static void call_all(void* data, int count, MPI_Datatype type, int root, MPI_Comm world) {
  int counts[8] = {0}, places[8] = {0};
  MPI_Datatype types[8];
  for (int i = 0; i < 8; ++i) counts[i] = count, types[i] = type;
  char* const in = data;
  char* const out = data == NULL ? NULL : in + 64;
  MPI_Bcast(data, count, type, root, world);
  MPI_Gather(in, count, type, out, count, type, root, world);
  MPI_Scatter(in, count, type, out, count, type, root, world);
  MPI_Allgather(in, count, type, out, count, type, world);
  MPI_Alltoall(in, count, type, out, count, type, world);
  MPI_Gatherv(in, count, type, out, counts, places, type, root, world);
  MPI_Scatterv(in, counts, places, type, out, count, type, root, world);
  MPI_Allgatherv(in, count, type, out, counts, places, type, world);
  MPI_Alltoallv(in, counts, places, type, out, counts, places, type, world);
  MPI_Alltoallw(in, counts, places, types, out, counts, places, types, world);
}

static void reduce_all(void* in, void* out, int root, MPI_Comm world) {
  int counts[8] = {0};
  MPI_Reduce(in, out, 0, MPI_DOUBLE, MPI_SUM, root, world);
  MPI_Allreduce(in, out, 0, MPI_DOUBLE, MPI_SUM, world);
  MPI_Reduce_scatter_block(in, out, 0, MPI_DOUBLE, MPI_SUM, world);
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, world);
  MPI_Scan(in, out, 0, MPI_DOUBLE, MPI_SUM, world);
  MPI_Exscan(in, out, 0, MPI_DOUBLE, MPI_SUM, world);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Datatype empty;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  char data[128];
  memset(data, 7, sizeof data);
  for (int i = 0; i < 20; ++i) {
    const int root = i % world_size;
    call_all(data, 0, MPI_INT, root, MPI_COMM_WORLD);
    call_all(NULL, 0, MPI_INT, root, MPI_COMM_WORLD);
    call_all(data, 3, empty, root, MPI_COMM_WORLD);
    reduce_all(data, data + 64, root, MPI_COMM_WORLD);
    reduce_all(NULL, NULL, root, MPI_COMM_WORLD);
    exercise(MPI_COMM_WORLD, 1, 5);
  }
  for (size_t i = 0; i < sizeof data; ++i) CHECK(data[i] == 7, "byte %zu", i);
  MPI_Type_free(&empty);
  return finish();
}
