/* Multigrid for a u - laplace(u) = f on a periodic block of boxes (multigrid_ghosts.h).
 *
 * Values stand at the centres of cells of edge h. Level 0 has boxes of side^3 cells, and each next
 * level has half the side, down to 2. A V-cycle improves u on a level by
 *
 *   two sweeps of red-black Gauss-Seidel; the residual, averaged over eight cells, as f of the next
 *   level; a V-cycle there from u = 0; its result, interpolated, added to u; two more sweeps.
 *
 * The last level is solved by conjugate gradients, whose dot products are MPI_Allreduce, or by
 * sweeps. Interpolation gives a cell a quarter of each of four cells of the next level: the one
 * that it lies in and the three whose faces are closest. So all steps need face neighbours only.
 *
 * Results depend neither on which rank has which boxes nor on the way of exchange, apart from the
 * rounding of conjugate gradients' dot products. A rank owns its Multigrid; one thread uses it. */
#ifndef MULTIGRID_CYCLE_H
#define MULTIGRID_CYCLE_H

#include "multigrid_ghosts.h"

typedef enum { bottom_gradients, bottom_sweeps } Bottom;

/* All arrays have the form that ghosts_exchange() takes. */
typedef struct {
  Ghosts ghosts;
  int side, boxes; /* cells of a box, and boxes of this rank, in each direction */
  size_t cells;    /* numbers in an array */
  double h;        /* edge of a cell */
  double *u, *f, *residual;
  double* direction; /* of conjugate gradients; on the last level */
} Level;

enum { most_levels = 10 };

typedef struct {
  Level level[most_levels];
  int levels;
  double a; /* 0 (Poisson) or more (Helmholtz) */
  Bottom bottom;
  long iterations; /* of conjugate gradients so far */
  /* Times of this rank: sweeps and residuals, between levels, on the last level; and reductions
   * over all ranks. */
  Phase smoothing, transfer, solving, norms, dot_products;
} Multigrid;

/* Collective. `side` is a power of two, 4 or more; `h` the edge of a cell of level 0. */
void multigrid_make(Multigrid* m, const Neighbourhood* around, int boxes, int side, double h,
                    double a, Bottom bottom);
void multigrid_free(Multigrid* m);

/* One V-cycle for u and f of level 0. Collective. */
void multigrid_cycle(Multigrid* m);

/* The largest absolute residual of level 0 over all ranks. Collective. */
double multigrid_residual(Multigrid* m);

#endif
