/* The Fourier transform of a three-dimensional array that is divided among ranks.
 *
 * The ranks form a grid of PX x PY: rows of PX ranks and columns of PY ranks. An array of
 * NX x NY x NZ complex numbers (x varies fastest) has one of three layouts, in each of which a rank
 * holds whole lines of one direction:
 *
 *   x lines   [part of z][part of y][all of x]   y is divided within a row, z within a column
 *   y lines   [part of z][all of y][part of x]   x is divided within a row, z within a column
 *   z lines   [all of z][part of y][part of x]   x is divided within a row, y within a column
 *
 * A transform in a direction needs whole lines of it. So the ranks of a row exchange parts between
 * x and y lines, and those of a column between y and z lines: each rank has data for each other
 * one, as MPI_Alltoall moves it. With PX = 1 ("slabs") the first two layouts are the same and there
 * is one exchange; otherwise ("pencils") there are two, among fewer ranks.
 *
 * A rank may have several grids of one shape, so that several transforms are under way at once: all
 * ranks start and finish them in the same order. A rank owns its grids. One thread uses them,
 * between MPI_Init and MPI_Finalize. */
#ifndef FFT_GRID_H
#define FFT_GRID_H

#include <complex.h>
#include <fftw3.h>
#include <mpi.h>
#include <stddef.h>

#include "phases.h"

typedef struct {
  int nx, ny, nz; /* the sizes of the whole array */
  int px, py;     /* the ranks of a row, and of a column */
  int slices;     /* in how many parts an exchange is made if `overlapped`, otherwise 1 */
  int overlapped; /* MPI_Ialltoall(v) of a slice while the next ones are computed */
} Shape;

/* The indices first, ..., first + count - 1 of a direction. */
typedef struct {
  int first, count;
} Range;

/* The phases whose times a grid counts. */
enum {
  grid_transpose, /* MPI_Alltoall(v) */
  grid_start,     /* MPI_Ialltoall(v), and MPI_Testall between slices */
  grid_wait,      /* MPI_Wait */
  grid_transform, /* transforms of lines */
  grid_pack,      /* packing and unpacking */
  grid_phases
};

typedef struct Exchange Exchange;

typedef struct {
  Shape shape;
  double complex* array; /* where all transforms happen; the grid's */
  size_t elements;       /* the number of elements that `array` has room for */
  Range y, z;            /* this rank's part in x lines */
  Range x_of_pencil;     /* its part of x in y lines and z lines */
  Range y_of_pencil;     /* its part of y in z lines */
  Phase* phases;         /* [grid_phases], for all grids that were made from the first one */
  int first;             /* the owner of phases and communicators */
  MPI_Comm row, column;  /* with px = 1: NULL, and the communicator of all ranks */
  Exchange *x_to_y, *y_to_x, *y_to_z, *z_to_y; /* the first two are NULL if px is 1 */
  fftw_plan* plans[3][2];                      /* [direction][backward][slice], NULL if nothing */
} Grid;

/* The part of `count` indices that the `index`-th of `parts` has. */
Range grid_part(int count, int parts, int index);

/* Makes the exchanges of a grid whose shape, ranges and communicators are set (fft_transposes.c).
 * grid_make() calls it. */
void grid_make_exchanges(Grid* grid);

/* Collective over `comm`, which has px * py ranks. Ends the job if memory does not suffice. */
Grid* grid_make(const Shape* shape, MPI_Comm comm);
/* Another grid of the same shape, with phases and communicators of `first`, which outlives it. Ends
 * the job if memory does not suffice. */
Grid* grid_make_beside(const Grid* first);
void grid_free(Grid* grid);

/* From x lines to z lines, with exponents -2 pi i. Collective. */
void grid_forward(Grid* grid);

/* From z lines to x lines, with exponents +2 pi i. Not divided by the number of elements.
 * Collective. If exchanges overlap, the first exchange is under way when grid_backward_start()
 * returns, and `array` must not be touched until grid_backward_finish() returns. */
void grid_backward_start(Grid* grid);
void grid_backward_finish(Grid* grid);
void grid_backward(Grid* grid); /* both */

#endif
