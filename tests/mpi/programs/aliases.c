// One address as input and output, where MPI wants MPI_IN_PLACE: Tutti's non-blocking, persistent
// and blocking collectives refuse it where the host does, also if the program has made the same
// call with other buffers before, and all ranks go on together afterwards.
#include "check.h"
#include "host.h"

static int rank, size;
static MPI_Comm world, by_host;
static int parts[64], separate[64], counts[8], places[8], halves[8];
static MPI_Datatype types[8];

// A call whose buffers are `alone` and `parts`, and which makes a request.
typedef int Start(int* alone, int root, MPI_Comm comm, MPI_Request* request);
typedef struct {
  const char* name;
  Start *ours, *hosts;
  int rooted;
  int has_parts;  // `alone` is the rank's own part of `parts`, not all of it
} Kind;

#define STARTS(name, function, second_function, ...)                                     \
  static int name(int* alone, int root, MPI_Comm comm, MPI_Request* request) {           \
    (void)root;                                                                          \
    return function(__VA_ARGS__, comm, request);                                         \
  }                                                                                      \
  static int name##_by_host(int* alone, int root, MPI_Comm comm, MPI_Request* request) { \
    (void)root;                                                                          \
    return second_function(__VA_ARGS__, comm, request);                                  \
  }

#define INT MPI_INT
STARTS(iallreduce, MPI_Iallreduce, HOST(Iallreduce), alone, parts, 1, INT, MPI_SUM)
STARTS(iscan, MPI_Iscan, HOST(Iscan), alone, parts, 1, INT, MPI_SUM)
STARTS(iexscan, MPI_Iexscan, HOST(Iexscan), alone, parts, 1, INT, MPI_SUM)
STARTS(ireduce_scatter, MPI_Ireduce_scatter, HOST(Ireduce_scatter), alone, parts, halves, INT,
       MPI_SUM)
STARTS(ireduce_scatter_block, MPI_Ireduce_scatter_block, HOST(Ireduce_scatter_block), alone, parts,
       1, INT, MPI_SUM)
STARTS(ialltoall, MPI_Ialltoall, HOST(Ialltoall), alone, 1, INT, parts, 1, INT)
STARTS(ialltoallv, MPI_Ialltoallv, HOST(Ialltoallv), alone, counts, places, INT, parts, counts,
       places, INT)
STARTS(ialltoallw, MPI_Ialltoallw, HOST(Ialltoallw), alone, counts, places, types, parts, counts,
       places, types)
STARTS(iallgather, MPI_Iallgather, HOST(Iallgather), alone, 1, INT, parts, 1, INT)
STARTS(iallgatherv, MPI_Iallgatherv, HOST(Iallgatherv), alone, 1, INT, parts, counts, places, INT)
STARTS(ireduce, MPI_Ireduce, HOST(Ireduce), alone, parts, 1, INT, MPI_SUM, root)
STARTS(igather, MPI_Igather, HOST(Igather), alone, 1, INT, parts, 1, INT, root)
STARTS(igatherv, MPI_Igatherv, HOST(Igatherv), alone, 1, INT, parts, counts, places, INT, root)
STARTS(iscatter, MPI_Iscatter, HOST(Iscatter), parts, 1, INT, alone, 1, INT, root)
STARTS(iscatterv, MPI_Iscatterv, HOST(Iscatterv), parts, counts, places, INT, alone, 1, INT, root)
#define PAIR(name) #name, name, name##_by_host
static const Kind kinds[] = {
    {PAIR(iallreduce), 0, 0},
    {PAIR(iscan), 0, 0},
    {PAIR(iexscan), 0, 0},
    {PAIR(ireduce_scatter), 0, 0},
    {PAIR(ireduce_scatter_block), 0, 0},
    {PAIR(ialltoall), 0, 0},
    {PAIR(ialltoallv), 0, 0},
    {PAIR(ialltoallw), 0, 0},
    {PAIR(iallgather), 0, 1},
    {PAIR(iallgatherv), 0, 1},
    {PAIR(ireduce), 1, 0},
    {PAIR(igather), 1, 1},
    {PAIR(igatherv), 1, 1},
    {PAIR(iscatter), 1, 1},
    {PAIR(iscatterv), 1, 1},
};

#if MPI_VERSION >= 4
#undef STARTS
#define STARTS(name, function, second_function, ...)                                     \
  static int name(int* alone, int root, MPI_Comm comm, MPI_Request* request) {           \
    (void)root;                                                                          \
    return function(__VA_ARGS__, comm, MPI_INFO_NULL, request);                          \
  }                                                                                      \
  static int name##_by_host(int* alone, int root, MPI_Comm comm, MPI_Request* request) { \
    (void)root;                                                                          \
    return second_function(__VA_ARGS__, comm, MPI_INFO_NULL, request);                   \
  }
STARTS(exscan_init, MPI_Exscan_init, HOST(Exscan_init), alone, parts, 1, INT, MPI_SUM)
STARTS(reduce_scatter_init, MPI_Reduce_scatter_init, HOST(Reduce_scatter_init), alone, parts,
       halves, INT, MPI_SUM)
STARTS(allgather_init, MPI_Allgather_init, HOST(Allgather_init), alone, 1, INT, parts, 1, INT)
STARTS(gather_init, MPI_Gather_init, HOST(Gather_init), alone, 1, INT, parts, 1, INT, root)
static const Kind persistent[] = {
    {PAIR(exscan_init), 0, 0},
    {PAIR(reduce_scatter_init), 0, 0},
    {PAIR(allgather_init), 0, 1},
    {PAIR(gather_init), 1, 1},
};
#endif

// True if the host refuses the call at this rank. Those that it accepts are completed.
static int starts(Start* start, int* alone, int root, MPI_Comm comm, int rooted, int persists) {
  MPI_Request request = MPI_REQUEST_NULL;
  int refused = 0, root_refuses;
  if (!rooted || rank == root) refused = start(alone, root, comm, &request) != MPI_SUCCESS;
  root_refuses = refused;
  if (rooted) MPI_Bcast(&root_refuses, 1, MPI_INT, root, MPI_COMM_WORLD);
  if (rooted && rank != root && !root_refuses) start(alone, root, comm, &request);
  if (!root_refuses && persists)
    MPI_Request_free(&request);
  else if (!root_refuses)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  return refused;
}

static void check_together(const char* name) {
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2, "after %s: %d", name, sum);
}

static void try_kind(const Kind* kind, int persists) {
  for (int root = 0; root < (kind->rooted ? 2 : 1); ++root) {
    int* const alias = kind->has_parts ? parts + rank : parts;
    for (int i = 0; i < 2; ++i)
      CHECK(!starts(kind->ours, separate, root, world, kind->rooted, persists), "%s", kind->name);
    const int expected = starts(kind->hosts, alias, root, by_host, kind->rooted, persists);
    const int refused = starts(kind->ours, alias, root, world, kind->rooted, persists);
    CHECK(refused == expected, "%s, root %d: %d instead of %d", kind->name, root, refused,
          expected);
    check_together(kind->name);
  }
}

// Blocking calls at whose root the own part has one address on both sides, on a host that accepts
// it. Where the host refuses, the other ranks would wait for ever, as they do without Tutti.
static void blocking(void) {
  for (int root = 0; root < 2; ++root) {
    int refused = starts(igather_by_host, parts + rank, root, by_host, 1, 0);
    MPI_Bcast(&refused, 1, MPI_INT, root, MPI_COMM_WORLD);
    if (refused) continue;
    parts[rank] = rank;
    MPI_Gather(parts + rank, 1, MPI_INT, parts, 1, MPI_INT, root, world);
    MPI_Scatter(parts, 1, MPI_INT, parts + rank, 1, MPI_INT, root, world);
    MPI_Gatherv(parts + rank, 1, MPI_INT, parts, counts, places, MPI_INT, root, world);
    MPI_Scatterv(parts, counts, places, MPI_INT, parts + rank, 1, MPI_INT, root, world);
    for (int i = 0; rank == root && i < size; ++i) CHECK(parts[i] == i, "%d: %d", i, parts[i]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  rank = world_rank, size = world_size;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_dup(MPI_COMM_WORLD, &by_host);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(by_host, MPI_ERRORS_RETURN);
  set_up(world);
  for (int i = 0; i < 8; ++i)
    counts[i] = 1, places[i] = i, halves[i] = i % 2 == 0, types[i] = MPI_INT;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) try_kind(&kinds[i], 0);
#if MPI_VERSION >= 4
  for (size_t i = 0; i < sizeof persistent / sizeof persistent[0]; ++i) try_kind(&persistent[i], 1);
#endif
  blocking();
  return finish();
}
