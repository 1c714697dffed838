/* Conjugate gradients by MPI processes with OpenMP threads:
 *
 *   mpiexec -n PROCESSES hybrid_cg [--threads T] [--grid N] [--rounds R]
 *
 * Each iteration has two dot products of all threads of all processes. They are added in two ways:
 * "hybrid" is the usual one, in which the threads meet, one adds what they have and calls
 * MPI_Allreduce, and they meet again; "direct" has every thread as a rank of one of Tutti's teams
 * (tutti_team_create_by) and is one call of each thread. The ways take turns, and the program
 * prints the medians of their times and whether their solutions agree. All processes are on one
 * node. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "apps/options.h"
#include "sparse.h"

enum { most_threads = 256, most_rounds = 1000, line = 8 /* doubles in a cache line */ };
enum way { hybrid, direct };
static const double tolerance = 1e-12, patience = 60; /* seconds */

typedef struct {
  Sparse matrix;
  int side, rank, threads;
  double *solution, *residual, *direction, *product; /* direction has room for the halo */
  tutti_group* groups[most_threads];
  double partial[most_threads * line], sum; /* for the hybrid way */
} Solver;

typedef struct {
  double norm, seconds;
  int iterations;
} Solution;

static void stop_on(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "hybrid_cg: %s\n", tutti_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The sum over all threads of all processes. */
static double sum_over_threads(Solver* s, enum way way, int thread, double mine) {
  if (way == direct) {
    double sum;
    stop_on(tutti_allreduce(s->groups[thread], &mine, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM));
    return sum;
  }
  s->partial[thread * line] = mine;
#pragma omp barrier
#pragma omp master
  {
    double all = 0;
    for (int i = 0; i < s->threads; ++i) all += s->partial[i * line];
    MPI_Allreduce(&all, &s->sum, 1, MPI_DOUBLE, MPI_SUM, s->matrix.comm);
  }
#pragma omp barrier
  return s->sum;
}

/* Each thread runs it. All return the same number of iterations and norm of the solution. */
static Solution solve_in_thread(Solver* s, enum way way, int thread) {
  const int n = s->matrix.count;
  const int from = (int)((long)n * thread / s->threads);
  const int to = (int)((long)n * (thread + 1) / s->threads);
  Solution found = {0, 0, 0};
  for (int i = from; i < to; ++i) {
    s->solution[i] = 0;
    s->residual[i] = s->direction[i] = 1 + (s->matrix.first + i) % 7;
  }
  double squared = sum_over_threads(s, way, thread, dot(s->residual, s->residual, from, to));
  const double target = tolerance * tolerance * squared;
  while (squared > target && found.iterations < 20 * s->side) {
#pragma omp barrier
#pragma omp master
    sparse_fill_halo(&s->matrix, s->direction);
#pragma omp barrier
    sparse_multiply_rows(&s->matrix, s->direction, s->product, from, to);
    const double step =
        squared / sum_over_threads(s, way, thread, dot(s->direction, s->product, from, to));
    for (int i = from; i < to; ++i) {
      s->solution[i] += step * s->direction[i];
      s->residual[i] -= step * s->product[i];
    }
    const double before = squared;
    squared = sum_over_threads(s, way, thread, dot(s->residual, s->residual, from, to));
    for (int i = from; i < to; ++i)
      s->direction[i] = s->residual[i] + squared / before * s->direction[i];
    ++found.iterations;
  }
  found.norm = sqrt(sum_over_threads(s, way, thread, dot(s->solution, s->solution, from, to)));
  return found;
}

static Solution solve(Solver* s, enum way way) {
  Solution found = {0, 0, 0};
  MPI_Barrier(s->matrix.comm);
  const double began = MPI_Wtime();
#pragma omp parallel num_threads(s->threads)
  {
    const int thread = omp_get_thread_num();
    const Solution its = solve_in_thread(s, way, thread);
    if (thread == 0) found = its;
  }
  found.seconds = MPI_Wtime() - began;
  return found;
}

/* Every thread becomes a rank. They find each other in a directory that is removed at once. */
static void join(Solver* s, tutti_team** teams, int processes) {
  char place[] = "/tmp/hybrid-cg-XXXXXX";
  if (s->rank == 0 && mkdtemp(place) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Bcast(place, sizeof place, MPI_CHAR, 0, MPI_COMM_WORLD);
#pragma omp parallel num_threads(s->threads)
  {
    const int thread = omp_get_thread_num(), rank = s->rank * s->threads + thread;
    tutti_store* store;
    stop_on(tutti_store_open(place, rank, patience, &store));
    stop_on(tutti_team_create_by(store, "threads", rank, processes * s->threads, patience,
                                 &teams[thread]));
    tutti_store_close(store);
    stop_on(tutti_team_join(teams[thread], rank, &s->groups[thread]));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (s->rank == 0) rmdir(place);
}

int main(int argc, char** argv) {
  static Solver s;
  static tutti_team* teams[most_threads];
  static double seconds[2][most_rounds], ratios[most_rounds];
  int provided, processes;
  long threads = 2, side = 48, rounds = 20;
  const Option options[] = {
      {"--threads", &threads, 1, most_threads, "threads of each process", 1, NULL},
      {"--grid", &side, 2, 8192, "points of the grid in each direction", 1, NULL},
      {"--rounds", &rounds, 1, most_rounds, "solutions by each way", 1, NULL},
  };
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  options_read("hybrid_cg", "Conjugate gradients by processes with threads.", argc, argv, options,
               sizeof options / sizeof *options);
  s.threads = (int)threads;
  s.side = (int)side;
  s.matrix = sparse_poisson(MPI_COMM_WORLD, s.side);
  const size_t own = (size_t)s.matrix.count + 1;
  double* const memory = calloc(4 * own + (size_t)s.matrix.halo_count, sizeof(double));
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  s.solution = memory;
  s.residual = memory + own;
  s.product = memory + 2 * own;
  s.direction = memory + 3 * own;
  join(&s, teams, processes);
  Solution found[2];
  for (int round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < 2; ++turn) {
      const enum way way = (enum way)((round + turn) % 2);
      found[way] = solve(&s, way);
      seconds[way][round] = found[way].seconds;
    }
    ratios[round] = seconds[hybrid][round] / seconds[direct][round];
  }
  const double difference = fabs(found[hybrid].norm - found[direct].norm);
  const int same = difference <= 1e-9 * found[direct].norm && found[direct].norm > 0;
  if (s.rank == 0)
    printf(
        "grid: %d\nprocesses: %d\nthreads: %d\niterations: %d\nnorm: %.15e\n"
        "hybrid: %.6f s\ndirect: %.6f s\nhybrid / direct: %.2f\n%s\n",
        s.side, processes, s.threads, found[direct].iterations, found[direct].norm,
        median(seconds[hybrid], (int)rounds), median(seconds[direct], (int)rounds),
        median(ratios, (int)rounds), same ? "same solutions" : "the solutions DIFFER");
  for (int thread = 0; thread < s.threads; ++thread) {
    tutti_group_free(s.groups[thread]);
    tutti_team_free(teams[thread]);
  }
  free(memory);
  sparse_free(&s.matrix);
  MPI_Finalize();
  return same ? 0 : 1;
}
