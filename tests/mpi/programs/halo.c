// A halo exchange by MPI_Neighbor_alltoallw with a type for each edge, in all forms; and many
// neighbourhood collectives under way at once, completed in another order.
//
//   halo [errs]      as in neighbours.c; such a host also needs types as long as a request lives
#include "topologies.h"

enum { rows = 4, columns = 5, steps = 4 };
// The cells of this rank, in a frame of cells that come from its neighbours.
typedef int field[rows + 2][columns + 2];

static int host_errs;

static int cell(int rank, int row, int column, int step) {
  return 10000 * rank + 1000 * step + 10 * row + column;
}

static MPI_Datatype part(int row, int column, int height, int width) {
  const int sizes[2] = {rows + 2, columns + 2}, lengths[2] = {height, width};
  const int starts[2] = {row, column};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, lengths, starts, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

// What an edge takes from the cells (`halo` 0), or where it goes in the frame. `cut` cells at the
// end of the edge are left out.
static MPI_Datatype make_part(int edge, int halo, int cut) {
  switch (edge) {
    case 0: return part(halo ? 0 : 1, 1, 1, columns - cut);
    case 1: return part(halo ? rows + 1 : rows, 1, 1, columns - cut);
    case 2: return part(1, halo ? 0 : 1, rows - cut, 1);
    default: return part(1, halo ? columns + 1 : columns, rows - cut, 1);
  }
}

static void make_parts(MPI_Datatype* types, int halo) {
  for (int i = 0; i < 4; ++i) types[i] = make_part(i, halo, 0);
}

static void free_parts(MPI_Datatype* sent, MPI_Datatype* received) {
  for (int i = 0; i < 4; ++i) MPI_Type_free(&sent[i]), MPI_Type_free(&received[i]);
}

static void fill(const struct topology* grid, field data, int step) {
  for (int r = 0; r < rows + 2; ++r)
    for (int c = 0; c < columns + 2; ++c) {
      const int inside = r > 0 && r <= rows && c > 0 && c <= columns;
      data[r][c] = inside ? cell(grid->rank, r, c, step) : -1;
    }
}

// The cells beyond each edge of this rank are the neighbour's at its opposite edge.
static void check_frame(const struct topology* grid, field data, int step, int cut) {
  const int* const near = grid->destinations;
  for (int r = 0; r < rows + 2; ++r)
    for (int c = 0; c < columns + 2; ++c) {
      const int inside = r > 0 && r <= rows && c > 0 && c <= columns;
      const int beside = r > 0 && r <= rows - cut, above = c > 0 && c <= columns - cut;
      int wanted = inside ? cell(grid->rank, r, c, step) : -1;
      if (r == 0 && above && near[0] >= 0) wanted = cell(near[0], rows, c, step);
      if (r == rows + 1 && above && near[1] >= 0) wanted = cell(near[1], 1, c, step);
      if (c == 0 && beside && near[2] >= 0) wanted = cell(near[2], r, columns, step);
      if (c == columns + 1 && beside && near[3] >= 0) wanted = cell(near[3], r, 1, step);
      CHECK(data[r][c] == wanted, "cell %d, %d: %d, not %d", r, c, data[r][c], wanted);
    }
}

static void exchange_halos(const struct topology* grid) {
  const int counts[4] = {1, 1, 1, 1};
  const MPI_Aint starts[4] = {0, 0, 0, 0};
  MPI_Datatype sent[4], received[4];
  MPI_Request request;
  field data;
  make_parts(sent, 0);
  make_parts(received, 1);
  for (int step = 0; step < steps; ++step) {
    fill(grid, data, step);
    MPI_Neighbor_alltoallw(data, counts, starts, sent, data, counts, starts, received, grid->comm);
    check_frame(grid, data, step, 0);
  }
  if (host_errs && grid->short_period) return free_parts(sent, received);
  for (int step = 0; step < steps; ++step) {
    fill(grid, data, step);
    MPI_Ineighbor_alltoallw(data, counts, starts, sent, data, counts, starts, received, grid->comm,
                            &request);
    if (step == steps - 1) free_parts(sent, received);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_frame(grid, data, step, 0);
  }
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  make_parts(sent, 0);
  make_parts(received, 1);
  MPI_Neighbor_alltoallw_init(data, counts, starts, sent, data, counts, starts, received,
                              grid->comm, MPI_INFO_NULL, &request);
  if (!host_errs) free_parts(sent, received);
  for (int step = 0; step < steps; ++step) {
    fill(grid, data, step);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_frame(grid, data, step, 0);
  }
  MPI_Request_free(&request);
  if (host_errs) free_parts(sent, received);
#endif
}

// A type that was not made before; with the earlier type's handle, if MPI gives it again.
static MPI_Datatype every_second(int count, MPI_Datatype earlier) {
  enum { tries = 200 };
  static MPI_Datatype made[tries];
  int tried = 0;
  do {
    MPI_Type_vector(count, 1, 2, MPI_INT, &made[tried]);
    MPI_Type_commit(&made[tried]);
  } while (made[tried++] != earlier && tried < tries);
  const MPI_Datatype type = made[--tried];
  while (tried > 0) MPI_Type_free(&made[--tried]);
  return type;
}

// The same call with another type each time, whose handle may be that of the type before.
static void exchange_with_new_types(const struct topology* grid) {
  enum { most = 8, length = 2 * most };
  const int counts[4] = {1, 1, 1, 1};
  int own[4][length], from[4][length];
  MPI_Aint starts[4];
  MPI_Datatype types[4], earlier = MPI_DATATYPE_NULL;
  for (int i = 0; i < 4; ++i) starts[i] = i * (MPI_Aint)sizeof own[0];
  for (int step = 0; step < 24; ++step) {
    const int count = 1 + (5 * step) % most;
    const MPI_Datatype type = every_second(count, earlier);
    for (int i = 0; i < 4; ++i) types[i] = type;
    for (int again = 0; again < 4; ++again) {
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < length; ++k)
          own[i][k] = 1000 * grid->rank + 100 * i + k + step, from[i][k] = -1;
      MPI_Neighbor_alltoallw(own, counts, starts, types, from, counts, starts, types, grid->comm);
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < length; ++k) {
          const int comes = grid->origins[i].rank >= 0 && k % 2 == 0 && k / 2 < count;
          const int wanted =
              comes ? 1000 * grid->origins[i].rank + 100 * grid->origins[i].block + k + step : -1;
          CHECK(from[i][k] == wanted, "step %d, %d of edge %d: %d, not %d", step, k, i, from[i][k],
                wanted);
        }
    }
    earlier = type;
    MPI_Type_free(&types[0]);
  }
}

// No rank completes an operation before a message has gone round.
static void many_under_way(const struct topology* ring) {
  enum { many = 40 };
  int own[many][5], from[many][5], sum[many], token = 0;
  MPI_Request requests[2 * many], message;
  const int right = (ring->rank + 1) % ring->size,
            left = (ring->rank + ring->size - 1) % ring->size;
  for (int k = 0; k < many; ++k) {
    for (int i = 0; i < 5; ++i) own[k][i] = 1000 * ring->rank + 10 * k + i, from[k][i] = -1;
    sum[k] = -1;
    if (k % 2 == 0)
      MPI_Ineighbor_alltoall(own[k], 1, MPI_INT, from[k], 1, MPI_INT, ring->comm, &requests[2 * k]);
    else
      MPI_Ineighbor_allgather(own[k], 1, MPI_INT, from[k], 1, MPI_INT, ring->comm,
                              &requests[2 * k]);
    MPI_Iallreduce(&own[k][0], &sum[k], 1, MPI_INT, MPI_SUM, ring->comm, &requests[2 * k + 1]);
  }
  MPI_Irecv(&token, 1, MPI_INT, left, 1, ring->comm, &message);
  if (ring->rank == 0) MPI_Send(&right, 1, MPI_INT, right, 1, ring->comm);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  if (ring->rank != 0) MPI_Send(&right, 1, MPI_INT, right, 1, ring->comm);
  CHECK(token == ring->rank, "the message is for rank %d", token);
  for (int k = many - 1; k >= many / 2; --k) MPI_Wait(&requests[2 * k], MPI_STATUS_IGNORE);
  MPI_Waitall(2 * many, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < many; ++k) {
    for (int j = 0; j < ring->in; ++j) {
      const struct origin origin = ring->origins[j];
      const int wanted = 1000 * origin.rank + 10 * k + (k % 2 == 0 ? origin.block : 0);
      CHECK(from[k][j] == wanted, "operation %d, block %d: %d, not %d", k, j, from[k][j], wanted);
    }
    CHECK(sum[k] == 500 * ring->size * (ring->size - 1) + 10 * k * ring->size, "sum %d", sum[k]);
  }
}

int main(int argc, char** argv) {
  static struct topology made;
  start(&argc, &argv);
  host_errs = argc > 1 && strcmp(argv[1], "errs") == 0;
  const int half = world_size % 2 == 0 ? 2 : 1;
  const int lengths[3][2] = {{half, world_size / half}, {1, world_size}, {world_size, 1}};
  for (int i = 0; i < 3; ++i)
    for (int bits = 0; bits < 4; ++bits) {
      const int periods[2] = {bits & 1, bits >> 1};
      make_grid(&made, MPI_COMM_WORLD, 2, lengths[i], periods);
      exchange_halos(&made);
      exchange_with_new_types(&made);
      MPI_Comm_free(&made.comm);
    }
  make_double_ring(&made, MPI_COMM_WORLD);
  set_up(made.comm);
  for (int round = 0; round < 3; ++round) many_under_way(&made);
  MPI_Comm_free(&made.comm);
  return finish();
}
