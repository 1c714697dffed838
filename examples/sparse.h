/* A sparse matrix in compressed rows, distributed by rows, and its product with a vector.
 *
 * Each rank owns consecutive rows and the same part of every vector. For a product it also needs
 * elements of vectors that other ranks own, its halo; they lie behind its own part, and neighbours
 * exchange them point to point. One Sparse a rank, used by one thread; sparse_free releases what
 * sparse_poisson made. */
#ifndef TUTTI_EXAMPLE_SPARSE_H
#define TUTTI_EXAMPLE_SPARSE_H

#include <mpi.h>

typedef struct {
  int rank;
  int receive_count, send_count;
  int receive_first; /* in the halo */
  int* send;         /* which of this rank's own elements */
  double* send_values;
} Neighbour;

typedef struct {
  MPI_Comm comm;
  int rows;         /* of the whole matrix */
  int first, count; /* the rows of this rank */
  int halo_count;
  int* row_start; /* count + 1 */
  int* column;    /* local: below `count` an own element, from `count` on one of the halo */
  double* value;
  int neighbour_count;
  Neighbour* neighbour;
  MPI_Request* request;
} Sparse;

/* The 5-point Laplacian of the unit square on a grid of side x side inner points. */
Sparse sparse_poisson(MPI_Comm comm, int side);
void sparse_free(Sparse* matrix);

/* out = matrix * in. `in` has room for count + halo_count elements, of which the halo is filled
 * here. */
void sparse_multiply(Sparse* matrix, double* in, double* out);

#endif
