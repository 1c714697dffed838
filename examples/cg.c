/* Solves Poisson's equation on the unit square by conjugate gradients:
 *
 *   mpiexec -n RANKS cg [--grid N] [--json]
 *
 * Many MPI programs have this structure: a sparse matrix distributed by rows, neighbours that
 * exchange their borders, and in each iteration two dot products, each an MPI_Allreduce of 8 bytes
 * that all ranks wait for. The program does not use Tutti's API; start it as
 * `mpiexec -n RANKS tutti-run cg` and those calls get faster.
 *
 * It solves the same system again until a second has passed, and prints "name: value" lines:
 * iterations and residual, norm and checksum of the solution, the median seconds of a solution and
 * of the allreduces in it. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/options.h"
#include "sparse.h"

enum { most_solutions = 1000 };
static const double tolerance = 1e-12, enough_seconds = 1.0;

typedef struct {
  double *solution, *residual, *direction, *product; /* direction has room for the halo */
} Vectors;

typedef struct {
  int iterations;
  long allreduces;
  double relative_residual, norm, checksum;
  double seconds, allreduce_seconds;
} Solution;

static double sum_over_ranks(double mine, MPI_Comm comm, Solution* solution) {
  double sum;
  const double began = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  solution->allreduce_seconds += MPI_Wtime() - began;
  ++solution->allreduces;
  return sum;
}

/* The right-hand side: two sources and a sink, so that the solution has no symmetry that could hide
 * an error. */
static double right_hand_side(int row, int side) {
  const double h = 1.0 / (side + 1), x = (row % side + 1) * h, y = (row / side + 1) * h;
  const double one = exp(-60 * ((x - 0.3) * (x - 0.3) + (y - 0.25) * (y - 0.25)));
  const double two = exp(-90 * ((x - 0.6) * (x - 0.6) + (y - 0.8) * (y - 0.8)));
  const double sink = exp(-40 * ((x - 0.75) * (x - 0.75) + (y - 0.3) * (y - 0.3)));
  return h * h * (10 * one + 20 * two - 8 * sink);
}

static void start(const Sparse* matrix, int side, Vectors* v) {
  for (int i = 0; i < matrix->count; ++i) {
    v->solution[i] = 0;
    v->residual[i] = v->direction[i] = right_hand_side(matrix->first + i, side);
  }
}

static Solution solve(Sparse* matrix, int side, Vectors* v) {
  Solution s = {0};
  const int n = matrix->count;
  MPI_Barrier(matrix->comm);
  const double began = MPI_Wtime();
  start(matrix, side, v);
  double squared = sum_over_ranks(dot(v->residual, v->residual, 0, n), matrix->comm, &s);
  const double target = tolerance * tolerance * squared, initial = squared;
  while (squared > target && s.iterations < 20 * side) {
    sparse_multiply(matrix, v->direction, v->product);
    const double step =
        squared / sum_over_ranks(dot(v->direction, v->product, 0, n), matrix->comm, &s);
    for (int i = 0; i < n; ++i) {
      v->solution[i] += step * v->direction[i];
      v->residual[i] -= step * v->product[i];
    }
    const double before = squared;
    squared = sum_over_ranks(dot(v->residual, v->residual, 0, n), matrix->comm, &s);
    for (int i = 0; i < n; ++i)
      v->direction[i] = v->residual[i] + squared / before * v->direction[i];
    ++s.iterations;
  }
  s.seconds = MPI_Wtime() - began;
  s.relative_residual = sqrt(squared / initial);
  return s;
}

/* The norm shows whether two runs got the same solution; the checksum, in which each element has
 * its own weight, also shows whether its elements are in the right places. */
static void measure(const Sparse* matrix, const Vectors* v, Solution* s) {
  double mine[2] = {dot(v->solution, v->solution, 0, matrix->count), 0}, all[2];
  for (int i = 0; i < matrix->count; ++i)
    mine[1] += v->solution[i] * (1 + (matrix->first + i) % 97);
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, matrix->comm);
  s->norm = sqrt(all[0]);
  s->checksum = all[1];
}

/* Solves until enough time has passed, and returns the last solution with the median times. */
static Solution solve_repeatedly(Sparse* matrix, int side, Vectors* v, int rank, int* solutions) {
  static double seconds[most_solutions], allreduce_seconds[most_solutions];
  Solution s;
  int again = 1;
  double passed = 0;
  *solutions = 0;
  while (again) {
    s = solve(matrix, side, v);
    double mine[2] = {s.seconds, s.allreduce_seconds}, most[2];
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, matrix->comm);
    if (rank == 0) {
      seconds[*solutions] = most[0];
      allreduce_seconds[*solutions] = most[1];
      passed += most[0];
      again = passed < enough_seconds && *solutions + 1 < most_solutions;
    }
    ++*solutions;
    MPI_Bcast(&again, 1, MPI_INT, 0, matrix->comm);
  }
  if (rank == 0) {
    s.seconds = median(seconds, *solutions);
    s.allreduce_seconds = median(allreduce_seconds, *solutions);
  }
  measure(matrix, v, &s);
  return s;
}

static void report(const Solution* s, int side, int ranks, int solutions, int json) {
  printf(json ? "{\"grid\": %d, \"ranks\": %d, \"iterations\": %d, \"residual\": %.3e, "
                "\"norm\": %.15e, \"checksum\": %.15e, \"solutions\": %d, \"seconds\": %.6f, "
                "\"allreduces\": %ld, \"allreduce_seconds\": %.6f}\n"
              : "grid: %d\nranks: %d\niterations: %d\nresidual: %.3e\nnorm: %.15e\n"
                "checksum: %.15e\nsolutions: %d\nseconds: %.6f\nallreduces: %ld\n"
                "allreduce_seconds: %.6f\n",
         side, ranks, s->iterations, s->relative_residual, s->norm, s->checksum, solutions,
         s->seconds, s->allreduces, s->allreduce_seconds);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, solutions;
  long grid = 48, json = 0;
  const Option options[] = {
      {"--grid", &grid, 2, 8192, "points of the grid in each direction", 1, NULL},
      {"--json", &json, 1, 1, "a line of JSON", 1, NULL},
  };
  options_read("cg", "Solves Poisson's equation by conjugate gradients.", argc, argv, options, 2);
  const int side = (int)grid;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Sparse matrix = sparse_poisson(MPI_COMM_WORLD, side);
  const size_t own = (size_t)matrix.count + 1, with_halo = own + (size_t)matrix.halo_count;
  double* memory = calloc(3 * own + with_halo, sizeof(double));
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  Vectors v = {memory, memory + own, memory + 2 * own, memory + 2 * own + with_halo};
  const Solution s = solve_repeatedly(&matrix, side, &v, rank, &solutions);
  if (rank == 0) report(&s, side, ranks, solutions, json == 1);
  free(memory);
  sparse_free(&matrix);
  MPI_Finalize();
  return s.relative_residual <= tolerance ? 0 : 1;
}
