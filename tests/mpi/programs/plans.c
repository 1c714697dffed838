// Collectives whose results depend on the order in which ranks are combined, compared with the
// result that each rank computes by itself. Arguments: "bits" compares floating point with the left
// fold over ranks, bit by bit; "split" also works on halves of the ranks; "roots" makes every rank
// the root; "inter" uses an intercommunicator between the halves.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "host.h"

struct affine {
  uint32_t a, b;
};

static struct affine after(struct affine left, struct affine right) {
  return (struct affine){left.a * right.a, left.b * right.a + right.b};
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  struct affine *left = in, *right = inout;
  for (int i = 0; i < *count; ++i) right[i] = after(left[i], right[i]);
}

static struct affine affine_of(int rank, int i) {
  return (struct affine){2u * rank + 3, rank + 5u * (i % 3)};
}

// Numbers of many magnitudes: almost every order of adding them gives other bits.
static double number(int rank, int i) {
  uint64_t x =
      (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t)(i % 977) * 0xBF58476D1CE4E5B9u;
  x ^= x >> 31, x *= 0x94D049BB133111EBu, x ^= x >> 29;
  return ldexp((double)(x % 2000003) - 1e6, (int)(x >> 40) % 60 - 30);
}

static int ranks, rank, exact;
static MPI_Comm communicator;

static void try_integers(int count, int in_place) {
  int* in = malloc(sizeof(int) * count);
  int* out = malloc(sizeof(int) * count);
  for (int i = 0; i < count; ++i) in[i] = out[i] = rank * 1000 + i % 13;
  MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, communicator);
  for (int i = 0; i < count; ++i)
    CHECK(out[i] == 1000 * (ranks * (ranks - 1) / 2) + ranks * (i % 13), "integer %d of %d", i,
          count);
  free(in);
  free(out);
}

static void try_numbers(int count, int in_place, int root) {
  double* in = malloc(sizeof(double) * count);
  double* out = malloc(sizeof(double) * count);
  for (int i = 0; i < count; ++i) in[i] = out[i] = number(rank, i);
  const int receives = root < 0 || rank == root;
  if (root < 0)
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, communicator);
  else
    MPI_Reduce(in_place && receives ? MPI_IN_PLACE : in, out, count, MPI_DOUBLE, MPI_SUM, root,
               communicator);
  for (int i = 0; i < count && receives; ++i) {
    double sum = number(0, i), size = fabs(sum);
    for (int other = 1; other < ranks; ++other)
      sum += number(other, i), size += fabs(number(other, i));
    CHECK(fabs(out[i] - sum) <= 1e-14 * size, "number %d of %d: %a, not %a", i, count, out[i], sum);
    if (exact)
      CHECK(memcmp(&out[i], &sum, sizeof sum) == 0, "bits of number %d of %d: %a, not %a", i, count,
            out[i], sum);
  }
  if (root < 0) {  // all ranks must have the same bits
    double* first = malloc(sizeof(double) * count);
    memcpy(first, out, sizeof(double) * count);
    HOST(Bcast)(first, count, MPI_DOUBLE, 0, communicator);
    CHECK(memcmp(first, out, sizeof(double) * count) == 0, "ranks have different bits");
    free(first);
  }
  free(in);
  free(out);
}

static void try_composition(int count, MPI_Datatype type, MPI_Op op) {
  struct affine* in = malloc(sizeof *in * count);
  struct affine* out = malloc(sizeof *out * count);
  for (int i = 0; i < count; ++i) in[i] = affine_of(rank, i);
  MPI_Allreduce(in, out, count, type, op, communicator);
  for (int i = 0; i < count; ++i) {
    struct affine expected = affine_of(0, i);
    for (int other = 1; other < ranks; ++other) expected = after(expected, affine_of(other, i));
    CHECK(out[i].a == expected.a && out[i].b == expected.b, "composition %d of %d", i, count);
  }
  free(in);
  free(out);
}

static void try_bcast(int count, int root) {
  int* data = malloc(sizeof(int) * count);
  for (int i = 0; i < count; ++i) data[i] = rank == root ? root + i : -1;
  MPI_Bcast(data, count, MPI_INT, root, communicator);
  for (int i = 0; i < count; ++i)
    CHECK(data[i] == root + i, "bcast %d of %d from %d", i, count, root);
  free(data);
}

static void try_all(MPI_Comm on, int roots) {
  static const int counts[] = {1, 6, 7, 100, 3000, 20000};
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(compose, 0, &op);
  communicator = on;
  MPI_Comm_rank(on, &rank);
  MPI_Comm_size(on, &ranks);
  for (int c = 0; c < (int)(sizeof counts / sizeof *counts); ++c) {
    MPI_Barrier(on);
    for (int in_place = 0; in_place < 2; ++in_place) {
      try_integers(counts[c], in_place);
      try_numbers(counts[c], in_place, -1);
    }
    for (int root = 0; root < (roots ? ranks : 1); ++root) {
      try_numbers(counts[c], root % 2, root);
      try_bcast(counts[c], root);
    }
    try_composition(counts[c], type, op);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

static void meet(void) {
  MPI_Comm half, both;
  const int side = world_rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 7, &both);
  int own = 1, theirs = 0, size;
  MPI_Allreduce(&own, &theirs, 1, MPI_INT, MPI_SUM, both);
  MPI_Comm_remote_size(both, &size);
  CHECK(theirs == size, "%d ranks on the other side, not %d", theirs, size);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int split = 0, roots = 0, inter = 0;
  for (int i = 1; i < argc; ++i) {
    exact |= strcmp(argv[i], "bits") == 0;
    split |= strcmp(argv[i], "split") == 0;
    roots |= strcmp(argv[i], "roots") == 0;
    inter |= strcmp(argv[i], "inter") == 0;
  }
  try_all(MPI_COMM_WORLD, roots);
  if (split) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    try_all(half, roots);
    MPI_Comm_free(&half);
  }
  if (inter) meet();
  return finish();
}
