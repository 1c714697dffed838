// Collectives among neighbours that outlive their call, over several nodes.
//
//   neighbours_in_lanes freed     communicators and types are freed while operations are under way
//   neighbours_in_lanes orders    ranks start their persistent ones in orders of their own
//   neighbours_in_lanes ends      an edge of a rank to itself has one end only, which is an error
//   neighbours_in_lanes missing   the last rank expects a block that rank 0 does not send
//   neighbours_in_lanes absent    a rank that is no neighbour comes when the others have ended
#include "topologies.h"

enum { edges_of_ring = 5, most = 40000, many = 90 };

static int in[edges_of_ring * most], out[edges_of_ring * most];

static int value(int rank, int block, int i, int round) {
  return 1000000 * rank + 100000 * block + i % 50000 + round;
}

static void fill(const struct topology* at, int count, int round) {
  for (int block = 0; block < at->out; ++block)
    for (int i = 0; i < count; ++i) in[block * count + i] = value(at->rank, block, i, round);
  for (int i = 0; i < at->in * count; ++i) out[i] = -1;
}

static void check(const struct topology* at, int count, int round) {
  for (int block = 0; block < at->in; ++block)
    for (int i = 0; i < count; ++i) {
      const struct origin from = at->origins[block];
      CHECK(out[block * count + i] == value(from.rank, from.block, i, round),
            "block %d, %d: %d, round %d", block, i, out[block * count + i], round);
    }
}

static void freed(void) {
  static struct topology ring;
  for (int round = 0; round < 6; ++round) {
    const int count = round % 2 == 0 ? 7 : most;
    make_double_ring(&ring, MPI_COMM_WORLD);
    set_up(ring.comm);
    MPI_Datatype type;
    MPI_Type_contiguous(count, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    fill(&ring, count, round);
    if (round < 3) {
      MPI_Ineighbor_alltoall(in, 1, type, out, 1, type, ring.comm, &request);
    } else {
      MPI_Neighbor_alltoall_init(in, 1, type, out, 1, type, ring.comm, MPI_INFO_NULL, &request);
      MPI_Start(&request);
    }
    MPI_Type_free(&type);
    MPI_Comm_free(&ring.comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(&ring, count, round);
    if (round < 3) continue;
    fill(&ring, count, round + 1);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(&ring, count, round + 1);
    MPI_Request_free(&request);
  }
}

static void orders(void) {
  enum { operations = 6 };
  static struct topology ring;
  int own[operations][edges_of_ring], from[operations][edges_of_ring], order[operations];
  MPI_Request requests[operations];
  make_double_ring(&ring, MPI_COMM_WORLD);
  for (int k = 0; k < operations; ++k) {
    order[k] = k;
    if (k % 2 == 0)
      MPI_Neighbor_alltoall_init(own[k], 1, MPI_INT, from[k], 1, MPI_INT, ring.comm, MPI_INFO_NULL,
                                 &requests[k]);
    else
      MPI_Neighbor_allgather_init(own[k], 1, MPI_INT, from[k], 1, MPI_INT, ring.comm, MPI_INFO_NULL,
                                  &requests[k]);
  }
  for (int round = 0; round < 10; ++round) {
    shuffle(order, operations, 31u * (unsigned)world_rank + (unsigned)round);
    for (int i = 0; i < operations; ++i) {
      const int k = order[i];
      for (int block = 0; block < edges_of_ring; ++block)
        own[k][block] = value(ring.rank, block, k, round), from[k][block] = -1;
      MPI_Start(&requests[k]);
    }
    MPI_Waitall(operations, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < operations; ++k)
      for (int block = 0; block < ring.in; ++block) {
        const struct origin origin = ring.origins[block];
        const int wanted = value(origin.rank, k % 2 == 0 ? origin.block : 0, k, round);
        CHECK(from[k][block] == wanted, "round %d, operation %d, block %d: %d", round, k, block,
              from[k][block]);
      }
  }
  for (int k = 0; k < operations; ++k) MPI_Request_free(&requests[k]);
  MPI_Comm_free(&ring.comm);
}

// Rank 0 lists an edge to itself as its own destination and not as its source.
static void ends(void) {
  const int left = (world_rank + world_size - 1) % world_size,
            right = (world_rank + 1) % world_size;
  const int destinations[2] = {right, world_rank};
  const int more = world_rank == 0 ? 1 : 0;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, unweighted(), 1 + more, destinations,
                                 unweighted(), MPI_INFO_NULL, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  set_up(comm);
  for (int round = 0; round < 8; ++round) {
    MPI_Request request;
    in[0] = in[1] = 10 * world_rank + round, out[0] = -1;
    CHECK(MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request) == MPI_SUCCESS,
          "round %d", round);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK((code != MPI_SUCCESS) == (world_rank == 0), "round %d: %d", round, code);
    CHECK(request == MPI_REQUEST_NULL && out[0] == 10 * left + round, "round %d: %d", round,
          out[0]);
  }
  MPI_Comm_free(&comm);
}

static void missing(void) {
  const int from = 0, expects = world_rank == world_size - 1;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, expects, &from, unweighted(), 0, NULL,
                                 unweighted(), MPI_INFO_NULL, 0, &comm);
  set_up(comm);
  MPI_Request request;
  MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(!expects, "%d has come", out[0]);
}

// The ranks of a chain end with each other before the last rank, which has no edges, has begun. It
// comes when it gets a message.
static void absent(void) {
  const int last = world_size - 1, below = world_rank - 1, above = world_rank + 1;
  const int sources = world_rank > 0 && world_rank < last;
  const int destinations = world_rank + 1 < last;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, &below, unweighted(), destinations,
                                 &above, unweighted(), MPI_INFO_NULL, 0, &comm);
  set_up(comm);
  int token = 1;
  if (world_rank == last) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request requests[many];
  static int blocks[many];
  for (int k = 0; k < many; ++k) {
    in[k] = 100 * world_rank + k, blocks[k] = -1;
    MPI_Ineighbor_allgather(&in[k], 1, MPI_INT, &blocks[k], 1, MPI_INT, comm, &requests[k]);
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < many; ++k)
    CHECK(blocks[k] == (sources ? 100 * below + k : -1), "operation %d: %d", k, blocks[k]);
  if (world_rank == 0) MPI_Send(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "freed") == 0) freed();
  if (argc > 1 && strcmp(argv[1], "orders") == 0) orders();
  if (argc > 1 && strcmp(argv[1], "ends") == 0) ends();
  if (argc > 1 && strcmp(argv[1], "missing") == 0) missing();
  if (argc > 1 && strcmp(argv[1], "absent") == 0) absent();
  return finish();
}
