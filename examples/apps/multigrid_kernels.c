#include "multigrid_kernels.h"

#include <math.h>

enum { cells_of_a_thread = 4096 };

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

/* A team of threads costs some microseconds, so each thread gets some thousand cells. The rows of
 * a loop write different cells, and read none that another row writes; so the bits of all cells
 * are the same with any number of threads. */
static int threads_for(const Multigrid* m, const Stencil* s) {
  const size_t cells = (size_t)s->boxes * (size_t)s->side * (size_t)s->side * (size_t)s->side;
  const size_t most = cells / cells_of_a_thread + 1;
  return most < (size_t)m->threads ? (int)most : m->threads;
}

/* Boxes have even sides, so a cell's colour follows from its place in its box. */
void kernel_sweep(Multigrid* m, Level* l, int colour, Phase* phase) {
  phase_begin(phase);
  const Stencil s = stencil_of(m, l);
  const double over_diagonal = 1 / s.diagonal;
#pragma omp parallel for collapse(2) num_threads(threads_for(m, &s))
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

void kernel_apply(Multigrid* m, Level* l, const double* u, double b, double* result, Phase* phase) {
  phase_begin(phase);
  const Stencil s = stencil_of(m, l);
#pragma omp parallel for collapse(2) num_threads(threads_for(m, &s))
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

void kernel_restrict_residual(Multigrid* m, const Level* fine, Level* coarse) {
  phase_begin(&m->transfer);
  const Stencil s = stencil_of(m, fine), t = stencil_of(m, coarse);
#pragma omp parallel for collapse(2) num_threads(threads_for(m, &s))
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
void kernel_interpolate(Multigrid* m, const Level* coarse, Level* fine) {
  phase_begin(&m->transfer);
  const Stencil s = stencil_of(m, fine), t = stencil_of(m, coarse);
#pragma omp parallel for collapse(2) num_threads(threads_for(m, &s))
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

double kernel_own_dot(const Multigrid* m, const Level* l, const double* one, const double* other) {
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
void kernel_remove_mean(const Multigrid* m, Level* l, double sum) {
  const Stencil s = stencil_of(m, l);
  int ranks;
  MPI_Comm_size(l->ghosts.around->grid, &ranks);
  const double mean = sum / ((double)ranks * s.boxes * s.side * s.side * s.side);
  for (size_t i = 0; i < l->cells; ++i) l->f[i] -= mean;
}

double kernel_largest_residual(const Multigrid* m, const Level* l) {
  const Stencil s = stencil_of(m, l);
  double largest = 0;
#pragma omp parallel for collapse(2) num_threads(threads_for(m, &s)) reduction(max : largest)
  for (int box = 0; box < s.boxes; ++box)
    for (int z = 0; z < s.side; ++z)
      for (int y = 0; y < s.side; ++y) {
        const double* r = l->residual + row_at(&s, box, z, y);
        for (int x = 0; x < s.side; ++x) largest = fmax(largest, fabs(r[x]));
      }
  return largest;
}
