/* All values of a distributed array become one element, as UPC's reductions do:
 *
 *   mpiexec -n RANKS array_reduce [--elements N] [--iterations K] [--vectors 0|1]
 *
 * Every rank has N doubles. In each iteration it changes all of them, folds them to one number by a
 * loop, and MPI_Reduce adds the numbers of all ranks at rank 0. So one element of each rank
 * travels, however long the array is: the time of the reduction is all latency ("Scalable PGAS
 * collectives", NUMACol, section 3.1, which measures 2,048 and 131,072 doubles). Rank 0 looks at
 * the sum and tells all ranks by MPI_Bcast whether to go on, as in a loop that ends when something
 * is small enough. So no rank runs ahead of the others, and an iteration ends for all of them.
 *
 * With --vectors 1 the ranks do it the other way round: MPI_Reduce adds the ranks' parts as
 * vectors, and rank 0 folds the vector that it gets. Then N elements of each rank travel.
 *
 * All values are small whole numbers, so sums are exact in any order, and rank 0 verifies each: an
 * element goes through -8, -7, ... 8 in turn, and rank 0 knows how many elements began where. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash.h"
#include "options.h"
#include "phases.h"

enum { change, fold, reduce, tell, phase_count };
enum { values = 17, largest = 8 };

static double next(double x) { return x == largest ? -largest : x + 1; }

/* Where element i of a rank begins, from 0 to values - 1. */
static int beginning(int rank, long i) {
  uint64_t x = ((uint64_t)rank << 32 | (uint64_t)i) * 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return (int)(x * 0xd6e8feb86659fd93u >> 33) % values;
}

static double sum_of(const double* elements, long count) {
  double sum = 0;
  for (long i = 0; i < count; ++i) sum += elements[i];
  return sum;
}

/* Returns the right result of iteration k (from 1), for the numbers of elements by where they
 * began. */
static double expected(const long* began, long k) {
  double sum = 0;
  for (int i = 0; i < values; ++i) sum += (double)began[i] * (double)((i + k) % values - largest);
  return sum;
}

typedef struct {
  long count;
  int by_vectors;
  double *elements, *vector; /* `vector` at rank 0 of --vectors 1, else NULL */
} Array;

static double iterate(const Array* array, Phase* phases) {
  phase_begin(&phases[change]);
  for (long i = 0; i < array->count; ++i) array->elements[i] = next(array->elements[i]);
  phase_end(&phases[change]);

  double mine = 0, sum = 0;
  if (!array->by_vectors) {
    phase_begin(&phases[fold]);
    mine = sum_of(array->elements, array->count);
    phase_end(&phases[fold]);
  }
  phase_begin(&phases[reduce]);
  if (array->by_vectors)
    MPI_Reduce(array->elements, array->vector, (int)array->count, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
  else
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  phase_end(&phases[reduce]);
  if (array->by_vectors && array->vector != NULL) {
    phase_begin(&phases[fold]);
    sum = sum_of(array->vector, array->count);
    phase_end(&phases[fold]);
  }
  return sum;
}

static double* numbers(long count) {
  return options_memory("array_reduce", (size_t)count, sizeof(double), "give fewer --elements");
}

int main(int argc, char** argv) {
  long elements = 2048, iterations = 20000, by_vectors = 0;
  const Option options[] = {
      {"--elements", &elements, 1, 1 << 28, "doubles of each rank", 1, NULL},
      {"--iterations", &iterations, 1, 100000000, "reductions", 1, NULL},
      {"--vectors", &by_vectors, 0, 1, "1: reduce vectors, then fold the result", 1, NULL},
  };
  MPI_Init(&argc, &argv);
  options_read("array_reduce", "Adds all values of a distributed array.", argc, argv, options, 3);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Array array = {elements, by_vectors == 1, numbers(elements), NULL};
  if (array.by_vectors && rank == 0) array.vector = numbers(elements);
  long mine[values] = {0}, began[values] = {0};
  for (long i = 0; i < elements; ++i) {
    const int start = beginning(rank, i);
    array.elements[i] = start - largest;
    ++mine[start];
  }
  MPI_Reduce(mine, began, values, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);

  Phase phases[phase_count] = {{"change", PHASE_COMPUTATION, 0, 0},
                               {"fold", PHASE_COMPUTATION, 0, 0},
                               {"reduce", PHASE_COMMUNICATION, 0, 0},
                               {"tell", PHASE_COMMUNICATION, 0, 0}};
  int right = 1;
  uint64_t hash = hash_begin; /* a hash of all sums */
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long k = 1; k <= iterations && right; ++k) {
    const double sum = iterate(&array, phases);
    if (rank == 0) {
      right = sum == expected(began, k);
      hash_word(&hash, (uint64_t)(int64_t)sum);
    }
    phase_begin(&phases[tell]);
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    phase_end(&phases[tell]);
  }
  const double whole = MPI_Wtime() - start;

  phases_print(phases, phase_count, whole, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("answer sums %016llx\n", (unsigned long long)hash);
    printf("# %ld doubles of each of %d ranks, %ld iterations; %ld bytes of each rank travel\n",
           elements, ranks, iterations, array.by_vectors ? 8 * elements : 8L);
    if (!right) fprintf(stderr, "array_reduce: a sum is wrong\n");
  }
  free(array.elements);
  free(array.vector);
  MPI_Finalize();
  return right ? 0 : 1;
}
