#include "multigrid_cycle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_step(Multigrid* m, Work work, int level, int colour) {
  m->steps[m->step_count++] = (Step){work, level, colour};
}

static void add_sweeps(Multigrid* m, int level, int times) {
  for (int i = 0; i < 2 * times; ++i) add_step(m, work_sweep, level, i % 2);
}

/* The steps of a V-cycle, and the two that find the largest residual. */
static void list_steps(Multigrid* m) {
  const int last = m->levels - 1;
  for (int level = 0; level < last; ++level) {
    add_sweeps(m, level, sweeps_before);
    add_step(m, work_restrict, level, 0);
  }
  if (m->bottom == bottom_sweeps) {
    add_sweeps(m, last, sweeps_at_bottom);
  } else {
    if (m->a == 0) add_step(m, work_remove_mean, last, 0);
    add_step(m, work_begin, last, 0);
    m->product = m->step_count;
    add_step(m, work_product, last, 0);
    add_step(m, work_step, last, 0);
    add_step(m, work_direction, last, 0);
  }
  for (int level = last - 1; level >= 0; --level) {
    add_step(m, work_interpolate, level, 0);
    add_sweeps(m, level, sweeps_after);
  }
  add_step(m, work_residual, 0, 0);
  add_step(m, work_norm, 0, 0);
}

void multigrid_make(Multigrid* m, const Neighbourhood* around, int boxes, int side, double h,
                    double a, Bottom bottom, int together) {
  *m = (Multigrid){.a = a,
                   .bottom = bottom,
                   .together = together,
                   .reduction = MPI_REQUEST_NULL,
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
  list_steps(m);
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
static void sweep(Multigrid* m, Level* l, int colour, Phase* phase) {
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

/* result = b f - (a - laplace) u: the residual with b = 1, and minus the product with b = 0. */
static void apply(Multigrid* m, Level* l, const double* u, double b, double* result, Phase* phase) {
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
static void interpolate(Multigrid* m, const Level* coarse, Level* fine) {
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

/* This rank's part of the dot product of two arrays. */
static double own_dot(const Multigrid* m, const Level* l, const double* one, const double* other) {
  const Stencil s = stencil_of(m, l);
  double sum = 0;
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const size_t row = row_at(&s, box, z, y);
        for (size_t x = row; x < row + (size_t)s.side; ++x) sum += one[x] * other[x];
      }
  return sum;
}

/* Poisson's equation has a solution only if the sum of f is 0, as it is but for rounding. */
static void remove_mean(const Multigrid* m, Level* l, double sum) {
  const Stencil s = stencil_of(m, l);
  int ranks;
  MPI_Comm_size(l->ghosts.around->grid, &ranks);
  const double mean = sum / ((double)ranks * s.boxes * s.side * s.side * s.side);
  for (size_t i = 0; i < l->cells; ++i) l->f[i] -= mean;
}

static double largest_residual(const Multigrid* m, const Level* l) {
  const Stencil s = stencil_of(m, l);
  double largest = 0;
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const double* r = l->residual + row_at(&s, box, z, y);
        for (int x = 0; x < s.side; ++x) largest = fmax(largest, fabs(r[x]));
      }
  return largest;
}

/* Of m->own, into m->all. All ranks take part, so it needs no communicator of the grid's. */
static void start_reduction(Multigrid* m, MPI_Op op, Phase* phase) {
  phase_begin(phase);
  if (m->together)
    MPI_Iallreduce(&m->own, &m->all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &m->reduction);
  else
    MPI_Allreduce(&m->own, &m->all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  phase_end(phase);
}

static void finish_reduction(Multigrid* m, Phase* phase) {
  phase_begin(phase);
  MPI_Wait(&m->reduction, MPI_STATUS_IGNORE);
  phase_end(phase);
}

/* The level whose ghost cells a step needs, and *array; NULL if it needs a reduction. */
static Level* ghosts_of(Multigrid* m, const Step* s, double** array) {
  Level* const l = &m->level[s->work == work_interpolate ? s->level + 1 : s->level];
  *array = s->work == work_product ? l->direction : l->u;
  switch (s->work) {
    case work_sweep:
    case work_restrict:
    case work_interpolate:
    case work_product:
    case work_residual: return l;
    default: return NULL;
  }
}

static Phase* reduction_phase(Multigrid* m, const Step* s) {
  return s->work == work_norm ? &m->norms : &m->dot_products;
}

/* Of conjugate gradients, r is in f, and minus the product in residual. */
static void start_step(Multigrid* m) {
  const Step* const s = &m->steps[m->at];
  Level* const l = &m->level[s->level];
  double* array;
  Level* const with_ghosts = ghosts_of(m, s, &array);
  if (with_ghosts != NULL) {
    ghosts_start(&with_ghosts->ghosts, array);
    return;
  }
  switch (s->work) {
    case work_remove_mean:
      for (size_t i = 0; i < l->cells; ++i) l->direction[i] = 1;
      m->own = own_dot(m, l, l->f, l->direction);
      break;
    case work_begin:
      memcpy(l->direction, l->f, l->cells * sizeof *l->f);
      m->own = own_dot(m, l, l->f, l->f);
      break;
    case work_step: m->own = own_dot(m, l, l->direction, l->residual); break;
    case work_direction: m->own = own_dot(m, l, l->f, l->f); break;
    default: m->own = largest_residual(m, l);
  }
  start_reduction(m, s->work == work_norm ? MPI_MAX : MPI_SUM, reduction_phase(m, s));
}

static void begin_gradients(Multigrid* m) {
  m->squared = m->all;
  m->target = bottom_reduction * bottom_reduction * m->squared;
  m->tries = 0;
  m->at = m->squared > m->target ? m->product : m->product + 3;
}

/* Ghost cells are computed too, and replaced by the exchange. */
static void go_along_direction(Level* l, double step) {
  for (size_t i = 0; i < l->cells; ++i) {
    l->u[i] += step * l->direction[i];
    l->f[i] += step * l->residual[i];
  }
}

static void next_direction(Multigrid* m, Level* l) {
  const double ratio = m->all / m->squared;
  m->squared = m->all;
  for (size_t i = 0; i < l->cells; ++i) l->direction[i] = l->f[i] + ratio * l->direction[i];
  ++m->iterations;
  m->at = ++m->tries < most_iterations && m->squared > m->target ? m->product : m->product + 3;
}

static void note_residual(Multigrid* m) {
  if (m->done == 0) m->first_residual = m->all;
  m->residual = m->all;
  m->at = m->done++ < m->cycles ? 0 : m->step_count;
}

/* Afterwards m->at is the next step. */
static void finish_step(Multigrid* m) {
  const Step* const s = &m->steps[m->at];
  Level* const l = &m->level[s->level];
  double* array;
  Level* const with_ghosts = ghosts_of(m, s, &array);
  if (with_ghosts != NULL)
    ghosts_finish(&with_ghosts->ghosts, array);
  else
    finish_reduction(m, reduction_phase(m, s));
  ++m->at;
  switch (s->work) {
    case work_sweep:
      sweep(m, l, s->colour, s->level + 1 < m->levels ? &m->smoothing : &m->solving);
      break;
    case work_restrict:
      apply(m, l, l->u, 1, l->residual, &m->smoothing);
      restrict_residual(m, l, l + 1);
      break;
    case work_interpolate: interpolate(m, l + 1, l); break;
    case work_remove_mean: remove_mean(m, l, m->all); break;
    case work_begin: begin_gradients(m); break;
    case work_product: apply(m, l, l->direction, 0, l->residual, &m->solving); break;
    case work_step: go_along_direction(l, -m->squared / m->all); break;
    case work_direction: next_direction(m, l); break;
    case work_residual: apply(m, l, l->u, 1, l->residual, &m->smoothing); break;
    case work_norm: note_residual(m); break;
  }
}

void multigrid_begin(Multigrid* m, int cycles) {
  m->cycles = cycles;
  m->done = 0;
  m->at = m->step_count - 2; /* the residual of the first u */
  start_step(m);
}

int multigrid_advance(Multigrid* m) {
  if (m->at < m->step_count) finish_step(m);
  if (m->at == m->step_count) return 0;
  start_step(m);
  return 1;
}
