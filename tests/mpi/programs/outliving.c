// For counting instructions: the starts and the completions of an 8-byte allreduce, non-blocking
// and persistent, of an alltoallv of 8 bytes and an alltoall of 128 bytes for each rank; and an
// exchange of six faces of one integer each, by types of their own, blocking and non-blocking. The
// last rank is late to each, so that it need not wait. Each of its calls gets a dump of its own,
// under its name.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

enum { MOST_RANKS = 8 };
enum { block = 16 };  // too long for a line
static double in, out;
static double blocks[block * MOST_RANKS], taken[block * MOST_RANKS];
static double given[MOST_RANKS], got[MOST_RANKS];
static int ones[MOST_RANKS], places[MOST_RANKS];
static MPI_Request request, persistent;
static int cells[3][3][3];
static MPI_Datatype sent[6], received[6];
static MPI_Comm grid;

__attribute__((noinline)) void counted_start(void) {
  MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}
__attribute__((noinline)) void counted_wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
__attribute__((noinline)) void counted_persistent_start(void) { MPI_Start(&persistent); }
__attribute__((noinline)) void counted_persistent_wait(void) {
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}
__attribute__((noinline)) void counted_parts_start(void) {
  MPI_Ialltoallv(given, ones, places, MPI_DOUBLE, got, ones, places, MPI_DOUBLE, MPI_COMM_WORLD,
                 &request);
}
__attribute__((noinline)) void counted_blocks_start(void) {
  MPI_Ialltoall(blocks, block, MPI_DOUBLE, taken, block, MPI_DOUBLE, MPI_COMM_WORLD, &request);
}
static const int counts[6] = {1, 1, 1, 1, 1, 1};
static const MPI_Aint starts[6] = {0, 0, 0, 0, 0, 0};
__attribute__((noinline)) void counted_faces(void) {
  MPI_Neighbor_alltoallw(cells, counts, starts, sent, cells, counts, starts, received, grid);
}
__attribute__((noinline)) void counted_faces_start(void) {
  MPI_Ineighbor_alltoallw(cells, counts, starts, sent, cells, counts, starts, received, grid,
                          &request);
}

static void be_late(void) {
  if (world_rank == world_size - 1) usleep(2000);
}

static MPI_Datatype cell(int dimension, int place) {
  const int sizes[3] = {3, 3, 3}, lengths[3] = {1, 1, 1};
  int starts[3] = {1, 1, 1};
  MPI_Datatype type;
  starts[dimension] = place;
  MPI_Type_create_subarray(3, sizes, lengths, starts, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void make_grid(void) {
  const int lengths[3] = {1, 1, world_size}, periods[3] = {1, 1, 1};
  MPI_Cart_create(MPI_COMM_WORLD, 3, lengths, periods, 0, &grid);
  set_up(grid);
  for (int i = 0; i < 6; ++i) {
    sent[i] = cell(i / 2, 1);
    received[i] = cell(i / 2, i % 2 == 0 ? 0 : 2);
  }
}

static void check_cells(int sign, int round) {
  const int right = (world_rank + 1) % world_size;
  CHECK(cells[0][1][1] == sign * (round + world_rank) && cells[1][1][2] == sign * (round + right),
        "faces %d %d", cells[0][1][1], cells[1][1][2]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 20;
  set_up(MPI_COMM_WORLD);
  make_grid();
  for (int i = 0; i < world_size; ++i) {
    ones[i] = 1;
    places[i] = i;
  }
  MPI_Allreduce_init(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
  for (int i = 0; i < 5 + calls; ++i) {
    in = i + world_rank;
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_start();
    CALLGRIND_DUMP_STATS_AT("start");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_wait();
    CALLGRIND_DUMP_STATS_AT("wait");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_blocks_start();
    CALLGRIND_DUMP_STATS_AT("blocks_start");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_wait();
    CALLGRIND_DUMP_STATS_AT("blocks_wait");
    const double sum = world_size * (world_size - 1) / 2 + (double)world_size * i;
    CHECK(out == sum, "sum %g, not %g", out, sum);
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_persistent_start();
    CALLGRIND_DUMP_STATS_AT("persistent_start");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_persistent_wait();
    CALLGRIND_DUMP_STATS_AT("persistent_wait");
    CHECK(out == sum, "sum %g, not %g", out, sum);
    for (int to = 0; to < world_size; ++to) given[to] = i + to;
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_parts_start();
    CALLGRIND_DUMP_STATS_AT("parts_start");
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_wait();
    CALLGRIND_DUMP_STATS_AT("parts_wait");
    for (int from = 0; from < world_size; ++from)
      CHECK(got[from] == i + world_rank, "part %d is %g", from, got[from]);
    cells[1][1][1] = i + world_rank;
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_faces();
    CALLGRIND_DUMP_STATS_AT("faces");
    check_cells(1, i);
    cells[1][1][1] = -(i + world_rank);
    be_late();
    CALLGRIND_ZERO_STATS;
    counted_faces_start();
    CALLGRIND_DUMP_STATS_AT("faces_start");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_cells(-1, i);
  }
  MPI_Request_free(&persistent);
  MPI_Comm_free(&grid);
  return finish();
}
