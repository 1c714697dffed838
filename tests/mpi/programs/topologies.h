// Communicators with topologies, and what each block that a rank receives from a neighbour must be.
// Computed from the standard's rules (MPI 4.1, section 8.6), not by the host's collectives of this
// kind, which have errors.
#pragma once

#include "check.h"
#include "host.h"

enum { most_edges = 24 };

struct origin {
  int rank, block;  // rank -1: MPI_PROC_NULL, so nothing arrives
};

struct topology {
  MPI_Comm comm;
  const char* name;
  int rank, size;
  int out, in;                        // edges, and blocks of a buffer
  int destinations[most_edges];       // -1: MPI_PROC_NULL
  struct origin origins[most_edges];  // by received block
  int short_period;                   // a periodic dimension has 1 or 2 ranks
};

static unsigned topology_seed = 99;
static inline int drawn(int below) {
  topology_seed = topology_seed * 1664525u + 1013904223u;
  return (int)(topology_seed >> 10) % below;
}

static inline void name_topology(struct topology* made, MPI_Comm comm, const char* name) {
  made->comm = comm;
  made->name = name;
  MPI_Comm_rank(comm, &made->rank);
  MPI_Comm_size(comm, &made->size);
}

// The neighbours of a rank in a grid whose ranks are in row-major order. What comes from below in a
// dimension was sent upwards, and the other way round.
static inline void make_grid(struct topology* made, MPI_Comm base, int dimensions,
                             const int* lengths, const int* periods) {
  MPI_Comm comm;
  MPI_Cart_create(base, dimensions, lengths, periods, 0, &comm);
  memset(made, 0, sizeof *made);
  name_topology(made, comm, "grid");
  int below = made->size;
  for (int d = 0; d < dimensions; ++d) {
    below /= lengths[d];
    const int at = made->rank / below % lengths[d];
    if (periods[d] && lengths[d] <= 2) made->short_period = 1;
    for (int up = 0; up < 2; ++up) {
      const int to = at + (up ? 1 : -1);
      const int outside = !periods[d] && (to < 0 || to >= lengths[d]);
      const int neighbour = made->rank + ((to + lengths[d]) % lengths[d] - at) * below;
      made->destinations[2 * d + up] = outside ? -1 : neighbour;
      made->origins[2 * d + up] =
          (struct origin){made->destinations[2 * d + up], up ? 2 * d : 2 * d + 1};
    }
  }
  made->in = made->out = 2 * dimensions;
}

// The k-th edge from a to b in a's list is the k-th from a in b's list. Every rank tells its list.
static inline void match_edges(struct topology* made, const int* sources) {
  static int lists[64][most_edges];
  int list[most_edges];
  CHECK(made->size <= 64 && made->in <= most_edges && made->out <= most_edges, "%s", made->name);
  for (int i = 0; i < most_edges; ++i) list[i] = i < made->out ? made->destinations[i] : -1;
  HOST(Allgather)(list, most_edges, MPI_INT, lists, most_edges, MPI_INT, made->comm);
  for (int j = 0; j < made->in; ++j) {
    int before = 0, block = 0;
    for (int k = 0; k < j; ++k) before += sources[k] == sources[j];
    while (lists[sources[j]][block] != made->rank || before-- > 0) ++block;
    made->origins[j] = (struct origin){sources[j], block};
  }
}

static inline void make_graph(struct topology* made, MPI_Comm base, const char* name,
                              const int* ends, const int* edges) {
  MPI_Comm comm;
  int size, sources[most_edges];
  MPI_Comm_size(base, &size);
  MPI_Graph_create(base, size, ends, edges, 0, &comm);
  memset(made, 0, sizeof *made);
  name_topology(made, comm, name);
  const int first = made->rank > 0 ? ends[made->rank - 1] : 0;
  made->in = made->out = ends[made->rank] - first;
  for (int i = 0; i < made->out; ++i) made->destinations[i] = sources[i] = edges[first + i];
  match_edges(made, sources);
}

// Both neighbours twice, and the rank itself between them.
static inline void make_double_ring(struct topology* made, MPI_Comm base) {
  int size, ends[64], edges[64 * 5];
  MPI_Comm_size(base, &size);
  for (int rank = 0; rank < size; ++rank) {
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    const int own[5] = {left, right, rank, left, right};
    memcpy(edges + 5 * rank, own, sizeof own);
    ends[rank] = 5 * rank + 5;
  }
  make_graph(made, base, "double ring", ends, edges);
}

// Rank 0 and each of the others.
static inline void make_star(struct topology* made, MPI_Comm base) {
  int size, ends[64], edges[128] = {0};
  MPI_Comm_size(base, &size);
  for (int rank = 1; rank < size; ++rank) edges[rank - 1] = rank;
  for (int rank = 0; rank < size; ++rank) ends[rank] = size - 1 + rank;
  make_graph(made, base, "star", ends, edges);
}

// Compilers take Open MPI's MPI_UNWEIGHTED for an array that is too short.
static inline int* unweighted(void) {
  int* volatile none = MPI_UNWEIGHTED;
  return none;
}

static inline void shuffle(int* numbers, int count, unsigned seed) {
  for (int i = count - 1; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    const int other = (int)(seed >> 10) % (i + 1), number = numbers[i];
    numbers[i] = numbers[other], numbers[other] = number;
  }
}

// Reads this rank's edges from a communicator with a distributed graph.
static inline void read_edges(struct topology* made, MPI_Comm comm, const char* name) {
  int weighted, sources[most_edges], weights[2][most_edges];
  memset(made, 0, sizeof *made);
  name_topology(made, comm, name);
  MPI_Dist_graph_neighbors_count(comm, &made->in, &made->out, &weighted);
  MPI_Dist_graph_neighbors(comm, made->in, sources, weights[0], made->out, made->destinations,
                           weights[1]);
  match_edges(made, sources);
}

// Random edges, among them repeated ones and those of a rank to itself, and ranks without edges.
// With `adjacent` each rank lists its own edges in an order of its own; else some rank lists the
// edge, which need not be an end of it.
static inline void make_random(struct topology* made, MPI_Comm base, int edges, int adjacent) {
  int rank, size, in = 0, out = 0, listed = 0;
  int sources[most_edges], destinations[most_edges], weights[most_edges];
  int from[most_edges], to[most_edges], degrees[most_edges];
  MPI_Comm comm;
  MPI_Comm_rank(base, &rank);
  MPI_Comm_size(base, &size);
  for (int i = 0; i < most_edges; ++i) weights[i] = 1 + i, degrees[i] = 1;
  for (int i = 0; i < edges; ++i) {
    const int a = drawn(size), b = drawn(3) == 0 ? a : drawn(size), lister = drawn(size);
    if (a == rank) destinations[out++] = b;
    if (b == rank) sources[in++] = a;
    if (lister == rank) from[listed] = a, to[listed++] = b;
  }
  shuffle(sources, in, 7u * (unsigned)rank + 1);
  shuffle(destinations, out, 7u * (unsigned)rank + 2);
  if (adjacent && edges % 2 == 0)
    MPI_Dist_graph_create_adjacent(base, in, sources, weights, out, destinations, weights,
                                   MPI_INFO_NULL, 0, &comm);
  else if (adjacent)
    MPI_Dist_graph_create_adjacent(base, in, sources, unweighted(), out, destinations, unweighted(),
                                   MPI_INFO_NULL, 0, &comm);
  else
    MPI_Dist_graph_create(base, listed, from, degrees, to, unweighted(), MPI_INFO_NULL, 0, &comm);
  read_edges(made, comm, adjacent ? "own edges" : "any edges");
}

static inline void make_duplicate(struct topology* made, const struct topology* of) {
  *made = *of;
  made->name = "duplicate";
  MPI_Comm_dup(of->comm, &made->comm);
}
