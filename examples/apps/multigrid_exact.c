#include "multigrid_exact.h"

#include <math.h>
#include <stdlib.h>

#include "hash.h"

static const double pi = 3.14159265358979323846;

/* The exact solution is wave(x) wave(y) wave(z), where the length of a direction is a period. The
 * longest direction has length 1. Its two terms leave no symmetry that could hide an error. */
static double wave(double x, double length) {
  const double p = 2 * pi * x / length;
  return sin(p) + 0.1 * sin(2 * p + 1);
}

static double second_derivative(double x, double length) {
  const double k = 2 * pi / length, p = k * x;
  return -k * k * (sin(p) + 0.4 * sin(2 * p + 1));
}

Exact exact_make(const Division* d, const Level* l) {
  Exact e;
  for (int axis = 0; axis < 3; ++axis) {
    const int count = d->dims[axis] * l->boxes * l->side;
    e.size[axis] = (size_t)count;
    e.wave[axis] = malloc(2 * (size_t)count * sizeof(double));
    if (e.wave[axis] == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    e.second[axis] = e.wave[axis] + count;
    for (int i = 0; i < count; ++i) {
      e.wave[axis][i] = wave((i + 0.5) * l->h, count * l->h);
      e.second[axis][i] = second_derivative((i + 0.5) * l->h, count * l->h);
    }
  }
  return e;
}

void exact_free(Exact* e) {
  for (int axis = 0; axis < 3; ++axis) free(e->wave[axis]);
}

static double exact_solution(const Exact* e, const size_t at[3]) {
  return e->wave[0][at[0]] * e->wave[1][at[1]] * e->wave[2][at[2]];
}

static double right_hand_side(const Exact* e, const size_t at[3], double a) {
  double sum = a * exact_solution(e, at);
  for (int axis = 0; axis < 3; ++axis)
    sum -= e->second[axis][at[axis]] * e->wave[(axis + 1) % 3][at[(axis + 1) % 3]] *
           e->wave[(axis + 2) % 3][at[(axis + 2) % 3]];
  return sum;
}

/* Goes through this rank's cells of level 0. */
typedef struct {
  size_t index; /* in an array of the level */
  size_t at[3]; /* in the whole */
} Cell;

static size_t cells_of(const Level* l) {
  const size_t edge = (size_t)l->boxes * (size_t)l->side;
  return edge * edge * edge;
}

static Cell cell_at(const Division* d, const Level* l, size_t number) {
  const size_t side = (size_t)l->side, boxes = (size_t)l->boxes, edge = boxes * side;
  const size_t own[3] = {number % edge, number / edge % edge, number / edge / edge};
  Cell c = {0};
  size_t box = 0, inside = 0;
  for (int axis = 2; axis >= 0; --axis) {
    c.at[axis] = (size_t)d->place[axis] * edge + own[axis];
    box = box * boxes + own[axis] / side;
    inside = inside * (side + 2) + own[axis] % side + 1;
  }
  c.index = box * (side + 2) * (side + 2) * (side + 2) + inside;
  return c;
}

void exact_fill(const Exact* e, const Division* d, const Multigrid* m) {
  const Level* l = &m->level[0];
  for (size_t i = 0; i < cells_of(l); ++i) {
    const Cell c = cell_at(d, l, i);
    l->f[c.index] = right_hand_side(e, c.at, m->a);
  }
}

/* Poisson's equation leaves a constant open: the exact solution's mean is 0. */
double exact_error(const Exact* e, const Division* d, const Multigrid* m) {
  const Level* l = &m->level[0];
  double sum = 0, total = 0, mine = 0, all;
  for (size_t i = 0; i < cells_of(l); ++i) sum += l->u[cell_at(d, l, i).index];
  if (m->a == 0) MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double mean = total / ((double)e->size[0] * (double)e->size[1] * (double)e->size[2]);
  for (size_t i = 0; i < cells_of(l); ++i) {
    const Cell c = cell_at(d, l, i);
    mine = fmax(mine, fabs(l->u[c.index] - mean - exact_solution(e, c.at)));
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

uint64_t exact_hash(const Exact* e, const Division* d, const Level* l) {
  uint64_t hash = 0;
  for (size_t i = 0; i < cells_of(l); ++i) {
    const Cell c = cell_at(d, l, i);
    hash += hash_number(l->u[c.index], c.at[0] + e->size[0] * (c.at[1] + e->size[1] * c.at[2]));
  }
  return hash;
}
