// The collectives with parts and the scans, compared with the host MPI: types, roots, counts, in
// place or not, operations that commute or do not. Then cases that need calls of their own: layouts
// that differ, read-only memory, MPI_BOTTOM, large counts. Prints the number of calls that the
// report must show as served.
#include "compare.h"

static long served;

static void try_all(const int* counts, int count_count, int every_root, int layouts_tried) {
  for (int collective = GATHER; collective < COLLECTIVES; ++collective) {
    for (int which = 0; which < layouts_tried; ++which) {
      for (int c = 0; c < count_count; ++c) {
        const int roots = rooted(collective) ? world_size : 1;
        for (int root = 0; root < roots; ++root) {
          if (!every_root && root != 0 && root != (which + c) % world_size && root + 1 != roots)
            continue;
          for (int in_place = 0; in_place < 2; ++in_place) {
            const struct call call = {collective, &layouts[which], counts[c],
                                      root,       in_place,        MPI_COMM_WORLD};
            compare(&call);
            ++served;
          }
        }
      }
    }
  }
}

// Rank 0 and the odd ranks send and receive doubles with gaps between them, the others without
// gaps.
static void layouts_that_differ(int count) {
  MPI_Datatype apart;
  MPI_Type_vector(count, 1, 3, MPI_DOUBLE, &apart);
  MPI_Type_commit(&apart);
  const size_t place = world_rank % 2 == 0 ? 1 : 3;
  MPI_Datatype wide;
  MPI_Type_create_resized(apart, 0, (MPI_Aint)(3 * sizeof(double)) * count, &wide);
  MPI_Type_commit(&wide);
  const MPI_Datatype type = place == 3 ? wide : MPI_DOUBLE;
  const int n = place == 3 ? 1 : count;
  const size_t part = place * (size_t)count, ranks = (size_t)world_size;
  double* in = malloc(sizeof(double) * part * ranks);
  double* out = malloc(sizeof(double) * 3 * (size_t)count * ranks);
#define IN(j, i) in[(size_t)(j) * part + (size_t)(i) * place]
#define DENSE(j, i) out[(size_t)(j) * (size_t)count + (size_t)(i)]
  for (int j = 0; j < world_size; ++j)
    for (int i = 0; i < count; ++i) IN(j, i) = world_rank * 1e6 + j * 1e4 + i % 1000;
  MPI_Alltoall(in, n, type, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int j = 0; j < world_size; ++j)
    for (int i = 0; i < count; ++i)
      CHECK(DENSE(j, i) == j * 1e6 + world_rank * 1e4 + i % 1000, "alltoall, %d from %d: %g", i, j,
            DENSE(j, i));
  MPI_Allgather(in, n, type, out, count, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int j = 0; j < world_size; ++j)
    for (int i = 0; i < count; ++i)
      CHECK(DENSE(j, i) == j * 1e6 + i % 1000, "allgather, %d from %d", i, j);
  for (int root = 0; root < world_size; ++root) {
    memset(out, 0, sizeof(double) * (size_t)count * ranks);
    MPI_Gather(in, n, type, out, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int j = 0; world_rank == root && j < world_size; ++j)
      for (int i = 0; i < count; ++i)
        CHECK(DENSE(j, i) == j * 1e6 + i % 1000, "gather to %d, %d from %d", root, i, j);
    // The other direction: packed at the root, each rank's own layout elsewhere.
    for (int j = 0; j < world_size; ++j)
      for (int i = 0; i < count; ++i) DENSE(j, i) = root * 1e6 + j * 1e4 + i % 1000;
    MPI_Scatter(out, count, MPI_DOUBLE, in, n, type, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      CHECK(IN(0, i) == root * 1e6 + world_rank * 1e4 + i % 1000, "scatter from %d, %d: %g", root,
            i, IN(0, i));
    for (int i = 0; i < count; ++i) IN(0, i) = world_rank * 1e6 + i % 1000;
    served += 2;
  }
#undef IN
#undef DENSE
  served += 2;
  free(in);
  free(out);
  MPI_Type_free(&apart);
  MPI_Type_free(&wide);
}

// A root's own part in place is not written, so it may be in read-only memory. Arguments that are
// ignored at a rank may have any value.
static void ignored_arguments(void) {
  static const int data[3 * 64] = {[0] = 1, [1] = 2, [3] = 4, [4] = 5};
  int part[3] = {-1, -1, -1}, all[3 * 64];
  const int ranks = world_size < 64 ? world_size : 0;
  for (int root = 0; root < ranks; ++root) {
    if (world_rank == root) {
      MPI_Scatter(data, 3, MPI_INT, MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
      memcpy(all, data, sizeof all);
      MPI_Gather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, all, 3, MPI_INT, root, MPI_COMM_WORLD);
      CHECK(memcmp(all, data, sizeof(int) * 3 * (size_t)world_size) == 0, "gather in place at %d",
            root);
    } else {
      MPI_Scatter(NULL, -5, MPI_DATATYPE_NULL, part, 3, MPI_INT, root, MPI_COMM_WORLD);
      CHECK(memcmp(part, data + 3 * world_rank, sizeof part) == 0, "scatter from %d: %d", root,
            part[0]);
      MPI_Gather(part, 3, MPI_INT, NULL, -5, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    }
    served += 2;
  }
  if (world_size == 1) return;  // the host's exscan fails then
  int value = world_rank + 1, sum = 0;
  MPI_Exscan(&value, world_rank == 0 ? NULL : &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_rank * (world_rank + 1) / 2, "exscan: %d", sum);
  served += 1;
}

// Absolute addresses, and types with negative strides.
static void strange_addresses(void) {
  double value = world_rank * 2.5;
  double* const all = malloc(sizeof(double) * 2 * (size_t)world_size);
  MPI_Aint address;
  MPI_Get_address(&value, &address);
  MPI_Datatype absolute, apart, backwards;
  const int one = 1;
  const MPI_Datatype type = MPI_DOUBLE;
  MPI_Type_create_struct(1, &one, &address, &type, &absolute);
  MPI_Type_create_resized(MPI_DOUBLE, 0, -(MPI_Aint)sizeof(double), &backwards);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &apart);
  MPI_Type_commit(&absolute);
  MPI_Type_commit(&backwards);
  MPI_Type_commit(&apart);
  MPI_Allgather(MPI_BOTTOM, 1, absolute, all + world_size - 1, 1, backwards, MPI_COMM_WORLD);
  for (int i = 0; i < world_size; ++i)
    CHECK(all[world_size - 1 - i] == i * 2.5, "backwards: %d is %g", i, all[i]);
  for (int i = 0; i < 2 * world_size; ++i) all[i] = i % 2 == 0 ? world_rank * 10 + i / 2 : -1;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, apart, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * world_size; ++i)
    CHECK(all[i] == (i % 2 == 0 ? i / 2 * 10 + world_rank : -1),
          "alltoall in place, apart: %d is %g", i, all[i]);
  served += 2;
  free(all);
  MPI_Type_free(&absolute);
  MPI_Type_free(&backwards);
  MPI_Type_free(&apart);
}

// Intercommunicators between halves of the ranks: the host serves them, with correct results.
static void between_groups(void) {
  if (world_size < 2) return;
  MPI_Comm half, both;
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &both);
  int rank, size, all[64];
  MPI_Comm_rank(half, &rank);
  MPI_Comm_remote_size(both, &size);
  for (int round = 0; round < 3; ++round) {
    const int own = world_rank + round;
    const int limit = size < 64 ? size : 0;
    MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, both);
    for (int i = 0; i < limit; ++i)
      CHECK(all[i] == 2 * i + 1 - side + round, "allgather, %d of the others: %d", i, all[i]);
    memset(all, 0, sizeof all);
    int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (side == 1) root = 0;
    MPI_Gather(&own, 1, MPI_INT, all, 1, MPI_INT, root, both);
    for (int i = 0; root == MPI_ROOT && i < limit; ++i)
      CHECK(all[i] == 2 * i + 1 + round, "gather, %d: %d", i, all[i]);
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void large_count_forms(void) {
#if MPI_VERSION >= 4
  enum { n = 5 };
  int* const in = malloc(sizeof(int) * n * (size_t)world_size);
  int* const out = malloc(sizeof(int) * n * (size_t)world_size);
  const MPI_Comm world = MPI_COMM_WORLD;
  for (int i = 0; i < n * world_size; ++i) in[i] = world_rank * 1000 + i;
  MPI_Alltoall_c(in, n, MPI_INT, out, n, MPI_INT, world);
  for (int i = 0; i < n * world_size; ++i)
    CHECK(out[i] == i / n * 1000 + world_rank * n + i % n, "alltoall, %d", i);
  MPI_Allgather_c(in, n, MPI_INT, out, n, MPI_INT, world);
  for (int i = 0; i < n * world_size; ++i)
    CHECK(out[i] == i / n * 1000 + i % n, "allgather, %d", i);
  MPI_Gather_c(in, n, MPI_INT, out, n, MPI_INT, world_size - 1, world);
  for (int i = 0; world_rank == world_size - 1 && i < n * world_size; ++i)
    CHECK(out[i] == i / n * 1000 + i % n, "gather, %d", i);
  MPI_Scatter_c(in, n, MPI_INT, out, n, MPI_INT, 0, world);
  for (int i = 0; i < n; ++i) CHECK(out[i] == world_rank * n + i, "scatter, %d", i);
  const int pairs = world_size * (world_size - 1) / 2;
  MPI_Reduce_scatter_block_c(in, out, n, MPI_INT, MPI_SUM, world);
  for (int i = 0; i < n; ++i)
    CHECK(out[i] == pairs * 1000 + world_size * (world_rank * n + i), "reduce_scatter, %d", i);
  MPI_Scan_c(in, out, n, MPI_INT, MPI_MAX, world);
  for (int i = 0; i < n; ++i) CHECK(out[i] == world_rank * 1000 + i, "scan, %d", i);
  MPI_Exscan_c(in, out, n, MPI_INT, MPI_MAX, world);
  for (int i = 0; world_rank > 0 && i < n; ++i)
    CHECK(out[i] == (world_rank - 1) * 1000 + i, "exscan, %d", i);
  served += 7;
  free(in);
  free(out);
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  make_layouts();
  static const int few[] = {0, 1, 3, 7, 1000}, many[] = {0, 1, 2, 5, 6, 7, 13, 999, 1000};
  static const int long_ones[] = {30000};
  const int thorough = argc > 1 && strcmp(argv[1], "thorough") == 0;
  if (thorough && world_size < 7)
    try_all(many, sizeof many / sizeof *many, 1, layout_count);
  else
    try_all(few, sizeof few / sizeof *few, thorough, layout_count);
  try_all(long_ones, 1, 0, world_size < 4 ? layout_count : 1);
  static const int lengths[] = {1, 5, 37, 3000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) layouts_that_differ(lengths[i]);
  ignored_arguments();
  strange_addresses();
  between_groups();
  large_count_forms();
  free_layouts();
  if (world_rank == 0) printf("served %ld\n", served);
  return finish();
}
