// Predefined operations on predefined types for which Tutti has no kernels: Fortran's long and
// short numbers, and types that MPI makes on request. Results are compared with the host MPI's; if
// the host lacks the type or MPI does not define the operation ("errors"), its error is.
#define _GNU_SOURCE
#include <stdint.h>

#include "check.h"
#include "host.h"

typedef void fill_function(void* buffer, int i, int value);

#define FILL(name, ctype) \
  static inline void name(void* buffer, int i, int value) { ((ctype*)buffer)[i] = (ctype)value; }
FILL(fill_logical1, int8_t)
FILL(fill_logical2, int16_t)
FILL(fill_logical4, int32_t)
FILL(fill_logical8, int64_t)
FILL(fill_double, double)
FILL(fill_integer16, __int128)
FILL(fill_real16, __float128)
static inline void fill_complex32(void* buffer, int i, int value) {
  ((__float128*)buffer)[2 * i] = value;
  ((__float128*)buffer)[2 * i + 1] = 1;
}
static inline void fill_real2(void* buffer, int i, int value) {
  static const uint16_t numbers[] = {0x0000, 0x3c00, 0x4000, 0x4200};  // 0, 1, 2, 3
  ((uint16_t*)buffer)[i] = numbers[value];
}
static inline void fill_complex4(void* buffer, int i, int value) {
  fill_real2(buffer, 2 * i, value);
  fill_real2(buffer, 2 * i + 1, 1);
}
struct pair {
  short value;
  double index;
};
static inline void fill_pair(void* buffer, int i, int value) {
  struct pair* pairs = buffer;
  pairs[i].value = (short)value;
  pairs[i].index = world_rank * 100 + i % 7;
}

static int host_knows(MPI_Datatype type, MPI_Op op) {
  _Alignas(32) char in[64] = {0}, inout[64] = {0};
  return HOST(Reduce_local)(in, inout, 1, type, op) == MPI_SUCCESS;
}

// False if the host adds MPI_REAL16 as long double, as Debian's MPIs do.
static int host_adds(void) {
  __float128 one = 1, sum = 1;
  return HOST(Reduce_local)(&one, &sum, 1, MPI_REAL16, MPI_SUM) != MPI_SUCCESS || sum == 2;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

static void same_error(const char* name, MPI_Datatype type, MPI_Op op) {
  _Alignas(32) char in[64] = {0}, out[64] = {0};
  const int with = class_of(MPI_Allreduce(in, out, 1, type, op, MPI_COMM_WORLD));
  const int without = class_of(HOST(Allreduce)(in, out, 1, type, op, MPI_COMM_WORLD));
  CHECK(with == without && with != MPI_SUCCESS, "%s: error class %d, the host alone %d", name, with,
        without);
}

static int served;

static void try_one(const char* name, MPI_Datatype type, MPI_Op op, fill_function* fill,
                    int count) {
  if (type == MPI_DATATYPE_NULL) return;
  int size = 0;
  MPI_Aint lower, extent;
  if (MPI_Type_size(type, &size) != MPI_SUCCESS || size == 0) return;
  if (!host_knows(type, op)) {
    same_error(name, type, op);
    return;
  }
  MPI_Type_get_extent(type, &lower, &extent);
  const size_t bytes = (size_t)extent * count;
  char* in = calloc(1, bytes);
  char* out = calloc(1, bytes);
  char* expected = calloc(1, bytes);
  for (int i = 0; i < count; ++i) {
    int value = (world_rank + i) % 2;
    if (op == MPI_PROD)
      value = 1;
    else if (op != MPI_SUM)
      value += i % 2;
    fill(in, i, value);
  }
  HOST(Allreduce)(in, expected, count, type, op, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
  CHECK(memcmp(out, expected, bytes) == 0, "allreduce of %d %s", count, name);
  memcpy(out, in, bytes);
  MPI_Allreduce(MPI_IN_PLACE, out, count, type, op, MPI_COMM_WORLD);
  CHECK(memcmp(out, expected, bytes) == 0, "allreduce in place of %d %s", count, name);
  for (int root = 0; root < world_size; ++root) {
    memset(out, 0, bytes);
    MPI_Reduce(in, world_rank == root ? out : NULL, count, type, op, root, MPI_COMM_WORLD);
    if (world_rank == root)
      CHECK(memcmp(out, expected, bytes) == 0, "reduce of %d %s to %d", count, name, root);
  }
  served += 2 + world_size;
  free(in);
  free(out);
  free(expected);
}

static void try_types(int count) {
#define TRY(type, op, fill) try_one(#type " by " #op, type, op, fill, count)
#define TRY_NUMBER(type, fill) \
  do {                         \
    TRY(type, MPI_SUM, fill);  \
    TRY(type, MPI_PROD, fill); \
  } while (0)
  if (host_adds()) {
    TRY_NUMBER(MPI_REAL16, fill_real16);
    TRY(MPI_REAL16, MPI_MAX, fill_real16);
    TRY(MPI_REAL16, MPI_MIN, fill_real16);
  }
  if (host_adds() || !host_knows(MPI_COMPLEX32, MPI_SUM)) TRY_NUMBER(MPI_COMPLEX32, fill_complex32);
#ifdef MPI_INTEGER16
  TRY_NUMBER(MPI_INTEGER16, fill_integer16);
  TRY(MPI_INTEGER16, MPI_MAX, fill_integer16);
  TRY(MPI_INTEGER16, MPI_BXOR, fill_integer16);
#endif
#if !defined(OPEN_MPI) && defined(MPI_REAL2)  // Open MPI has names of types that it does not have
  TRY_NUMBER(MPI_REAL2, fill_real2);
  TRY(MPI_REAL2, MPI_MAX, fill_real2);
  TRY_NUMBER(MPI_COMPLEX4, fill_complex4);
#endif
#ifdef MPI_LOGICAL1
  TRY(MPI_LOGICAL1, MPI_LAND, fill_logical1);
  TRY(MPI_LOGICAL2, MPI_LOR, fill_logical2);
  TRY(MPI_LOGICAL4, MPI_LXOR, fill_logical4);
  TRY(MPI_LOGICAL8, MPI_LAND, fill_logical8);
#endif
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, 307, &type);
  try_one("f90 real of 15 digits by MPI_SUM", type, MPI_SUM, fill_double, count);
  MPI_Type_create_f90_integer(9, &type);
  try_one("f90 integer of 9 digits by MPI_BOR", type, MPI_BOR, fill_logical4, count);
#ifndef OPEN_MPI  // Open MPI's wheel has no such type
  int size = 0;
  MPI_Type_create_f90_real(30, MPI_UNDEFINED, &type);
  MPI_Type_size(type, &size);
  if (size == sizeof(__float128))
    try_one("f90 real of 30 digits by MPI_MAX", type, MPI_MAX, fill_real16, count);
#endif
#if MPI_VERSION > 4
  MPI_Type_get_value_index(MPI_SHORT, MPI_DOUBLE, &type);
  try_one("pair of short and double by MPI_MAXLOC", type, MPI_MAXLOC, fill_pair, count);
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (argc > 1 && strcmp(argv[1], "errors") == 0) {
    same_error("MPI_BAND on MPI_DOUBLE", MPI_DOUBLE, MPI_BAND);
    same_error("MPI_MAX on MPI_COMPLEX", MPI_COMPLEX, MPI_MAX);
    same_error("MPI_MAXLOC on MPI_INT", MPI_INT, MPI_MAXLOC);
    same_error("MPI_BXOR on MPI_REAL16", MPI_REAL16, MPI_BXOR);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == world_size, "after the errors: %d", sum);
    return finish();
  }
  static const int counts[] = {1, 3, 7, 100, 3001};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) try_types(counts[i]);
  if (world_rank == 0) printf("served %d\n", served);
  return finish();
}
