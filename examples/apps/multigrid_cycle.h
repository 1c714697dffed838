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
 * A solve is a list of steps. Each needs something of other ranks: ghost cells, or a sum or maximum
 * over all ranks. So it is started, and goes on when that has come. Several systems can be solved
 * at once: multigrid_advance() finishes one step of a system and starts its next one, and the
 * program goes from system to system, so that the messages of one travel while the others are
 * computed.
 *
 * Results depend neither on which rank has which boxes, nor on the way of exchange, nor on how many
 * systems are solved at once, nor on the number of threads (OpenMP's), apart from the rounding of
 * conjugate gradients' dot products. A rank owns its Multigrids; one thread uses them, and all
 * ranks advance them in the same order. */
#ifndef MULTIGRID_CYCLE_H
#define MULTIGRID_CYCLE_H

#include "multigrid_ghosts.h"

typedef enum { bottom_gradients, bottom_sweeps } Bottom;

/* All arrays have the form that ghosts_start() takes. */
typedef struct {
  Ghosts ghosts;
  int side, boxes; /* cells of a box, and boxes of this rank, in each direction */
  size_t cells;    /* numbers in an array */
  double h;        /* edge of a cell */
  double *u, *f, *residual;
  double* direction; /* the direction in conjugate gradients; on the last level */
} Level;

enum { most_levels = 10, most_steps = 200 };

/* The work of a step when its ghost cells or its reduction are there. */
typedef enum {
  work_sweep,       /* solves the cells of one colour */
  work_restrict,    /* residual, as f of the next level */
  work_interpolate, /* adds the next level's u */
  work_remove_mean, /* conjugate gradients from here on: subtracts the mean of f (Poisson) */
  work_begin,       /* first direction, from the square of the residual */
  work_product,     /* the product of matrix and direction */
  work_step,        /* along the direction, by its product */
  work_direction,   /* the next direction, and another product if the residual is too large */
  work_residual,    /* the residual of level 0, after each V-cycle */
  work_norm         /* the largest residual over all ranks */
} Work;

typedef struct {
  Work work;
  int level, colour;
} Step;

/* A system that is solved. */
typedef struct {
  Level level[most_levels];
  int levels;
  double a; /* 0 (Poisson) or more (Helmholtz) */
  Bottom bottom;
  int threads;  /* for its computation */
  int together; /* another system is solved meanwhile: reductions are non-blocking */
  Step steps[most_steps];
  int step_count, product; /* where conjugate gradients' product stands among the steps */

  /* The solve under way: the step that was started, V-cycles in all, and those that are over. */
  int at, cycles, done;
  double own, all; /* this rank's number of a reduction, and the result */
  MPI_Request reduction;
  double first_residual, residual; /* the largest, before the first and after the last V-cycle */
  double squared, target;          /* conjugate gradients: the residual's square, and its goal */
  int tries;                       /* iterations on the last level in this V-cycle */

  long iterations; /* iterations of conjugate gradients so far */
  /* Times of this rank: sweeps and residuals, between levels, on the last level; and reductions
   * over all ranks. */
  Phase smoothing, transfer, solving, norms, dot_products;
} Multigrid;

/* Collective. `side` is a power of two, 4 or more; `h` the edge of a cell of level 0. */
void multigrid_make(Multigrid* m, const Neighbourhood* around, int boxes, int side, double h,
                    double a, Bottom bottom, int threads, int together);
void multigrid_free(Multigrid* m);

/* Starts a solve of u and f of level 0 by `cycles` V-cycles. Collective. */
void multigrid_begin(Multigrid* m, int cycles);

/* Finishes the step that was started, and starts the next one. Returns 0 when the solve is over.
 * Collective. */
int multigrid_advance(Multigrid* m);

/* While other systems are advanced: lets the exchange under way go on (ghosts_look). */
void multigrid_look(Multigrid* m);

#endif
