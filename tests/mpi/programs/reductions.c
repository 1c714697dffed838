// Every predefined type with every operation that MPI defines for it, in all forms, compared with
// the host MPI's result. Values are small, so that floating point is exact in any order.
//
// reductions [few|thorough [SLICE SLICES]]: thorough tries more counts; of all triples of type,
// operation and count, one slice is tried (0 to SLICES - 1).
#include "predefined.h"
#include "host.h"

static void try_one(const struct type* type, MPI_Op op, int which, int count) {
  const size_t bytes = (size_t)type->bytes * count;
  char* in = calloc(1, bytes);
  char* out = calloc(1, bytes);
  char* expected = calloc(1, bytes);
  for (int i = 0; i < count; ++i)
    type->fill(in, i, 1 + (world_rank * 3 + i) % 2 + (op == MPI_PROD ? 0 : i % 3));
  HOST(Allreduce)(in, expected, count, type->type, op, MPI_COMM_WORLD);

  MPI_Allreduce(in, out, count, type->type, op, MPI_COMM_WORLD);
  CHECK(same(type, out, expected, count), "allreduce of %d %s, op %d", count, type->name, which);
  memcpy(out, in, bytes);
  MPI_Allreduce(MPI_IN_PLACE, out, count, type->type, op, MPI_COMM_WORLD);
  CHECK(same(type, out, expected, count), "allreduce in place of %d %s, op %d", count, type->name,
        which);

  const int root = (count + which) % world_size;
  memset(out, 0, bytes);
  MPI_Reduce(in, world_rank == root ? out : NULL, count, type->type, op, root, MPI_COMM_WORLD);
  if (world_rank == root)
    CHECK(same(type, out, expected, count), "reduce of %d %s to %d, op %d", count, type->name, root,
          which);
  memcpy(out, in, bytes);
  MPI_Reduce(world_rank == root ? MPI_IN_PLACE : out, out, count, type->type, op, root,
             MPI_COMM_WORLD);
  if (world_rank == root)
    CHECK(same(type, out, expected, count), "reduce in place of %d %s to %d, op %d", count,
          type->name, root, which);
  // Rank i gets i more elements than rank 0, as far as there are so many.
  int counts[64], before = 0, given = 0;
  for (int i = 0; i < world_size; ++i) {
    const int left = count - given, wanted = count / world_size + i;
    counts[i] = i + 1 == world_size || wanted > left ? left : wanted;
    if (i < world_rank) before += counts[i];
    given += counts[i];
  }
  memset(out, 0, bytes);
  MPI_Reduce_scatter(in, out, counts, type->type, op, MPI_COMM_WORLD);
  CHECK(same(type, out, expected + (size_t)before * (size_t)type->bytes, counts[world_rank]),
        "reduce_scatter of %d %s, op %d", count, type->name, which);
  free(in);
  free(out);
  free(expected);
}

static void try_bcast(const struct type* type, int count) {
  const size_t bytes = (size_t)type->bytes * count;
  char* data = calloc(1, bytes);
  char* expected = calloc(1, bytes);
  const int root = count % world_size;
  for (int i = 0; i < count; ++i) type->fill(data, i, 1 + (world_rank + i) % 100);
  memcpy(expected, data, bytes);
  HOST(Bcast)(expected, count, type->type, root, MPI_COMM_WORLD);
  MPI_Bcast(data, count, type->type, root, MPI_COMM_WORLD);
  CHECK(same(type, data, expected, count), "bcast of %d %s from %d", count, type->name, root);
  free(data);
  free(expected);
}

static int slice, slices = 1;
static int in_slice(int number) { return number % slices == slice; }

int main(int argc, char** argv) {
  start(&argc, &argv);
  struct type types[most_types];
  const int type_count = predefined_types(types);
  static const int few[] = {1, 3, 6, 7, 100, 2049};
  static const int many[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 48, 49, 100, 1000, 4099, 20011};
  const int thorough = argc > 1 && strcmp(argv[1], "thorough") == 0;
  const int* counts = thorough ? many : few;
  if (argc > 3) slice = atoi(argv[2]), slices = atoi(argv[3]);
  const int count_count = thorough ? sizeof many / sizeof *many : sizeof few / sizeof *few;

  set_up(MPI_COMM_WORLD);
  for (int t = 0; t < type_count; ++t) {
    MPI_Op ops[most_ops];
    const int op_count = ops_of(types[t].kind, ops);
    for (int c = 0; c < count_count; ++c) {
      for (int o = 0; o < op_count; ++o)
        if (in_slice(t + o + c)) try_one(&types[t], ops[o], o, counts[c]);
      if (in_slice(t + c)) try_bcast(&types[t], counts[c]);
    }
  }
  // A call with no elements.
  int nothing = 5;
  MPI_Allreduce(&nothing, &nothing + 1, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(NULL, 0, MPI_INT, world_size - 1, MPI_COMM_WORLD);
  MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  CHECK(nothing == 5, "an empty call wrote something");
  return finish();
}
