// The predefined types of C and the operations that MPI defines for each; how to fill and compare
// their elements.
#pragma once

#define _GNU_SOURCE
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
FILL(put_i8, int8_t)
FILL(put_i16, int16_t)
FILL(put_i32, int32_t)
FILL(put_i64, int64_t)
FILL(put_long, long)
FILL(put_long_long, long long)
FILL(put_float, float)
FILL(put_double, double)
FILL(put_long_double, long double)
static void put_float_complex(void* buffer, int i, int value) {
  ((float complex*)buffer)[i] = value + 1.0f * I;
}
static void put_double_complex(void* buffer, int i, int value) {
  ((double complex*)buffer)[i] = value + 1.0 * I;
}
static void put_long_complex(void* buffer, int i, int value) {
  ((long double complex*)buffer)[i] = value + 1.0L * I;
}
static void put_bool(void* buffer, int i, int value) { ((bool*)buffer)[i] = value % 2; }

#define FILL_PAIR(name, ctype)                       \
  static void name(void* buffer, int i, int value) { \
    struct {                                         \
      ctype value;                                   \
      int index;                                     \
    }* pairs = buffer;                               \
    pairs[i].value = (ctype)value;                   \
    pairs[i].index = world_rank * 100 + i % 7;       \
  }
FILL_PAIR(put_float_int, float)
FILL_PAIR(put_double_int, double)
FILL_PAIR(put_long_int, long)
FILL_PAIR(put_int_int, int)
FILL_PAIR(put_short_int, short)
FILL_PAIR(put_long_double_int, long double)

static inline int ops_of(enum kind kind, MPI_Op* ops) {
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
static inline int same(const struct type* type, const void* one, const void* other, int count) {
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

enum { most_types = 40, most_ops = 12 };

// Writes the table of types and returns its length. Handles of types are no constants in some MPIs.
static inline int predefined_types(struct type* table) {
  const struct type types[] = {
      {"int8", MPI_INT8_T, INTEGER, 1, put_i8},
      {"signed char", MPI_SIGNED_CHAR, INTEGER, 1, put_i8},
      {"int16", MPI_INT16_T, INTEGER, 2, put_i16},
      {"short", MPI_SHORT, INTEGER, 2, put_i16},
      {"int32", MPI_INT32_T, INTEGER, 4, put_i32},
      {"int", MPI_INT, INTEGER, 4, put_i32},
      {"int64", MPI_INT64_T, INTEGER, 8, put_i64},
      {"long", MPI_LONG, INTEGER, sizeof(long), put_long},
      {"long long", MPI_LONG_LONG, INTEGER, sizeof(long long), put_long_long},
      {"uint8", MPI_UINT8_T, INTEGER, 1, put_i8},
      {"unsigned char", MPI_UNSIGNED_CHAR, INTEGER, 1, put_i8},
      {"uint16", MPI_UINT16_T, INTEGER, 2, put_i16},
      {"uint32", MPI_UINT32_T, INTEGER, 4, put_i32},
      {"unsigned", MPI_UNSIGNED, INTEGER, 4, put_i32},
      {"uint64", MPI_UINT64_T, INTEGER, 8, put_i64},
      {"unsigned long", MPI_UNSIGNED_LONG, INTEGER, sizeof(long), put_long},
      {"aint", MPI_AINT, INTEGER, sizeof(MPI_Aint), put_i64},
      {"offset", MPI_OFFSET, INTEGER, sizeof(MPI_Offset), put_i64},
      {"count", MPI_COUNT, INTEGER, sizeof(MPI_Count), put_i64},
      {"float", MPI_FLOAT, REAL, 4, put_float},
      {"double", MPI_DOUBLE, REAL, 8, put_double},
      {"long double", MPI_LONG_DOUBLE, LONG_REAL, sizeof(long double), put_long_double},
      {"float complex", MPI_C_FLOAT_COMPLEX, COMPLEX, 8, put_float_complex},
      {"double complex", MPI_C_DOUBLE_COMPLEX, COMPLEX, 16, put_double_complex},
      {"long double complex", MPI_C_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, 2 * sizeof(long double),
       put_long_complex},
      {"bool", MPI_C_BOOL, BOOLEAN, 1, put_bool},
      {"byte", MPI_BYTE, BYTES, 1, put_i8},
      {"float-int", MPI_FLOAT_INT, PAIR, 8, put_float_int},
      {"double-int", MPI_DOUBLE_INT, PAIR, 16, put_double_int},
      {"long-int", MPI_LONG_INT, PAIR, 2 * sizeof(long), put_long_int},
      {"int-int", MPI_2INT, PAIR, 8, put_int_int},
      {"short-int", MPI_SHORT_INT, PAIR, 8, put_short_int},
      {"long double-int", MPI_LONG_DOUBLE_INT, PAIR, 32, put_long_double_int},
  };
  memcpy(table, types, sizeof types);
  return sizeof types / sizeof *types;
}
