#include "multigrid_cycle.h"

#include <stdlib.h>
#include <string.h>

#include "multigrid_kernels.h"
#include "options.h"

enum { sweeps_before = 2, sweeps_after = 2, sweeps_at_bottom = 24, most_iterations = 200 };
static const double bottom_reduction = 1e-4;

static double* reserve(size_t count) {
  return options_memory("multigrid", count, sizeof(double), "use smaller or fewer boxes");
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
                    double a, Bottom bottom, int threads, int together) {
  *m = (Multigrid){.a = a,
                   .bottom = bottom,
                   .threads = threads,
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

/* Reduces m->own into m->all. All ranks take part, so it needs no communicator of the grid's. */
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
  ghosts_wait(&m->level[0].ghosts, &m->reduction);
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

/* Starts a step. In conjugate gradients, r is in f, and minus the product in residual. */
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
      m->own = kernel_own_dot(m, l, l->f, l->direction);
      break;
    case work_begin:
      memcpy(l->direction, l->f, l->cells * sizeof *l->f);
      m->own = kernel_own_dot(m, l, l->f, l->f);
      break;
    case work_step: m->own = kernel_own_dot(m, l, l->direction, l->residual); break;
    case work_direction: m->own = kernel_own_dot(m, l, l->f, l->f); break;
    default: m->own = kernel_largest_residual(m, l);
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
      kernel_sweep(m, l, s->colour, s->level + 1 < m->levels ? &m->smoothing : &m->solving);
      break;
    case work_restrict:
      kernel_apply(m, l, l->u, 1, l->residual, &m->smoothing);
      kernel_restrict_residual(m, l, l + 1);
      break;
    case work_interpolate: kernel_interpolate(m, l + 1, l); break;
    case work_remove_mean: kernel_remove_mean(m, l, m->all); break;
    case work_begin: begin_gradients(m); break;
    case work_product: kernel_apply(m, l, l->direction, 0, l->residual, &m->solving); break;
    case work_step: go_along_direction(l, -m->squared / m->all); break;
    case work_direction: next_direction(m, l); break;
    case work_residual: kernel_apply(m, l, l->u, 1, l->residual, &m->smoothing); break;
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

void multigrid_look(Multigrid* m) {
  double* array;
  if (m->at == m->step_count) return;
  Level* const with_ghosts = ghosts_of(m, &m->steps[m->at], &array);
  if (with_ghosts != NULL) ghosts_look(&with_ghosts->ghosts);
}
