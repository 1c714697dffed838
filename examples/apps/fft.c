/* Solves a partial differential equation in three dimensions by Fourier transforms:
 *
 *   mpiexec -n RANKS fft [--class S|W|A] [--size NX NY NZ] [--iterations N]
 *                        [--grid PX PY] [--blocking | --overlap] [--slices N] [--ahead N]
 *
 * This is the problem FT of the NAS Parallel Benchmarks (Bailey and others, "The NAS
 * Parallel Benchmarks 2.0", report NAS-95-020): du/dt = alpha laplace(u), periodic, from random
 * complex numbers. The transform of u is computed once. In each iteration it is multiplied by
 * exp(-4 alpha pi^2 |k|^2 t), transformed back, and 1,024 elements of the result are added up. So
 * each iteration transposes the whole array among the ranks, by MPI_Alltoall, once (slabs) or twice
 * (pencils, `--grid PX PY`); fft_grid.h explains how. `--overlap` transposes it in slices by
 * MPI_Ialltoall, while the next slices are computed. Iterations do not depend on each other, so
 * `--ahead N` begins the next N before one is finished: their transposes are under way while the
 * one is transformed. The sums are then reduced by MPI_Ireduce.
 *
 * Rank 0 prints the lines that phases.h explains. The program ends with 1 if the sums are not those
 * that NAS published, or, for sizes without published sums, if the transform and its inverse do not
 * give the numbers from which they started. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_grid.h"
#include "fft_options.h"
#include "fft_published.h"
#include "hash.h"
#include "options.h"
#include "phases.h"

enum { summed_elements = 1024 };
static const double alpha = 1e-6, accepted_error = 1e-12, pi = 3.14159265358979323846;

typedef struct {
  Phase evolve, sum;
  double whole;                                                    /* seconds */
  double complex own_sums[most_iterations], sums[most_iterations]; /* this rank's, and all's */
  MPI_Request reductions[most_iterations];
  uint64_t hash;
} Results;

/* NAS's random numbers: x(k+1) = 5^13 x(k) mod 2^46, x(0) = 314159265; the k-th is x(k) / 2^46. */
static const uint64_t multiplier = 1220703125, first_number = 314159265,
                      mask = ((uint64_t)1 << 46) - 1;

/* The state after `count` numbers. The product's low 46 bits are right though its high ones are
 * lost. */
static uint64_t random_after(uint64_t count) {
  uint64_t state = first_number, power = multiplier;
  for (; count > 0; count /= 2, power = power * power & mask)
    if (count % 2 == 1) state = state * power & mask;
  return state;
}

static double next_random(uint64_t* state) {
  *state = *state * multiplier & mask;
  return (double)*state * 0x1p-46;
}

/* Calls visit(context, element's index in this rank's x lines, initial value). The element at
 * (x, y, z) has the numbers 2 (x + NX (y + NY z)) and the next. */
static void for_initial(const Grid* g, void (*visit)(void*, size_t, double complex),
                        void* context) {
  const Shape* s = &g->shape;
  size_t at = 0;
  for (int z = g->z.first; z < g->z.first + g->z.count; ++z)
    for (int y = g->y.first; y < g->y.first + g->y.count; ++y) {
      uint64_t state =
          random_after(2 * (uint64_t)s->nx * ((uint64_t)y + (uint64_t)s->ny * (uint64_t)z));
      for (int x = 0; x < s->nx; ++x, ++at) {
        const double real = next_random(&state), imaginary = next_random(&state);
        visit(context, at, real + imaginary * I);
      }
    }
}

static void store(void* array, size_t at, double complex value) {
  ((double complex*)array)[at] = value;
}

static double elements_of(const Shape* s) { return (double)s->nx * s->ny * s->nz; }

/* exp(-4 alpha pi^2 k^2 time) for the indices of a direction, whose upper half has k < 0. */
static double* decay(int count, int time) {
  double* factors = malloc((size_t)count * sizeof(double));
  if (factors == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < count; ++i) {
    const double k = i < (count + 1) / 2 ? i : i - count;
    factors[i] = exp(-4 * alpha * pi * pi * k * k * time);
  }
  return factors;
}

/* Evolves the transform from time 0 (z lines) to `time`. */
static void evolve(const Grid* g, const double complex* initial, int time) {
  const Shape* s = &g->shape;
  double *fx = decay(s->nx, time), *fy = decay(s->ny, time), *fz = decay(s->nz, time);
  const Range x = g->x_of_pencil, y = g->y_of_pencil;
  size_t at = 0;
  for (int k = 0; k < s->nz; ++k)
    for (int j = 0; j < y.count; ++j) {
      const double factor = fz[k] * fy[y.first + j];
      for (int i = 0; i < x.count; ++i, ++at)
        g->array[at] = initial[at] * (factor * fx[x.first + i]);
    }
  free(fx);
  free(fy);
  free(fz);
}

/* This rank's part of the sum over j = 1 ... 1024 of the elements at (j mod NX, 3 j mod NY, 5 j mod
 * NZ). */
static double complex own_sum(const Grid* g) {
  const Shape* s = &g->shape;
  double complex sum = 0;
  for (int j = 1; j <= summed_elements; ++j) {
    const int x = j % s->nx, y = 3 * j % s->ny - g->y.first, z = 5 * j % s->nz - g->z.first;
    if (y >= 0 && y < g->y.count && z >= 0 && z < g->z.count)
      sum += g->array[((size_t)z * (size_t)g->y.count + (size_t)y) * (size_t)s->nx + (size_t)x];
  }
  return sum;
}

/* The sum of iteration `time` is rank 0's when its reduction is complete. */
static void reduce_sum(const Grid* g, int time, Results* r) {
  double complex* const own = &r->own_sums[time - 1];
  double complex* const all = &r->sums[time - 1];
  *own = own_sum(g) / elements_of(&g->shape);
  phase_begin(&r->sum);
  if (g->shape.overlapped)
    MPI_Ireduce(own, all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD,
                &r->reductions[time - 1]);
  else
    MPI_Reduce(own, all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
  phase_end(&r->sum);
}

/* A hash of the array in x lines. */
static uint64_t hash_array(const Grid* g) {
  const Shape* s = &g->shape;
  uint64_t hash = 0;
  const double* numbers = (const double*)g->array;
  for (int z = 0; z < g->z.count; ++z)
    for (int y = 0; y < g->y.count; ++y) {
      uint64_t place = 2 * (uint64_t)s->nx *
                       ((uint64_t)(g->y.first + y) + (uint64_t)s->ny * (uint64_t)(g->z.first + z));
      for (int i = 0; i < 2 * s->nx; ++i) hash += hash_number(*numbers++, place++);
    }
  return hash;
}

/* Runs everything once before it is timed, so that all memory was touched. NAS's programs do so
 * too. */
static void warm_up(Grid* g) {
  Phase before[grid_phases];
  memcpy(before, g->phases, sizeof before);
  grid_forward(g);
  grid_backward(g);
  memcpy(g->phases, before, sizeof before);
}

static void begin_iteration(Grid* g, const double complex* transformed, int time, Results* r) {
  phase_begin(&r->evolve);
  evolve(g, transformed, time);
  phase_end(&r->evolve);
  grid_backward_start(g);
}

/* Iteration `time` has the grid time % (ahead + 1). */
static void solve(Grid* const* grids, const Options* o, double complex* transformed, Results* r) {
  const int count = o->ahead + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  grid_forward(grids[0]);
  memcpy(transformed, grids[0]->array, grids[0]->elements * sizeof *transformed);
  for (int begun = 0, time = 1; time <= o->iterations; ++time) {
    for (; begun < o->iterations && begun < time + o->ahead; ++begun)
      begin_iteration(grids[(begun + 1) % count], transformed, begun + 1, r);
    grid_backward_finish(grids[time % count]);
    reduce_sum(grids[time % count], time, r);
  }
  phase_begin(&r->sum);
  if (o->shape.overlapped) MPI_Waitall(o->iterations, r->reductions, MPI_STATUSES_IGNORE);
  phase_end(&r->sum);
  r->whole = MPI_Wtime() - began;
  r->hash = hash_array(grids[o->iterations % count]);
}

typedef struct {
  const double complex* array;
  double elements, largest;
} Comparison;

static void compare(void* context, size_t at, double complex value) {
  Comparison* c = context;
  c->largest = fmax(c->largest, cabs(c->array[at] / c->elements - value));
}

/* The largest difference between the initial numbers and those that transforms there and back make
 * of them; at rank 0. */
static double round_trip_error(Grid* g, const double complex* transformed) {
  memcpy(g->array, transformed, g->elements * sizeof *transformed);
  grid_backward(g);
  Comparison c = {g->array, elements_of(&g->shape), 0};
  for_initial(g, compare, &c);
  double all = 0;
  MPI_Reduce(&c.largest, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

static const Published* published_for(const Shape* s) {
  for (int i = 0; i < published_count; ++i) {
    const Published* p = &published_classes[i];
    if (p->size[0] == s->nx && p->size[1] == s->ny && p->size[2] == s->nz) return p;
  }
  return NULL;
}

/* Rank 0 prints whether the sums, or the round trip, are right, and returns it. */
static int verify(Grid* g, const Options* o, const Results* r, const double complex* transformed) {
  const Shape* s = &g->shape;
  const Published* published = o->iterations <= published_iterations ? published_for(s) : NULL;
  double error = 0;
  if (published == NULL)
    error = round_trip_error(g, transformed);
  else
    for (int i = 0; i < o->iterations; ++i) {
      const double complex sum = published->sums[i][0] + published->sums[i][1] * I;
      error = fmax(error, cabs(r->sums[i] - sum) / cabs(sum));
    }
  const int right = error <= accepted_error;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return 1;
  if (published == NULL)
    printf("# verification: %s, transforms there and back change a number by at most %.1e\n",
           right ? "passed" : "FAILED", error);
  else
    printf("# verification: %s, class %s, largest relative error of a sum %.1e\n",
           right ? "passed" : "FAILED", published->name, error);
  return right;
}

static void report(const Options* o, const Grid* g, const Results* r) {
  const Shape* s = &o->shape;
  Phase phases[grid_phases + 2] = {r->sum, r->evolve};
  int rank, count = 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < grid_phases; ++i) {
    const int used = i == grid_transpose ? !s->overlapped : s->overlapped;
    if (used || i == grid_transform || i == grid_pack) phases[count++] = g->phases[i];
  }
  if (rank == 0)
    printf("# %d x %d x %d, %d iterations, %d x %d ranks, %s%d slice%s, %d ahead\n", s->nx, s->ny,
           s->nz, o->iterations, s->px, s->py, s->overlapped ? "overlapped, " : "blocking, ",
           s->slices, s->slices == 1 ? "" : "s", o->ahead);
  phases_print(phases, count, r->whole, MPI_COMM_WORLD);
  hash_print("hash", r->hash, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int i = 0; i < o->iterations; ++i) {
    char name[30];
    snprintf(name, sizeof name, "sum_%d_real", i + 1);
    answer_print(name, creal(r->sums[i]), accepted_error);
    snprintf(name, sizeof name, "sum_%d_imaginary", i + 1);
    answer_print(name, cimag(r->sums[i]), accepted_error);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options = fft_options(argc, argv);
  const char* const complaint = fft_divide(&options.shape, ranks);
  if (complaint != NULL) options_refuse("fft", complaint);
  static Results results = {.sum = {"sum", PHASE_COMMUNICATION, 0, 0},
                            .evolve = {"evolve", PHASE_COMPUTATION, 0, 0}};
  Grid* grids[most_ahead + 1] = {grid_make(&options.shape, MPI_COMM_WORLD)};
  for (int i = 1; i <= options.ahead; ++i) grids[i] = grid_make_beside(grids[0]);
  Grid* const grid = grids[0];
  double complex* transformed = malloc(grid->elements * sizeof *transformed);
  if (transformed == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for_initial(grid, store, grid->array);
  for (int i = options.ahead; i >= 0; --i) warm_up(grids[i]);
  for_initial(grid, store, grid->array);
  solve(grids, &options, transformed, &results);
  report(&options, grid, &results);
  const int right = verify(grid, &options, &results, transformed);
  free(transformed);
  for (int i = options.ahead; i >= 0; --i) grid_free(grids[i]);
  MPI_Finalize();
  return right ? 0 : 1;
}
