/* Dense matrix times vector, with the matrix distributed by columns:
 *
 *   mpiexec -n RANKS matvec [--size N] [--iterations K]
 *
 * Rank 0 makes an N x N matrix and scatters its columns (MPI_Scatter), and broadcasts the vector
 * (MPI_Bcast). In each iteration every rank multiplies its columns by its part of the vector, which
 * gives N partial sums, and MPI_Reduce adds the partial sums of all ranks at rank 0. Then every
 * rank changes its part of the vector by a rule, so that no two iterations have the same result.
 *
 * All entries are small whole numbers, so sums are exact in any order, and rank 0 verifies each
 * result: the sum over a product's rows is the sum over j of x[j] times the sum of column j. */
#include <cblas.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"
#include "options.h"
#include "phases.h"

enum { scatter, bcast, compute, reduce, phase_count };

typedef struct {
  long size;       /* rows, and columns */
  long columns;    /* the columns of a rank; the last ranks' may be padding, full of zeros */
  int rank, ranks; /* */
  double* matrix;  /* at rank 0: all columns, one after another; else NULL */
  double* part;    /* this rank's columns */
  double* vector;  /* all of it, and padding */
  double* partial; /* this rank's sums, by row */
  double* product; /* at rank 0 */
  double* all;     /* at rank 0: the sum of all products */
} Problem;

/* OpenBLAS computes by threads of its own unless it is told not to; other libraries lack this. */
void openblas_set_num_threads(int threads) __attribute__((weak));

static double entry(uint64_t row, uint64_t column) {
  uint64_t x = row * 0x9e3779b97f4a7c15u + column * 0xc2b2ae3d27d4eb4fu;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93u;
  return (double)((x >> 40) % 17) - 8;
}

/* The rule by which the vector changes: from -8 ... 8 to the next one, and from 8 to -8. */
static double next(double x) { return x == 8 ? -8 : x + 1; }

static double* numbers(size_t count) {
  return options_memory("matvec", count, sizeof(double), "give a smaller --size");
}

static void make(Problem* p) {
  const size_t n = (size_t)p->size, padded = (size_t)(p->columns * p->ranks);
  p->part = numbers(n * (size_t)p->columns);
  p->vector = numbers(padded);
  p->partial = numbers(n);
  if (p->rank != 0) return;
  p->matrix = numbers(n * padded);
  p->product = numbers(n);
  p->all = numbers(n);
  for (size_t column = 0; column < n; ++column) {
    for (size_t row = 0; row < n; ++row) p->matrix[column * n + row] = entry(row, column);
    p->vector[column] = entry(column, n);
  }
}

static void iterate(Problem* p, Phase* phases) {
  double* const mine = p->vector + p->rank * p->columns;
  phase_begin(&phases[compute]);
  cblas_dgemv(CblasColMajor, CblasNoTrans, (int)p->size, (int)p->columns, 1, p->part, (int)p->size,
              mine, 1, 0, p->partial, 1);
  for (long j = 0; j < p->columns; ++j) mine[j] = next(mine[j]);
  phase_end(&phases[compute]);
  phase_begin(&phases[reduce]);
  MPI_Reduce(p->partial, p->product, (int)p->size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  phase_end(&phases[reduce]);
  if (p->rank == 0)
    for (long i = 0; i < p->size; ++i) p->all[i] += p->product[i];
}

/* At rank 0: whether the sum of all products is right, and a hash of it. */
static int verify(const Problem* p, const double* start, long iterations, uint64_t* hash) {
  double expected = 0, found = 0;
  for (long column = 0; column < p->size; ++column) {
    double sum = 0, x = start[column], of_x = 0;
    for (long row = 0; row < p->size; ++row) sum += p->matrix[column * p->size + row];
    for (long k = 0; k < iterations; ++k, x = next(x)) of_x += x;
    expected += sum * of_x;
  }
  *hash = hash_begin;
  for (long row = 0; row < p->size; ++row) {
    found += p->all[row];
    hash_word(hash, (uint64_t)(int64_t)p->all[row]);
  }
  return expected == found;
}

int main(int argc, char** argv) {
  long size = 4096, iterations = 128;
  const Option options[] = {
      {"--size", &size, 1, 1 << 20, "rows and columns", 1, NULL},
      {"--iterations", &iterations, 1, 1000000, "products", 1, NULL},
  };
  Problem p = {0};
  MPI_Init(&argc, &argv);
  options_read("matvec", "Multiplies a dense matrix by vectors.", argc, argv, options, 2);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  p.size = size;
  p.columns = (size + p.ranks - 1) / p.ranks;
  if (p.columns > INT_MAX / size)
    options_refuse("matvec",
                   "--size: a rank's columns have more than 2147483647 numbers; give a smaller "
                   "size or more ranks");
  make(&p);
  double* const start = p.rank == 0 ? numbers((size_t)size) : NULL;
  for (long i = 0; start != NULL && i < size; ++i) start[i] = p.vector[i];

  Phase phases[phase_count] = {{"scatter", PHASE_COMMUNICATION, 0, 0},
                               {"bcast", PHASE_COMMUNICATION, 0, 0},
                               {"compute", PHASE_COMPUTATION, 0, 0},
                               {"reduce", PHASE_COMMUNICATION, 0, 0}};
  const int part = (int)(size * p.columns), padded = (int)(p.columns * p.ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  phase_begin(&phases[scatter]);
  MPI_Scatter(p.matrix, part, MPI_DOUBLE, p.part, part, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  phase_end(&phases[scatter]);
  phase_begin(&phases[bcast]);
  MPI_Bcast(p.vector, padded, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  phase_end(&phases[bcast]);
  for (long k = 0; k < iterations; ++k) iterate(&p, phases);
  const double whole = MPI_Wtime() - began;

  phases_print(phases, phase_count, whole, MPI_COMM_WORLD);
  int right = 1;
  if (p.rank == 0) {
    uint64_t hash;
    right = verify(&p, start, iterations, &hash);
    printf("answer products %016llx\n", (unsigned long long)hash);
    printf("# size %ld, %ld iterations; a rank has %ld columns; a reduce has %ld bytes\n", size,
           iterations, p.columns, 8 * size);
    if (!right) fprintf(stderr, "matvec: the products are wrong: their sum is not the columns'\n");
  }
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
