// Distributed graphs whose edges any ranks list, and what MPI must tell of them (MPI 4.1, section
// 8.5.4).
//
//   dist_graphs [GRAPHS]      makes so many random graphs and compares each rank's edges
//   dist_graphs errors        prints the error classes of calls with wrong arguments
//   dist_graphs one           rank 0 lists the edges of a ring with weights, and the others none
//   dist_graphs source RANK   gives RANK as the source of an edge, at rank 0 alone
//   dist_graphs destination RANK
#include "check.h"

enum { most_edges = 60 };

struct edge {
  int from, to, weight, lister;
};

static unsigned seed = 7;
static int drawn(int below) {
  seed = seed * 1664525u + 1013904223u;
  return (int)(seed >> 10) % below;
}

static int by_value(const void* a, const void* b) { return memcmp(a, b, 2 * sizeof(int)); }

// Whether the ends are those that are expected, in any order.
static int same_ends(int count, const int* ranks, const int* weights, int expected,
                     int (*ends)[2]) {
  int found[most_edges][2];
  if (count != expected) return 0;
  for (int i = 0; i < count; ++i) found[i][0] = ranks[i], found[i][1] = weights[i];
  qsort(found, (size_t)count, sizeof *found, by_value);
  qsort(ends, (size_t)count, sizeof *ends, by_value);
  return memcmp(found, ends, (size_t)count * sizeof *found) == 0;
}

// Makes a graph that is the same on all ranks. Returns whether this rank's edges are right.
static int right_graph(void) {
  const int edges = drawn(most_edges + 1), weighted = drawn(2);
  struct edge all[most_edges];
  for (int i = 0; i < edges; ++i) {
    all[i].from = drawn(world_size);
    all[i].to = drawn(3) == 0 ? all[i].from : drawn(world_size);
    all[i].weight = drawn(1000);
    all[i].lister = drawn(world_size);
  }
  // The rank lists two edges of one source together if they are next to each other.
  int n = 0, listed = 0, in = 0, out = 0;
  int sources[most_edges], degrees[most_edges], destinations[most_edges], weights[most_edges];
  int into[most_edges][2], out_of[most_edges][2];
  for (int i = 0; i < edges; ++i) {
    const int weight = weighted ? all[i].weight : 0;
    if (all[i].to == world_rank) into[in][0] = all[i].from, into[in++][1] = weight;
    if (all[i].from == world_rank) out_of[out][0] = all[i].to, out_of[out++][1] = weight;
    if (all[i].lister != world_rank) continue;
    destinations[listed] = all[i].to, weights[listed++] = all[i].weight;
    if (n > 0 && sources[n - 1] == all[i].from)
      ++degrees[n - 1];
    else
      sources[n] = all[i].from, degrees[n++] = 1;
  }
  int* volatile none = MPI_UNWEIGHTED;  // compilers take it for an array that is too short
  MPI_Comm made;
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                        weighted ? weights : none, MPI_INFO_NULL, 0, &made);
  int in_told = -1, out_told = -1, weighted_told = -1;
  MPI_Dist_graph_neighbors_count(made, &in_told, &out_told, &weighted_told);
  CHECK(in_told >= 0 && out_told >= 0, "%d and %d edges", in_told, out_told);
  int* const told = calloc((size_t)(2 * (in_told + out_told) + 1), sizeof *told);
  int* const to = told + 2 * in_told;
  MPI_Dist_graph_neighbors(made, in_told, told, weighted ? told + in_told : none, out_told, to,
                           weighted ? to + out_told : none);
  const int right = same_ends(in_told, told, told + in_told, in, into) &&
                    same_ends(out_told, to, to + out_told, out, out_of) &&
                    !weighted_told == !weighted;
  free(told);
  MPI_Comm_free(&made);
  return right;
}

static void make_graphs(int graphs) {
  int wrong = 0;
  for (int i = 0; i < graphs; ++i) {
    int here = right_graph(), everywhere = 0;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    wrong += !everywhere;
  }
  if (world_rank == 0) printf("graphs %d, wrong %d\n", graphs, wrong);
  fflush(stdout);
  CHECK(wrong == 0, "%d of %d graphs are wrong", wrong, graphs);
}

// Ranks that list nothing have no arrays, also none of weights.
static void make_ring_at_one(void) {
  int *const sources = malloc(4 * (size_t)world_size * sizeof *sources), in, out, weighted, last[2];
  int *const degrees = sources + world_size, *const destinations = degrees + world_size,
             *const weights = destinations + world_size;
  for (int i = 0; i < world_size; ++i)
    sources[i] = i, degrees[i] = 1, destinations[i] = (i + 1) % world_size, weights[i] = 10 + i;
  MPI_Comm made;
  const int n = world_rank == 0 ? world_size : 0;
  MPI_Dist_graph_create(MPI_COMM_WORLD, n, n ? sources : NULL, n ? degrees : NULL,
                        n ? destinations : NULL, n ? weights : NULL, MPI_INFO_NULL, 0, &made);
  MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && weighted, "%d and %d edges, weighted %d", in, out, weighted);
  MPI_Dist_graph_neighbors(made, 1, &last[0], &weights[0], 1, &last[1], &weights[1]);
  const int before = (world_rank + world_size - 1) % world_size;
  CHECK(last[0] == before && weights[0] == 10 + before, "from %d (%d)", last[0], weights[0]);
  CHECK(weights[1] == 10 + world_rank, "to %d (%d)", last[1], weights[1]);
  MPI_Comm_free(&made);
  free(sources);
}

static void tell_error(const char* what, int code) {
  int class = 0;
  MPI_Error_class(code, &class);
  if (world_rank == 0) printf("%s: %d\n", what, class);
}

static int make_one(MPI_Comm over, int n, int source, int degree, int destination) {
  int* volatile none = MPI_UNWEIGHTED;
  MPI_Comm made;
  return MPI_Dist_graph_create(over, n, &source, &degree, &destination, none, MPI_INFO_NULL, 0,
                               &made);
}

static void make_errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  tell_error("a negative number of sources", make_one(MPI_COMM_WORLD, -1, 0, 1, 0));
  tell_error("no communicator", make_one(MPI_COMM_NULL, 1, 0, 1, 0));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "errors") == 0)
    make_errors();
  else if (argc > 1 && strcmp(argv[1], "one") == 0)
    make_ring_at_one();
  else if (argc > 2 && strcmp(argv[1], "source") == 0)
    make_one(MPI_COMM_WORLD, 1, world_rank == 0 ? atoi(argv[2]) : 0, 1, 0);
  else if (argc > 2 && strcmp(argv[1], "destination") == 0)
    make_one(MPI_COMM_WORLD, 1, 0, 1, atoi(argv[2]));
  else
    make_graphs(argc > 1 ? atoi(argv[1]) : 100);
  return finish();
}
