// Derived datatypes and user operations: layouts with gaps, in another order, or different at every
// rank, and operations that do not commute.
#include <stddef.h>

#include "check.h"

enum { n = 37, modulus = 10007 };

// The root's doubles have gaps between them, those of other ranks do not: only the type signature
// must match.
static void bcast_between_layouts(int root, int elements) {
  MPI_Datatype apart;
  MPI_Type_vector(elements, 1, 3, MPI_DOUBLE, &apart);
  MPI_Type_commit(&apart);
  double* wide = malloc(sizeof(double) * 3 * elements);
  for (int i = 0; i < 3 * elements; ++i) wide[i] = world_rank == root ? i : -1;
  if (world_rank % 2 == root % 2)
    MPI_Bcast(wide, 1, apart, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(wide, elements, MPI_DOUBLE, root, MPI_COMM_WORLD);
  for (int i = 0; i < elements; ++i)
    CHECK(wide[world_rank % 2 == root % 2 ? 3 * i : i] == 3 * i, "element %d of %d from %d", i,
          elements, root);
  if (world_rank % 2 == root % 2 && world_rank != root) CHECK(wide[1] == -1, "a gap was written");
  MPI_Type_free(&apart);
  free(wide);
}

// A type without gaps whose parts are in another order.
static void bcast_permuted(int root) {
  MPI_Datatype swapped;
  const int lengths[] = {1, 1}, places[] = {1, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  int pair[2] = {-1, -1};
  if (world_rank == root) pair[0] = 10, pair[1] = 20;
  if (world_rank == root)
    MPI_Bcast(pair, 1, swapped, root, MPI_COMM_WORLD);  // sends 20, 10
  else
    MPI_Bcast(pair, 2, MPI_INT, root, MPI_COMM_WORLD);
  if (world_rank != root) CHECK(pair[0] == 20 && pair[1] == 10, "got %d %d", pair[0], pair[1]);
  MPI_Type_free(&swapped);
}

static void bcast_absolute_and_negative(int root) {
  double value = world_rank == root ? 3.25 : 0;
  MPI_Aint address;
  MPI_Get_address(&value, &address);
  MPI_Datatype absolute, backwards;
  const int one = 1;
  const MPI_Datatype type = MPI_DOUBLE;
  MPI_Type_create_struct(1, &one, &address, &type, &absolute);
  MPI_Type_commit(&absolute);
  MPI_Bcast(MPI_BOTTOM, 1, absolute, root, MPI_COMM_WORLD);
  CHECK(value == 3.25, "got %g through MPI_BOTTOM", value);
  MPI_Type_free(&absolute);

  int numbers[8];
  for (int i = 0; i < 8; ++i) numbers[i] = world_rank == root ? i : -1;
  MPI_Type_vector(4, 1, -2, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  MPI_Bcast(numbers + 6, 1, backwards, root, MPI_COMM_WORLD);
  for (int i = 0; i < 8; i += 2) CHECK(numbers[i] == i, "backwards, element %d: %d", i, numbers[i]);
  MPI_Type_free(&backwards);
}

static void bcast_dense_constructions(int root) {
  MPI_Datatype five, copy;
  MPI_Type_contiguous(5, MPI_INT, &five);
  MPI_Type_dup(five, &copy);
  MPI_Type_commit(&copy);
  int numbers[5 * n];
  for (int i = 0; i < 5 * n; ++i) numbers[i] = world_rank == root ? i : -1;
  MPI_Bcast(numbers, n, copy, root, MPI_COMM_WORLD);
  for (int i = 0; i < 5 * n; ++i) CHECK(numbers[i] == i, "element %d", i);
  MPI_Type_free(&five);
  MPI_Type_free(&copy);
}

// 2x2 matrices modulo a prime: their product is associative and depends on the order.
struct matrix {
  int a, b, c, d;
};

static struct matrix multiply(struct matrix x, struct matrix y) {
  const struct matrix result = {
      (x.a * y.a + x.b * y.c) % modulus, (x.a * y.b + x.b * y.d) % modulus,
      (x.c * y.a + x.d * y.c) % modulus, (x.c * y.b + x.d * y.d) % modulus};
  return result;
}

static void multiply_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    ((struct matrix*)inout)[i] = multiply(((struct matrix*)in)[i], ((struct matrix*)inout)[i]);
}

static struct matrix matrix_of(int rank, int i) {
  const struct matrix result = {1 + rank, i % 5, rank * i % 11, 2 + i % 3};
  return result;
}

static void noncommutative(int count) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(multiply_op, 0, &op);
  struct matrix* in = malloc(sizeof *in * count);
  struct matrix* out = malloc(sizeof *out * count);
  struct matrix* expected = malloc(sizeof *expected * count);
  for (int i = 0; i < count; ++i) {
    in[i] = matrix_of(world_rank, i);
    expected[i] = matrix_of(0, i);
    for (int rank = 1; rank < world_size; ++rank)
      expected[i] = multiply(expected[i], matrix_of(rank, i));
  }
  MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
  CHECK(memcmp(out, expected, sizeof *out * count) == 0, "allreduce of %d matrices", count);
  for (int root = 0; root < world_size; ++root) {
    memcpy(out, in, sizeof *out * count);
    MPI_Reduce(world_rank == root ? MPI_IN_PLACE : in, out, count, type, op, root, MPI_COMM_WORLD);
    if (world_rank == root)
      CHECK(memcmp(out, expected, sizeof *out * count) == 0, "reduce of %d to %d", count, root);
  }
  free(in);
  free(out);
  free(expected);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

// An operation that reads the user's layout: a char, a gap, a double, and 8 bytes that it must not
// touch.
struct record {
  char tag;
  double value;
  long untouched;
};

static void record_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower, extent;
  PMPI_Type_get_extent(*type, &lower, &extent);
  CHECK(extent == sizeof(struct record), "the operation sees an extent of %ld", (long)extent);
  for (int i = 0; i < *count; ++i) {
    ((struct record*)inout)[i].tag += ((struct record*)in)[i].tag;
    ((struct record*)inout)[i].value += ((struct record*)in)[i].value;
  }
}

static void operation_with_gaps(int count) {
  MPI_Datatype parts, type;
  MPI_Op op;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct record, tag), offsetof(struct record, value)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &parts);
  MPI_Type_create_resized(parts, 0, sizeof(struct record), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(record_op, 1, &op);
  struct record* in = calloc(count, sizeof *in);
  struct record* out = calloc(count, sizeof *out);
  for (int i = 0; i < count; ++i) {
    in[i].tag = 1, in[i].value = world_rank + i, in[i].untouched = 1;
    out[i].untouched = 77;
  }
  const double ranks = world_size * (world_size - 1) / 2;
  for (int place = 0; place < 2; ++place) {
    if (place == 1)
      for (int i = 0; i < count; ++i) out[i].tag = in[i].tag, out[i].value = in[i].value;
    MPI_Allreduce(place == 1 ? MPI_IN_PLACE : in, out, count, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i)
      CHECK(out[i].tag == world_size && out[i].value == ranks + (double)i * world_size &&
                out[i].untouched == 77,
            "record %d of %d: %d %g %ld", i, count, out[i].tag, out[i].value, out[i].untouched);
  }
  const int root = count % world_size;
  memset(out, 0, count * sizeof *out);
  MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD);
  if (world_rank == root)
    for (int i = 0; i < count; ++i)
      CHECK(out[i].value == ranks + (double)i * world_size, "record %d", i);
  free(in);
  free(out);
  MPI_Op_free(&op);
  MPI_Type_free(&parts);
  MPI_Type_free(&type);
}

// Elements too large for any slot.
static void sum_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes;
  PMPI_Type_size(*type, &bytes);
  for (int i = 0; i < *count * (bytes / (int)sizeof(int)); ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void large_elements(int integers) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(integers, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(sum_all, 1, &op);
  int* in = malloc(sizeof(int) * integers * 3);
  int* out = malloc(sizeof(int) * integers * 3);
  for (int i = 0; i < integers * 3; ++i) in[i] = i + world_rank;
  MPI_Allreduce(in, out, 3, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < integers * 3; ++i)
    CHECK(out[i] == i * world_size + world_size * (world_size - 1) / 2, "integer %d of %d", i,
          integers);
  free(in);
  free(out);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  for (int root = 0; root < world_size; ++root) {
    bcast_between_layouts(root, 1);
    bcast_between_layouts(root, n);
    bcast_between_layouts(root, 40000);
    bcast_permuted(root);
    bcast_absolute_and_negative(root);
    bcast_dense_constructions(root);
  }
  static const int counts[] = {1, 2, 3, 4, 10, 333, 5000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    noncommutative(counts[i]);
    operation_with_gaps(counts[i]);
  }
  for (int integers = 8; integers <= 65536; integers *= 4) large_elements(integers);
  return finish();
}
