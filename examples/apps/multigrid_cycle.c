#include "multigrid_cycle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { sweeps_before = 2, sweeps_after = 2, sweeps_at_bottom = 24, most_iterations = 200 };
static const double bottom_reduction = 1e-4;

static double* reserve(size_t count) {
  double* memory = calloc(count, sizeof(double));
  if (memory == NULL) {
    fprintf(stderr, "multigrid: no memory for %zu numbers; use smaller or fewer boxes\n", count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

void multigrid_make(Multigrid* m, const Neighbourhood* around, int boxes, int side, double h,
                    double a, Bottom bottom) {
  *m = (Multigrid){.a = a,
                   .bottom = bottom,
                   .smoothing = {"smooth", PHASE_COMPUTATION, 0, 0},
                   .transfer = {"transfer", PHASE_COMPUTATION, 0, 0},
                   .solving = {"bottom", PHASE_COMPUTATION, 0, 0},
                   .norms = {"norm", PHASE_COMMUNICATION, 0, 0},
                   .dot_products = {"dot_products", PHASE_COMMUNICATION, 0, 0}};
  for (; side >= 2; side /= 2, h *= 2) {
    Level* l = &m->level[m->levels++];
    const size_t edge = (size_t)side + 2, count = (size_t)boxes;
    *l = (Level){.side = side, .boxes = boxes, .h = h};
    l->cells = count * count * count * edge * edge * edge;
    l->u = reserve(l->cells);
    l->f = reserve(l->cells);
    l->residual = reserve(l->cells);
    if (side == 2) l->direction = reserve(l->cells);
    ghosts_make(&l->ghosts, around, boxes, side);
  }
}

void multigrid_free(Multigrid* m) {
  for (int i = 0; i < m->levels; ++i) {
    Level* l = &m->level[i];
    free(l->u);
    free(l->f);
    free(l->residual);
    free(l->direction);
    ghosts_free(&l->ghosts);
  }
}

/* Distances in arrays, and the numbers of the stencil. */
typedef struct {
  int side, boxes;
  size_t row, plane, box; /* distances of the next cell in y, in z, and of the next box */
  double over_h2, diagonal;
} Stencil;

static Stencil stencil_of(const Multigrid* m, const Level* l) {
  const size_t edge = (size_t)l->side + 2;
  const double over_h2 = 1 / (l->h * l->h);
  return (Stencil){l->side,
                   l->boxes * l->boxes * l->boxes,
                   edge,
                   edge * edge,
                   edge * edge * edge,
                   over_h2,
                   m->a + 6 * over_h2};
}

static double sum_beside(const Stencil* s, const double* at) {
  return at[-1] + at[1] + *(at - s->row) + at[s->row] + *(at - s->plane) + at[s->plane];
}

/* A row of a box: its first cell's place in an array. */
static size_t row_at(const Stencil* s, int box, int z, int y) {
  return (size_t)box * s->box + (size_t)(z + 1) * s->plane + (size_t)(y + 1) * s->row + 1;
}

/* Solves the equation of each red or black cell for that cell. Boxes have even sides, so a cell's
 * colour follows from its place in its box. */
static void sweep_colour(Multigrid* m, Level* l, int colour, Phase* phase) {
  ghosts_exchange(&l->ghosts, l->u);
  phase_begin(phase);
  const Stencil s = stencil_of(m, l);
  const double over_diagonal = 1 / s.diagonal;
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        double* u = l->u + row_at(&s, box, z, y);
        const double* f = l->f + row_at(&s, box, z, y);
        for (int x = (y + z + colour) % 2; x < s.side; x += 2)
          u[x] = (f[x] + s.over_h2 * sum_beside(&s, u + x)) * over_diagonal;
      }
  phase_end(phase);
}

static void sweep(Multigrid* m, Level* l, int times, Phase* phase) {
  for (int i = 0; i < 2 * times; ++i) sweep_colour(m, l, i % 2, phase);
}

/* result = b f - (a - laplace) u: the residual with b = 1, and minus the product with b = 0. */
static void apply(Multigrid* m, Level* l, double* u, double b, double* result, Phase* phase) {
  ghosts_exchange(&l->ghosts, u);
  phase_begin(phase);
  const Stencil s = stencil_of(m, l);
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const size_t row = row_at(&s, box, z, y);
        for (int x = 0; x < s.side; ++x)
          result[row + (size_t)x] = b * l->f[row + (size_t)x] +
                                    s.over_h2 * sum_beside(&s, u + row + x) -
                                    s.diagonal * u[row + (size_t)x];
      }
  phase_end(phase);
}

/* f of the coarse level is the average of the fine residual over eight cells, and its u is 0. */
static void restrict_residual(Multigrid* m, const Level* fine, Level* coarse) {
  phase_begin(&m->transfer);
  const Stencil s = stencil_of(m, fine), t = stencil_of(m, coarse);
  for (int box = 0; box < t.boxes; ++box)
    for (int z = 0; z < t.side; ++z)
      for (int y = 0; y < t.side; ++y) {
        double* f = coarse->f + row_at(&t, box, z, y);
        const double* r = fine->residual + row_at(&s, box, 2 * z, 2 * y);
        for (int x = 0; x < t.side; ++x, r += 2)
          f[x] = 0.125 * (r[0] + r[1] + r[s.row] + r[s.row + 1] + r[s.plane] + r[s.plane + 1] +
                          r[s.plane + s.row] + r[s.plane + s.row + 1]);
      }
  for (size_t i = 0; i < coarse->cells; ++i) coarse->u[i] = 0;
  phase_end(&m->transfer);
}

/* Even cells of a box lie in the lower half of a coarse cell, so that their closest other coarse
 * cell is the one before. */
static void interpolate(Multigrid* m, Level* coarse, Level* fine) {
  ghosts_exchange(&coarse->ghosts, coarse->u);
  phase_begin(&m->transfer);
  const Stencil s = stencil_of(m, fine), t = stencil_of(m, coarse);
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        double* u = fine->u + row_at(&s, box, z, y);
        const double* c = coarse->u + row_at(&t, box, z / 2, y / 2);
        const double* beside_y = y % 2 == 0 ? c - t.row : c + t.row;
        const double* beside_z = z % 2 == 0 ? c - t.plane : c + t.plane;
        for (int x = 0; x < s.side; ++x) {
          const int at = x / 2;
          const double beside_x = x % 2 == 0 ? c[at - 1] : c[at + 1];
          u[x] += 0.25 * (c[at] + beside_x + beside_y[at] + beside_z[at]);
        }
      }
  phase_end(&m->transfer);
}

/* The dot product of two arrays over all ranks. */
static double dot(Multigrid* m, const Level* l, const double* one, const double* other) {
  const Stencil s = stencil_of(m, l);
  double mine = 0, all;
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const size_t row = row_at(&s, box, z, y);
        for (size_t x = row; x < row + (size_t)s.side; ++x) mine += one[x] * other[x];
      }
  phase_begin(&m->dot_products);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, l->ghosts.around->grid);
  phase_end(&m->dot_products);
  return all;
}

/* Poisson's equation has a solution only if the sum of f is 0, as it is but for rounding. */
static void remove_mean(Multigrid* m, Level* l, double* numbers) {
  const Stencil s = stencil_of(m, l);
  int ranks;
  MPI_Comm_size(l->ghosts.around->grid, &ranks);
  for (size_t i = 0; i < l->cells; ++i) l->direction[i] = 1;
  const double sum = dot(m, l, numbers, l->direction);
  const double mean = sum / ((double)ranks * s.boxes * s.side * s.side * s.side);
  for (size_t i = 0; i < l->cells; ++i) numbers[i] -= mean;
}

/* Conjugate gradients from u = 0. Ghost cells are computed too, and replaced by the exchange. */
static void solve_by_gradients(Multigrid* m, Level* l) {
  double *r = l->f, *p = l->direction, *minus_product = l->residual;
  if (m->a == 0) remove_mean(m, l, r);
  for (size_t i = 0; i < l->cells; ++i) p[i] = r[i];
  double squared = dot(m, l, r, r);
  const double target = bottom_reduction * bottom_reduction * squared;
  for (int i = 0; i < most_iterations && squared > target; ++i, ++m->iterations) {
    apply(m, l, p, 0, minus_product, &m->solving);
    const double step = -squared / dot(m, l, p, minus_product);
    for (size_t at = 0; at < l->cells; ++at) {
      l->u[at] += step * p[at];
      r[at] += step * minus_product[at];
    }
    const double before = squared;
    squared = dot(m, l, r, r);
    for (size_t at = 0; at < l->cells; ++at) p[at] = r[at] + squared / before * p[at];
  }
}

static void cycle(Multigrid* m, int number) {
  Level* l = &m->level[number];
  if (number + 1 == m->levels) {
    if (m->bottom == bottom_sweeps)
      sweep(m, l, sweeps_at_bottom, &m->solving);
    else
      solve_by_gradients(m, l);
    return;
  }
  sweep(m, l, sweeps_before, &m->smoothing);
  apply(m, l, l->u, 1, l->residual, &m->smoothing);
  restrict_residual(m, l, l + 1);
  cycle(m, number + 1);
  interpolate(m, l + 1, l);
  sweep(m, l, sweeps_after, &m->smoothing);
}

void multigrid_cycle(Multigrid* m) { cycle(m, 0); }

double multigrid_residual(Multigrid* m) {
  Level* l = &m->level[0];
  apply(m, l, l->u, 1, l->residual, &m->smoothing);
  const Stencil s = stencil_of(m, l);
  double mine = 0, all;
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const double* r = l->residual + row_at(&s, box, z, y);
        for (int x = 0; x < s.side; ++x) mine = fmax(mine, fabs(r[x]));
      }
  phase_begin(&m->norms);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, l->ghosts.around->grid);
  phase_end(&m->norms);
  return all;
}
