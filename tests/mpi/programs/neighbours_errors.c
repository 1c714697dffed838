// Wrong arguments of neighbourhood collectives, which the host judges: all ranks get an error, and
// go on.
#include "topologies.h"

static int in[most_edges], out[most_edges];
static const int ones[most_edges] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int places[most_edges];
static const MPI_Aint far_places[most_edges];
static MPI_Datatype types[most_edges];

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

static void expect_no_topology(int code, const char* what) {
#ifdef OPEN_MPI  // raises errors of other classes
  const int is_right = code != MPI_SUCCESS;
#else
  const int is_right = class_of(code) == MPI_ERR_TOPOLOGY;
#endif
  CHECK(is_right, "%s without a topology: class %d", what, class_of(code));
}

static void without_topology(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  expect_no_topology(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm), "allgather");
  expect_no_topology(MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, comm),
                     "allgatherv");
  expect_no_topology(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm), "alltoall");
  expect_no_topology(
      MPI_Neighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, comm),
      "alltoallv");
  expect_no_topology(
      MPI_Neighbor_alltoallw(in, ones, far_places, types, out, ones, far_places, types, comm),
      "alltoallw");
  expect_no_topology(MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request),
                     "Iallgather");
  expect_no_topology(MPI_Ineighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT,
                                             comm, &request),
                     "Ialltoallv");
  expect_no_topology(MPI_Ineighbor_alltoallw(in, ones, far_places, types, out, ones, far_places,
                                             types, comm, &request),
                     "Ialltoallw");
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  expect_no_topology(
      MPI_Neighbor_alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, comm, MPI_INFO_NULL, &request),
      "alltoall_init");
#endif
  CHECK(request == MPI_REQUEST_NULL, "a request after an error: %d", world_rank);
}

static void with_wrong_arguments(const struct topology* ring) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Neighbor_alltoall(in, -1, MPI_INT, out, -1, MPI_INT, ring->comm);
  CHECK(code != MPI_SUCCESS, "a negative count: %d", code);
  code = MPI_Neighbor_allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_DATATYPE_NULL, ring->comm);
  CHECK(code != MPI_SUCCESS, "no type: %d", code);
  code = MPI_Ineighbor_alltoall(in, -1, MPI_INT, out, -1, MPI_INT, ring->comm, &request);
  CHECK(code != MPI_SUCCESS && request == MPI_REQUEST_NULL, "started with a negative count: %d",
        code);
}

static void rightly(const struct topology* ring) {
  for (int i = 0; i < ring->out; ++i) in[i] = 100 * ring->rank + i;
  CHECK(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring->comm) == MPI_SUCCESS, "%s",
        "a right call after wrong ones");
  for (int j = 0; j < ring->in; ++j)
    CHECK(out[j] == 100 * ring->origins[j].rank + ring->origins[j].block, "block %d: %d", j,
          out[j]);
}

int main(int argc, char** argv) {
  static struct topology ring;
  start(&argc, &argv);
  for (int i = 0; i < most_edges; ++i) types[i] = MPI_INT;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make_double_ring(&ring, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < 4; ++round) {
    without_topology(MPI_COMM_WORLD);
    with_wrong_arguments(&ring);
    rightly(&ring);
    MPI_Barrier(ring.comm);
  }
  MPI_Comm_free(&ring.comm);
  return finish();
}
