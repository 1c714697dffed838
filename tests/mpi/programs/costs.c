// For counting instructions: the last rank is late, so that it need not wait, and calls each
// collective with 8 bytes (of a part) in a function of its own, after set-up. Each call is dumped
// by itself, under the collective's name, so that the test can take the least of many: if the other
// ranks were late, waiting adds instructions. Calls whose names end in 64 have parts of 64 bytes on
// average, with 2 ranks. Calls whose names have in_place are in place at the last rank, which is
// the root if the collective has one.
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "check.h"

static double in[8] = {1}, out[8];
static int counts[8], places[8], bytes_at[8];
static double uneven_in[16], uneven_out[16];
static const int uneven_counts[2] = {4, 12}, uneven_places[2] = {0, 4};
static MPI_Datatype types[8];
static MPI_Request request;

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }
static void allgather(void) {
  MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(void) { MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, MPI_COMM_WORLD); }
static void reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void exscan(void) { MPI_Exscan(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gatherv(void) {
  MPI_Gatherv(in, 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}
static void scatterv(void) {
  MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void gatherv_64(void) {
  MPI_Gatherv(uneven_in, uneven_counts[world_rank], MPI_DOUBLE, uneven_out, uneven_counts,
              uneven_places, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}
static void scatterv_64(void) {
  MPI_Scatterv(uneven_in, uneven_counts, uneven_places, MPI_DOUBLE, uneven_out,
               uneven_counts[world_rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void gatherv_in_place_64(void) {
  const int in_place = world_rank == 1;
  MPI_Gatherv(in_place ? MPI_IN_PLACE : uneven_in, uneven_counts[world_rank], MPI_DOUBLE,
              uneven_out, uneven_counts, uneven_places, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}
static void scatterv_in_place_64(void) {
  const int in_place = world_rank == 1;
  MPI_Scatterv(uneven_in, uneven_counts, uneven_places, MPI_DOUBLE,
               in_place ? MPI_IN_PLACE : uneven_out, uneven_counts[world_rank], MPI_DOUBLE, 1,
               MPI_COMM_WORLD);
}
static void allgatherv_in_place_64(void) {
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, uneven_out, uneven_counts, uneven_places,
                 MPI_DOUBLE, MPI_COMM_WORLD);
}
static void allgatherv(void) {
  MPI_Allgatherv(in, 1, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoallv(void) {
  MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoallw(void) {
  MPI_Alltoallw(in, counts, bytes_at, types, out, counts, bytes_at, types, MPI_COMM_WORLD);
}
static void reduce_scatter(void) {
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void persistent_allreduce(void) {
  MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) void counted_barrier(void) { barrier(); }
__attribute__((noinline)) void counted_bcast(void) { bcast(); }
__attribute__((noinline)) void counted_reduce(void) { reduce(); }
__attribute__((noinline)) void counted_allreduce(void) { allreduce(); }
__attribute__((noinline)) void counted_gather(void) { gather(); }
__attribute__((noinline)) void counted_scatter(void) { scatter(); }
__attribute__((noinline)) void counted_allgather(void) { allgather(); }
__attribute__((noinline)) void counted_alltoall(void) { alltoall(); }
__attribute__((noinline)) void counted_reduce_scatter_block(void) { reduce_scatter_block(); }
__attribute__((noinline)) void counted_scan(void) { scan(); }
__attribute__((noinline)) void counted_exscan(void) { exscan(); }
__attribute__((noinline)) void counted_gatherv(void) { gatherv(); }
__attribute__((noinline)) void counted_scatterv(void) { scatterv(); }
__attribute__((noinline)) void counted_gatherv_64(void) { gatherv_64(); }
__attribute__((noinline)) void counted_scatterv_64(void) { scatterv_64(); }
__attribute__((noinline)) void counted_gatherv_in_place_64(void) { gatherv_in_place_64(); }
__attribute__((noinline)) void counted_scatterv_in_place_64(void) { scatterv_in_place_64(); }
__attribute__((noinline)) void counted_allgatherv_in_place_64(void) { allgatherv_in_place_64(); }
__attribute__((noinline)) void counted_allgatherv(void) { allgatherv(); }
__attribute__((noinline)) void counted_alltoallv(void) { alltoallv(); }
__attribute__((noinline)) void counted_alltoallw(void) { alltoallw(); }
__attribute__((noinline)) void counted_reduce_scatter(void) { reduce_scatter(); }
__attribute__((noinline)) void counted_persistent_allreduce(void) { persistent_allreduce(); }

static const struct {
  const char* name;
  void (*warm)(void);
  void (*counted)(void);
} all[] = {{"barrier", barrier, counted_barrier},
           {"bcast", bcast, counted_bcast},
           {"reduce", reduce, counted_reduce},
           {"allreduce", allreduce, counted_allreduce},
           {"gather", gather, counted_gather},
           {"scatter", scatter, counted_scatter},
           {"allgather", allgather, counted_allgather},
           {"alltoall", alltoall, counted_alltoall},
           {"reduce_scatter_block", reduce_scatter_block, counted_reduce_scatter_block},
           {"scan", scan, counted_scan},
           {"exscan", exscan, counted_exscan},
           {"gatherv", gatherv, counted_gatherv},
           {"scatterv", scatterv, counted_scatterv},
           {"gatherv_64", gatherv_64, counted_gatherv_64},
           {"scatterv_64", scatterv_64, counted_scatterv_64},
           {"gatherv_in_place_64", gatherv_in_place_64, counted_gatherv_in_place_64},
           {"scatterv_in_place_64", scatterv_in_place_64, counted_scatterv_in_place_64},
           {"allgatherv_in_place_64", allgatherv_in_place_64, counted_allgatherv_in_place_64},
           {"allgatherv", allgatherv, counted_allgatherv},
           {"alltoallv", alltoallv, counted_alltoallv},
           {"alltoallw", alltoallw, counted_alltoallw},
           {"reduce_scatter", reduce_scatter, counted_reduce_scatter},
           {"persistent_allreduce", persistent_allreduce, counted_persistent_allreduce}};
enum { collectives = sizeof all / sizeof all[0], warming = 10 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 20;
  for (int i = 0; i < 8; ++i)
    counts[i] = 1, places[i] = i, bytes_at[i] = 8 * i, types[i] = MPI_DOUBLE;
  set_up(MPI_COMM_WORLD);
  MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int which = 0; which < collectives; ++which) {
    for (int i = 0; i < warming + calls; ++i) {
      if (world_rank == world_size - 1) usleep(2000);
      if (i < warming) {
        all[which].warm();
      } else {
        all[which].counted();
        CALLGRIND_DUMP_STATS_AT(all[which].name);
      }
    }
  }
  MPI_Request_free(&request);
  return finish();
}
