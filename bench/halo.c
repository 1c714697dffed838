#define _GNU_SOURCE
#include "halo.h"

#include <mpi.h>

#include "calls.h"
#include "grid.h"
#include "overlap.h"
#include "rows.h"
#include "series.h"

/* A way to exchange, on one rank's grid. */
typedef struct {
  Bench* bench;
  const struct Way* way;
  Grid grid;
  int ones[GRID_DIRECTIONS];  /* one face to each neighbour */
  int cells[GRID_DIRECTIONS]; /* cells of a face */
  int cells_before[GRID_DIRECTIONS];
  MPI_Aint origin[GRID_DIRECTIONS]; /* the types have the places */
  MPI_Request requests[2 * GRID_DIRECTIONS];
  Computation beside;
} Exchange;

typedef struct Way {
  const char* name;
  void (*start)(Exchange* exchange);
  void (*finish)(Exchange* exchange); /* NULL: the start does everything */
} Way;

static void alltoallw(Exchange* one) {
  MPI_Neighbor_alltoallw(one->grid.cells, one->ones, one->origin, one->grid.faces, one->grid.cells,
                         one->ones, one->origin, one->grid.ghosts, one->grid.communicator);
}

static void start_alltoallw(Exchange* one) {
  MPI_Ineighbor_alltoallw(one->grid.cells, one->ones, one->origin, one->grid.faces, one->grid.cells,
                          one->ones, one->origin, one->grid.ghosts, one->grid.communicator,
                          one->requests);
}

static void start_persistent(Exchange* one) { MPI_Start(one->requests); }

static void wait_for_one(Exchange* one) { MPI_Wait(one->requests, MPI_STATUS_IGNORE); }

/* A message's tag is the direction in which it goes, so that the two messages between the same
 * ranks differ. */
static void start_by_hand(Exchange* one) {
  Grid* const grid = &one->grid;
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    MPI_Irecv(grid->cells, 1, grid->ghosts[direction], grid->neighbours[direction], direction ^ 1,
              grid->communicator, &one->requests[direction]);
  }
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    MPI_Isend(grid->cells, 1, grid->faces[direction], grid->neighbours[direction], direction,
              grid->communicator, &one->requests[GRID_DIRECTIONS + direction]);
  }
}

static void wait_for_all(Exchange* one) {
  MPI_Waitall(2 * GRID_DIRECTIONS, one->requests, MPI_STATUSES_IGNORE);
}

static void packed_alltoall(Exchange* one) {
  grid_pack(&one->grid);
  MPI_Neighbor_alltoall(one->grid.packed_faces, one->cells[0], MPI_UINT32_T,
                        one->grid.packed_ghosts, one->cells[0], MPI_UINT32_T,
                        one->grid.communicator);
  grid_unpack(&one->grid);
}

static void packed_alltoallv(Exchange* one) {
  grid_pack(&one->grid);
  MPI_Neighbor_alltoallv(one->grid.packed_faces, one->cells, one->cells_before, MPI_UINT32_T,
                         one->grid.packed_ghosts, one->cells, one->cells_before, MPI_UINT32_T,
                         one->grid.communicator);
  grid_unpack(&one->grid);
}

enum { blocking_way = 0, persistent_way = 2, by_hand_way = 3, way_count = 6 };
static const Way ways[way_count] = {
    [blocking_way] = {"neighbor_alltoallw", alltoallw, NULL},
    {"ineighbor_alltoallw", start_alltoallw, wait_for_one},
    [persistent_way] = {"neighbor_alltoallw_init", start_persistent, wait_for_one},
    [by_hand_way] = {"isend_irecv", start_by_hand, wait_for_all},
    {"packed_neighbor_alltoall", packed_alltoall, NULL},
    {"packed_neighbor_alltoallv", packed_alltoallv, NULL},
};

typedef int NeighborAlltoallwInit(const void*, const int*, const MPI_Aint*, const MPI_Datatype*,
                                  void*, const int*, const MPI_Aint*, const MPI_Datatype*, MPI_Comm,
                                  MPI_Info, MPI_Request*);

/* Makes the persistent operation. */
static void make_request(Exchange* one) {
  ((NeighborAlltoallwInit*)calls_find("MPI_Neighbor_alltoallw_init"))(
      one->grid.cells, one->ones, one->origin, one->grid.faces, one->grid.cells, one->ones,
      one->origin, one->grid.ghosts, one->grid.communicator, MPI_INFO_NULL, one->requests);
}

static void fill(void* of, int place, uint32_t number) {
  (void)place;
  grid_fill(&((Exchange*)of)->grid, number);
}

static bool operate(void* of, int place, int sample, uint64_t* began) {
  (void)place, (void)sample;
  Exchange* const one = of;
  one->way->start(one);
  if (began != NULL && one->way->finish != NULL) *began = bench_now(&one->bench->neutral.clock);
  work_beside(&one->bench->work, &one->beside, &one->bench->neutral.clock);
  if (one->way->finish != NULL) one->way->finish(one);
  return true;
}

static bool verify(void* of, int place, uint32_t number, char line[256]) {
  (void)place;
  const Exchange* const one = of;
  for (int d = 0; d < GRID_DIMENSIONS; ++d)
    if (!grid_verify(&one->grid, d, number, line)) return false;
  return true;
}

/* Where both neighbours of a dimension are one rank, MPIs differ in which of its two faces comes
 * first. MPI 4.0 clarifies that the opposite one does, as a stencil needs it. One exchange tells.
 * True if faces match in order in some dimension. */
static bool find_order(Exchange* one) {
  Bench* const bench = one->bench;
  Grid* const grid = &one->grid;
  char line[256];
  bool any = false;
  const uint32_t number = bench->number++;
  grid_fill(grid, number);
  one->way->start(one);
  if (one->way->finish != NULL) one->way->finish(one);
  for (int d = 0; d < GRID_DIMENSIONS; ++d) {
    grid->in_order[d] = false;
    if (grid_verify(grid, d, number, line)) continue;
    grid->in_order[d] = grid->neighbours[2 * d] == grid->neighbours[2 * d + 1];
    if (!grid->in_order[d] || !grid_verify(grid, d, number, line)) bench_stop(bench, line);
    any = true;
  }
  return any;
}

/* Runs a series, and at the first rank adds its row and returns the median; 0 elsewhere. */
static double measure_series(Exchange* one, const char* name, bool in_order) {
  Bench* const bench = one->bench;
  const Series series = {.count = 1,
                         .subject = one,
                         .beside = one->beside,
                         .fill = one->beside.alone ? NULL : fill,
                         .operate = operate,
                         .verify = verify};
  const int samples = series_run(bench, &series);
  if (bench->rank != 0) return 0;
  row_begin_call("halo", name, grid_face_bytes(one->grid.edge));
  row_text("element", pattern_element_names[PATTERN_UINT32]);
  row_flag("in_order", in_order);
  const double median = series_row(bench, &series, samples, 0);
  row_end();
  return median;
}

static double measure_way(void* of, int way, const Computation* beside) {
  Exchange* const one = of;
  one->beside = *beside;
  if (beside->alone) return measure_series(one, "none", false);
  if (way == persistent_way && one->bench->lacks_persistent) return 0;
  one->way = &ways[way];
  if (way == persistent_way) make_request(one);
  const bool in_order = find_order(one);
  const double median = measure_series(one, one->way->name, in_order);
  if (way == persistent_way) MPI_Request_free(one->requests);
  return median;
}

static void measure_size(Bench* bench, MPI_Comm communicator, int place) {
  const BenchOptions* const options = &bench->options;
  const size_t bytes = options->faces[place];
  Exchange one = {.bench = bench};
  if (!grid_open(&one.grid, communicator, grid_edge(bytes)))
    bench_stop(bench, "no memory for the grid; leave out the largest faces");
  for (int direction = 0; direction < GRID_DIRECTIONS; ++direction) {
    one.ones[direction] = 1;
    one.cells[direction] = (int)(bytes / sizeof(uint32_t));
    one.cells_before[direction] = direction * one.cells[direction];
  }
  if (options->overlap) { /* the ways that use the faces' types */
    overlap_of(bench, place, &(OverlapSubject){&one, by_hand_way + 1, blocking_way, measure_way});
  } else {
    for (int way = 0; way < way_count; ++way)
      measure_way(&one, way, &(Computation){.loop = WORK_NONE});
  }
  grid_close(&one.grid);
}

enum { calls_before_set_up = 64 };

void halo_measure(Bench* bench, BenchCondition condition) {
  (void)condition;
  int extents[GRID_DIMENSIONS] = {0};
  const int periodic[GRID_DIMENSIONS] = {1, 1, 1};
  MPI_Comm communicator;
  if (bench->options.overlap) overlap_prepare(bench, bench->options.face_count);
  MPI_Dims_create(bench->ranks, GRID_DIMENSIONS, extents);
  MPI_Cart_create(MPI_COMM_WORLD, GRID_DIMENSIONS, extents, periodic, 0, &communicator);
  /* MPIs and interposers set communicators up after some calls. */
  for (int call = 0; call < calls_before_set_up; ++call) MPI_Barrier(communicator);
  bench->lacks_persistent = calls_find("MPI_Neighbor_alltoallw_init") == NULL;
  for (int i = 0; i < bench->options.face_count; ++i) measure_size(bench, communicator, i);
  MPI_Comm_free(&communicator);
}
