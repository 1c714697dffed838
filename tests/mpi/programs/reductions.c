// Every predefined type with every operation that MPI defines for it, in all forms, compared with
// the host MPI's result. Values are small, so that floating point is exact in any order.
//
// reductions [thorough [SLICE]]: thorough tries more counts; SLICE (0, 1, 2) names the third of all
// triples of type, operation and count that is tried.
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

enum kind { INTEGER, REAL, LONG_REAL, COMPLEX, LONG_COMPLEX, BOOLEAN, BYTES, PAIR };

struct type {
  const char* name;
  MPI_Datatype type;
  enum kind kind;
  int bytes;  // its extent
  void (*fill)(void* buffer, int i, int value);
};

#define FILL(name, ctype) \
  static void name(void* buffer, int i, int value) { ((ctype*)buffer)[i] = (ctype)value; }
FILL(fill_i8, int8_t)
FILL(fill_i16, int16_t)
FILL(fill_i32, int32_t)
FILL(fill_i64, int64_t)
FILL(fill_long, long)
FILL(fill_long_long, long long)
FILL(fill_float, float)
FILL(fill_double, double)
FILL(fill_long_double, long double)
static void fill_float_complex(void* buffer, int i, int value) {
  ((float complex*)buffer)[i] = value + 1.0f * I;
}
static void fill_double_complex(void* buffer, int i, int value) {
  ((double complex*)buffer)[i] = value + 1.0 * I;
}
static void fill_long_complex(void* buffer, int i, int value) {
  ((long double complex*)buffer)[i] = value + 1.0L * I;
}
static void fill_bool(void* buffer, int i, int value) { ((bool*)buffer)[i] = value % 2; }

#define FILL_PAIR(name, ctype)                       \
  static void name(void* buffer, int i, int value) { \
    struct {                                         \
      ctype value;                                   \
      int index;                                     \
    }* pairs = buffer;                               \
    pairs[i].value = (ctype)value;                   \
    pairs[i].index = world_rank * 100 + i % 7;       \
  }
FILL_PAIR(fill_float_int, float)
FILL_PAIR(fill_double_int, double)
FILL_PAIR(fill_long_int, long)
FILL_PAIR(fill_int_int, int)
FILL_PAIR(fill_short_int, short)
FILL_PAIR(fill_long_double_int, long double)

static int ops_of(enum kind kind, MPI_Op* ops) {
  int n = 0;
  if (kind == INTEGER || kind == REAL || kind == LONG_REAL) ops[n++] = MPI_MAX, ops[n++] = MPI_MIN;
  if (kind != BOOLEAN && kind != BYTES && kind != PAIR) ops[n++] = MPI_SUM, ops[n++] = MPI_PROD;
  if (kind == INTEGER || kind == BOOLEAN)
    ops[n++] = MPI_LAND, ops[n++] = MPI_LOR, ops[n++] = MPI_LXOR;
  if (kind == INTEGER || kind == BYTES)
    ops[n++] = MPI_BAND, ops[n++] = MPI_BOR, ops[n++] = MPI_BXOR;
  if (kind == PAIR) ops[n++] = MPI_MAXLOC, ops[n++] = MPI_MINLOC;
  return n;
}

// Padding inside elements may have any value: long doubles are compared as values, pairs in packed
// form.
static int same(const struct type* type, const void* one, const void* other, int count) {
  if (type->kind == LONG_REAL || type->kind == LONG_COMPLEX) {
    const int values = count * (type->kind == LONG_COMPLEX ? 2 : 1);
    for (int i = 0; i < values; ++i)
      if (((const long double*)one)[i] != ((const long double*)other)[i]) return 0;
    return 1;
  }
  int bytes;
  MPI_Pack_size(count, type->type, MPI_COMM_SELF, &bytes);
  char* packed = calloc(2, bytes);
  int at = 0, other_at = 0;
  MPI_Pack(one, count, type->type, packed, bytes, &at, MPI_COMM_SELF);
  MPI_Pack(other, count, type->type, packed + bytes, bytes, &other_at, MPI_COMM_SELF);
  const int equal = at == other_at && memcmp(packed, packed + bytes, at) == 0;
  if (type->type == MPI_LONG_DOUBLE_INT) {
    free(packed);
    const struct {
      long double value;
      int index;
    } *a = one, *b = other;
    for (int i = 0; i < count; ++i)
      if (a[i].value != b[i].value || a[i].index != b[i].index) return 0;
    return 1;
  }
  free(packed);
  return equal;
}

static void try_one(const struct type* type, MPI_Op op, int which, int count) {
  const size_t bytes = (size_t)type->bytes * count;
  char* in = calloc(1, bytes);
  char* out = calloc(1, bytes);
  char* expected = calloc(1, bytes);
  for (int i = 0; i < count; ++i)
    type->fill(in, i, 1 + (world_rank * 3 + i) % 2 + (op == MPI_PROD ? 0 : i % 3));
  PMPI_Allreduce(in, expected, count, type->type, op, MPI_COMM_WORLD);

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
  PMPI_Bcast(expected, count, type->type, root, MPI_COMM_WORLD);
  MPI_Bcast(data, count, type->type, root, MPI_COMM_WORLD);
  CHECK(same(type, data, expected, count), "bcast of %d %s from %d", count, type->name, root);
  free(data);
  free(expected);
}

static int in_slice(int slice, size_t number) { return slice < 0 || number % 3 == (size_t)slice; }

int main(int argc, char** argv) {
  start(&argc, &argv);
  const struct type types[] = {
      {"int8", MPI_INT8_T, INTEGER, 1, fill_i8},
      {"signed char", MPI_SIGNED_CHAR, INTEGER, 1, fill_i8},
      {"int16", MPI_INT16_T, INTEGER, 2, fill_i16},
      {"short", MPI_SHORT, INTEGER, 2, fill_i16},
      {"int32", MPI_INT32_T, INTEGER, 4, fill_i32},
      {"int", MPI_INT, INTEGER, 4, fill_i32},
      {"int64", MPI_INT64_T, INTEGER, 8, fill_i64},
      {"long", MPI_LONG, INTEGER, sizeof(long), fill_long},
      {"long long", MPI_LONG_LONG, INTEGER, sizeof(long long), fill_long_long},
      {"uint8", MPI_UINT8_T, INTEGER, 1, fill_i8},
      {"unsigned char", MPI_UNSIGNED_CHAR, INTEGER, 1, fill_i8},
      {"uint16", MPI_UINT16_T, INTEGER, 2, fill_i16},
      {"uint32", MPI_UINT32_T, INTEGER, 4, fill_i32},
      {"unsigned", MPI_UNSIGNED, INTEGER, 4, fill_i32},
      {"uint64", MPI_UINT64_T, INTEGER, 8, fill_i64},
      {"unsigned long", MPI_UNSIGNED_LONG, INTEGER, sizeof(long), fill_long},
      {"aint", MPI_AINT, INTEGER, sizeof(MPI_Aint), fill_i64},
      {"offset", MPI_OFFSET, INTEGER, sizeof(MPI_Offset), fill_i64},
      {"count", MPI_COUNT, INTEGER, sizeof(MPI_Count), fill_i64},
      {"float", MPI_FLOAT, REAL, 4, fill_float},
      {"double", MPI_DOUBLE, REAL, 8, fill_double},
      {"long double", MPI_LONG_DOUBLE, LONG_REAL, sizeof(long double), fill_long_double},
      {"float complex", MPI_C_FLOAT_COMPLEX, COMPLEX, 8, fill_float_complex},
      {"double complex", MPI_C_DOUBLE_COMPLEX, COMPLEX, 16, fill_double_complex},
      {"long double complex", MPI_C_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, 2 * sizeof(long double),
       fill_long_complex},
      {"bool", MPI_C_BOOL, BOOLEAN, 1, fill_bool},
      {"byte", MPI_BYTE, BYTES, 1, fill_i8},
      {"float-int", MPI_FLOAT_INT, PAIR, 8, fill_float_int},
      {"double-int", MPI_DOUBLE_INT, PAIR, 16, fill_double_int},
      {"long-int", MPI_LONG_INT, PAIR, 2 * sizeof(long), fill_long_int},
      {"int-int", MPI_2INT, PAIR, 8, fill_int_int},
      {"short-int", MPI_SHORT_INT, PAIR, 8, fill_short_int},
      {"long double-int", MPI_LONG_DOUBLE_INT, PAIR, 32, fill_long_double_int},
  };
  static const int few[] = {1, 3, 6, 7, 100, 2049};
  static const int many[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 48, 49, 100, 1000, 4099, 20011};
  const int thorough = argc > 1 && strcmp(argv[1], "thorough") == 0;
  const int* counts = thorough ? many : few;
  const int slice = argc > 2 ? atoi(argv[2]) : -1;
  const int count_count = thorough ? sizeof many / sizeof *many : sizeof few / sizeof *few;

  set_up(MPI_COMM_WORLD);
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
    MPI_Op ops[12];
    const int op_count = ops_of(types[t].kind, ops);
    for (int c = 0; c < count_count; ++c) {
      for (int o = 0; o < op_count; ++o)
        if (in_slice(slice, t + o + c)) try_one(&types[t], ops[o], o, counts[c]);
      if (in_slice(slice, t + c)) try_bcast(&types[t], counts[c]);
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
