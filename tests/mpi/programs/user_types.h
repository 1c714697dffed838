// Types, some of them with gaps, and operations on them, some of which do not commute.
#pragma once

#include <stddef.h>

#include "check.h"

// A type and an operation on it whose results are exact, however operands are grouped; `fill`
// writes one element.
struct layout {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t extent;
  void (*fill)(void* element, int value);
};

// 2x2 matrices modulo a prime: their product is associative and depends on the order.
struct matrix {
  int a, b, c, d;
};
// A record with gaps inside and at its end.
struct record {
  char tag;
  double value;
  long gap;
};

static void multiply_matrices(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct matrix* left = in;
  struct matrix* right = inout;
  for (int i = 0; i < *count; ++i) {
    const struct matrix x = left[i], y = right[i];
    right[i].a = (x.a * y.a + x.b * y.c) % 10007, right[i].b = (x.a * y.b + x.b * y.d) % 10007;
    right[i].c = (x.c * y.a + x.d * y.c) % 10007, right[i].d = (x.c * y.b + x.d * y.d) % 10007;
  }
}
static void add_records(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) {
    ((struct record*)inout)[i].tag ^= ((struct record*)in)[i].tag;
    ((struct record*)inout)[i].value += ((struct record*)in)[i].value;
  }
}
// Two doubles with gaps between them: the first ones are added; the result's second one is that of
// the last operand, so the result depends on the order.
static void last_pair(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)inout)[4 * i] += ((double*)in)[4 * i];
}

static void fill_int(void* element, int value) { *(int*)element = value; }
static void fill_double(void* element, int value) { *(double*)element = value; }
static void fill_char(void* element, int value) {
  *(signed char*)element = (signed char)(value % 3);
}
static void fill_apart(void* element, int value) {
  ((double*)element)[0] = value;
  ((double*)element)[2] = value * 0.5;
}
static void fill_record(void* element, int value) {
  ((struct record*)element)->tag = (char)(value % 100);
  ((struct record*)element)->value = value;
}
static void fill_matrix(void* element, int value) {
  const struct matrix matrix = {1 + value % 7, value % 5, value % 11, 2 + value % 3};
  *(struct matrix*)element = matrix;
}

enum { named_layouts = 3, layout_count = 6 };
static struct layout layouts[layout_count];

static inline void make_layouts(void) {
  MPI_Datatype apart, wide, parts, record, four, matrix;
  MPI_Op order, matrices, records;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &apart);
  MPI_Type_create_resized(apart, 0, 4 * sizeof(double), &wide);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct record, tag), offsetof(struct record, value)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &parts);
  MPI_Type_create_resized(parts, 0, sizeof(struct record), &record);
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_dup(four, &matrix);
  MPI_Type_commit(&wide);
  MPI_Type_commit(&record);
  MPI_Type_commit(&matrix);
  MPI_Type_free(&apart);
  MPI_Type_free(&parts);
  MPI_Type_free(&four);
  MPI_Op_create(last_pair, 0, &order);
  MPI_Op_create(multiply_matrices, 0, &matrices);
  MPI_Op_create(add_records, 1, &records);
  const struct layout made[layout_count] = {
      {"int", MPI_INT, MPI_SUM, sizeof(int), fill_int},
      {"double", MPI_DOUBLE, MPI_MAX, sizeof(double), fill_double},
      {"signed char", MPI_SIGNED_CHAR, MPI_SUM, 1, fill_char},
      {"doubles apart", wide, order, 4 * sizeof(double), fill_apart},
      {"record with gaps", record, records, sizeof(struct record), fill_record},
      {"matrix", matrix, matrices, sizeof(struct matrix), fill_matrix},
  };
  memcpy(layouts, made, sizeof made);
}

static inline void free_layouts(void) {
  for (int i = named_layouts; i < layout_count; ++i) {
    MPI_Type_free(&layouts[i].type);
    MPI_Op_free(&layouts[i].op);
  }
}
