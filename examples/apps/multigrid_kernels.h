/* A rank's computations in the steps of multigrid_cycle.h, on its own cells alone. Ghost cells
 * of the arrays that are read must be filled.
 *
 * A sweep and a product add their time to a phase of the caller's, transfers between levels to the
 * system's. One thread calls them; loops over many cells are divided among the system's threads. */
#ifndef MULTIGRID_KERNELS_H
#define MULTIGRID_KERNELS_H

#include "multigrid_cycle.h"

/* Solves the equation of each cell of one colour (0 or 1) for that cell. */
void kernel_sweep(Multigrid* m, Level* level, int colour, Phase* phase);
/* result = b f - (a - laplace) u: the residual with b = 1, and minus the product with b = 0. */
void kernel_apply(Multigrid* m, Level* level, const double* u, double b, double* result,
                  Phase* phase);
/* f of the coarse level is the average of the fine residual over eight cells, and its u is 0. */
void kernel_restrict_residual(Multigrid* m, const Level* fine, Level* coarse);
/* Adds the interpolated u of the coarse level to that of the fine one. */
void kernel_interpolate(Multigrid* m, const Level* coarse, Level* fine);

/* This rank's part of the dot product of two arrays. */
double kernel_own_dot(const Multigrid* m, const Level* level, const double* one,
                      const double* other);
/* Subtracts from f its mean, of which `sum` is the sum over all ranks. */
void kernel_remove_mean(const Multigrid* m, Level* level, double sum);
/* The largest absolute residual of this rank. */
double kernel_largest_residual(const Multigrid* m, const Level* level);

#endif
