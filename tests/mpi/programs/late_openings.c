// Ranks end MPI while others still open what all open: the neighbourhood collectives of a
// communicator, or a persistent collective.
//
//   late_openings neighbours [keep]   rank 0 sends to all others, of which only rank 1 is late
//   late_openings persistent [keep]   a persistent bcast that is never started, at which rank 1 is
//   late
//
// `keep`: the communicator is not freed.
#include "check.h"

// Far longer than the other ranks need to end.
static void be_late(void) {
  if (world_rank == 1) usleep(300000);
}

static void send_to_all(int keeps) {
  enum { most = 64 };
  int to[most], from[1] = {0}, value = 42, got = -1;
  for (int i = 1; i < world_size; ++i) to[i - 1] = i;
  int* volatile none = MPI_UNWEIGHTED;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, world_rank == 0 ? 0 : 1, from, none,
                                 world_rank == 0 ? world_size - 1 : 0, to, none, MPI_INFO_NULL, 0,
                                 &graph);
  be_late();
  MPI_Neighbor_allgather(&value, 1, MPI_INT, &got, 1, MPI_INT, graph);
  CHECK(world_rank == 0 || got == 42, "got %d", got);
  if (!keeps) MPI_Comm_free(&graph);
}

static void make_persistent(int keeps) {
  int value = 0;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  be_late();
  MPI_Bcast_init(&value, 1, MPI_INT, 0, copy, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  if (!keeps) MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int keeps = argc > 2 && strcmp(argv[2], "keep") == 0;
  if (strcmp(argv[1], "neighbours") == 0)
    send_to_all(keeps);
  else
    make_persistent(keeps);
  MPI_Finalize();
  if (world_rank == 1) printf("ok\n");
  return 0;
}
