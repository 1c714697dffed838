/* Solves a u - laplace(u) = f on a periodic block of boxes by geometric multigrid:
 *
 *   mpiexec -n RANKS multigrid [--exchange messages|get|tutti_get|tutti_put|neighbours|started|
 *                                         persistent]
 *                              [--side N] [--boxes N] [--cycles N] [--solves N]
 *                              [--threads N] [--together N] [--bottom gradients|sweeps] [--poisson]
 *
 * The program does what the benchmark miniGMG does (Williams and others, "Optimization of geometric
 * multigrid for emerging multi- and manycore processors", SC 2012): each rank has 1, 8 or 64 boxes
 * of 32, 64 or 128 cells in each direction, and before each step over the cells it exchanges the
 * faces of its boxes with the six ranks around it. On coarse levels the faces are small and the
 * cells few, so that an exchange there is little more than six messages and their latency.
 * multigrid_ghosts.h has seven ways to make it; multigrid_cycle.h says how the equation is solved.
 * The equation is solved several times, `--together N` solves at a time: as many right-hand sides
 * would be. (Here they are the same, so that all solves can be verified.) While the messages of one
 * travel, the others are computed.
 *
 * f is such that the exact solution is known. Before the solves that count, the program solves the
 * same equation with half as many cells in each direction. Rank 0 prints the lines that phases.h
 * explains. The program ends with 1 if the cycles did not reduce the residual to a millionth, or if
 * the error is not about a quarter of the one with half as many cells. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "multigrid_exact.h"
#include "options.h"
#include "phases.h"

typedef struct {
  Way way;
  Bottom bottom;
  int side, boxes, cycles, solves, threads, together; /* boxes: of a rank, in each direction */
  double a;
} Options;

/* The largest of all solves; the hash of one solution, which all have. */
typedef struct {
  double residual, first_residual, error, whole;
  uint64_t hash;
  int alike; /* all solutions have the same bits */
} Result;

enum { most_together = 16, most_threads = 1024 };

/* Systems that are solved at once. */
typedef struct {
  Multigrid* system[most_together];
  int count;
} Systems;

static double edge_of_cell(const Options* o, const Division* d, int side) {
  return 1.0 / ((double)d->most * o->boxes * side);
}

/* Solves the first `count` systems from u = 0, and goes from one to the next after each step. */
static void solve_together(const Systems* all, int count, int cycles) {
  for (int i = 0; i < count; ++i) {
    Level* const l = &all->system[i]->level[0];
    memset(l->u, 0, l->cells * sizeof *l->u);
    multigrid_begin(all->system[i], cycles);
  }
  for (int active = count; active > 0;) {
    active = 0;
    for (int i = 0; i < count; ++i) {
      active += multigrid_advance(all->system[i]);
      for (int other = 0; other < count; ++other) multigrid_look(all->system[other]);
    }
  }
}

/* Solves `solves` times; the times of phases are in the systems. */
static Result solve(const Systems* all, const Options* o, const Division* d, int solves) {
  Result r = {.alike = 1};
  Exact e = exact_make(d, &all->system[0]->level[0]);
  for (int i = 0; i < all->count; ++i) exact_fill(&e, d, all->system[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int left = solves; left > 0; left -= all->count)
    solve_together(all, left < all->count ? left : all->count, o->cycles);
  r.whole = MPI_Wtime() - began;
  for (int i = 0; i < all->count && i < solves; ++i) {
    const Multigrid* const m = all->system[i];
    const uint64_t hash = exact_hash(&e, d, &m->level[0]);
    r.first_residual = fmax(r.first_residual, m->first_residual);
    r.residual = fmax(r.residual, m->residual);
    r.error = fmax(r.error, exact_error(&e, d, m));
    r.alike = r.alike && (i == 0 || hash == r.hash);
    r.hash = hash;
  }
  exact_free(&e);
  return r;
}

/* Adds up the times of the systems in the first one. */
static void add_times(const Systems* all) {
  Multigrid* const sum = all->system[0];
  for (int i = 1; i < all->count; ++i) {
    const Multigrid* const m = all->system[i];
    sum->smoothing.seconds += m->smoothing.seconds;
    sum->transfer.seconds += m->transfer.seconds;
    sum->solving.seconds += m->solving.seconds;
    sum->norms.seconds += m->norms.seconds;
    sum->dot_products.seconds += m->dot_products.seconds;
    sum->iterations += m->iterations;
    for (int level = 0; level < m->levels; ++level) {
      Ghosts* const to = &sum->level[level].ghosts;
      const Ghosts* const from = &m->level[level].ghosts;
      to->moving.seconds += from->moving.seconds;
      to->packing.seconds += from->packing.seconds;
      to->exchanges += from->exchanges;
    }
  }
}

static void report_phases(const Multigrid* m, double whole) {
  Phase phases[] = {m->level[0].ghosts.moving,
                    m->norms,
                    m->dot_products,
                    m->level[0].ghosts.packing,
                    m->smoothing,
                    m->transfer,
                    m->solving};
  enum { ghosts, pack = 3, count = sizeof phases / sizeof *phases };
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < m->levels; ++i) {
    const Ghosts* g = &m->level[i].ghosts;
    if (i > 0) phases[ghosts].seconds += g->moving.seconds;
    if (i > 0) phases[pack].seconds += g->packing.seconds;
    if (rank == 0)
      printf(
          "# level %d: boxes of side %d, %ld exchanges of %d messages of %zu bytes, %.1f us each\n",
          i, g->side, g->exchanges, g->around->edges, (size_t)g->count * sizeof(double),
          g->moving.seconds * 1e6 / (double)g->exchanges);
  }
  phases_print(phases, count, whole, MPI_COMM_WORLD);
}

/* Rank 0 prints answers and whether they are right, and returns it. */
static int report(const Multigrid* m, const Options* o, const Result* r, const Result* coarse) {
  const double tolerance = o->bottom == bottom_sweeps && o->a > 0 ? 0 : 1e-6;
  const double reduction = r->residual / r->first_residual, order = log2(coarse->error / r->error);
  const int right = reduction <= 1e-6 && order > 1.7 && order < 2.3 && r->alike;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  report_phases(m, r->whole);
  if (o->bottom == bottom_sweeps) hash_print("hash", r->hash, MPI_COMM_WORLD);
  if (rank != 0) return 1;
  answer_print("error", r->error, tolerance);
  answer_print("order", order, tolerance);
  printf("# exchange by %s, %d at a time; %ld iterations of conjugate gradients\n",
         way_names[o->way], o->together, m->iterations);
  printf("# verification: %s, %d cycles reduce the residual by a factor of %.1e, order %.2f\n",
         right ? "passed" : "FAILED", o->cycles, reduction, order);
  return right;
}

/* Reads the command line, or ends the program. */
static Options parse(int argc, char** argv) {
  static const char* const bottoms[] = {"gradients", "sweeps"};
  long way = ways_messages, side = 32, boxes = 1, cycles = 10, solves = 10, threads = 1,
       together = 1, bottom = bottom_gradients, a = 1;
  const Option options[] = {
      {"--exchange", &way, 0, ways - 1, "how ghost cells travel", 1, way_names},
      {"--side", &side, 16, 256, "cells of a box in each direction, a power of two", 1, NULL},
      {"--boxes", &boxes, 1, 512, "boxes of a rank, a cube", 1, NULL},
      {"--cycles", &cycles, 1, 1000, "cycles of a solve", 1, NULL},
      {"--solves", &solves, 1, 1000000, "solves", 1, NULL},
      {"--threads", &threads, 1, most_threads, "threads of a rank that compute", 1, NULL},
      {"--together", &together, 1, most_together, "solves at a time", 1, NULL},
      {"--bottom", &bottom, 0, 1, "how the coarsest level is solved", 1, bottoms},
      {"--poisson", &a, 0, 0, "a is 0", 1, NULL},
  };
  options_read("multigrid", "Solves a u - laplace(u) = f by geometric multigrid.", argc, argv,
               options, sizeof options / sizeof *options);
  int across = 1; /* boxes in each direction */
  while (across * across * across < boxes) ++across;
  if ((side & (side - 1)) != 0) options_refuse("multigrid", "--side takes a power of two");
  if (across * across * across != boxes)
    options_refuse("multigrid", "--boxes takes a cube: 1, 8, 27, 64, ...");
#ifndef _OPENMP
  if (threads > 1)
    options_refuse("multigrid", "--threads: built by a compiler without OpenMP; leave it out");
#endif
  return (Options){.way = (Way)way,
                   .bottom = (Bottom)bottom,
                   .side = (int)side,
                   .boxes = across,
                   .cycles = (int)cycles,
                   .solves = (int)solves,
                   .threads = (int)threads,
                   .together = (int)together,
                   .a = (double)a};
}

static Division divide(void) {
  Division d = {0};
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 3, d.dims);
  for (int axis = 0; axis < 3; ++axis)
    if (d.dims[axis] > d.most) d.most = d.dims[axis];
  d.place[0] = rank / (d.dims[1] * d.dims[2]);
  d.place[1] = rank / d.dims[2] % d.dims[1];
  d.place[2] = rank % d.dims[2];
  return d;
}

static Result solve_with(const Options* o, const Neighbourhood* around, const Division* d, int side,
                         int solves, Systems* all) {
  for (int i = 0; i < all->count; ++i)
    multigrid_make(all->system[i], around, o->boxes, side, edge_of_cell(o, d, side), o->a,
                   o->bottom, o->threads, o->together > 1);
  return solve(all, o, d, solves);
}

static void free_systems(const Systems* all) {
  for (int i = 0; i < all->count; ++i) multigrid_free(all->system[i]);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const Options options = parse(argc, argv);
  const Division division = divide();
  Neighbourhood around;
  const char* const complaint = neighbourhood_make(&around, options.way, division.dims);
  if (complaint != NULL) options_refuse("multigrid", complaint);
  static Multigrid memory[most_together];
  Systems one = {{&memory[0]}, 1}, all = {.count = options.together};
  for (int i = 0; i < all.count; ++i) all.system[i] = &memory[i];
  const Result coarse = solve_with(&options, &around, &division, options.side / 2, 1, &one);
  free_systems(&one);
  const Result fine = solve_with(&options, &around, &division, options.side, options.solves, &all);
  add_times(&all);
  const int right = report(all.system[0], &options, &fine, &coarse);
  free_systems(&all);
  neighbourhood_free(&around);
  MPI_Finalize();
  return right ? 0 : 1;
}
