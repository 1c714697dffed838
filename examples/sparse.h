/* A sparse matrix in compressed rows, distributed by rows, and its product with a vector.
 *
 * Each rank owns consecutive rows and the same part of every vector. For a product it also needs
 * elements of vectors that other ranks own, its halo. The halo is stored after its own part, and
 * neighbours exchange it point to point. Each rank has one Sparse, used by one thread, except that
 * several may multiply rows at once; sparse_free frees what sparse_poisson has allocated. */
#ifndef TUTTI_EXAMPLE_SPARSE_H
#define TUTTI_EXAMPLE_SPARSE_H

#include <mpi.h>

typedef struct {
  int rank;
  int receive_count, send_count;
  int receive_first; /* index of the first received element in the halo */
  int* send;         /* indices of the own elements to send */
  double* send_values;
} Neighbour;

typedef struct {
  MPI_Comm comm;
  int rows;         /* rows of the whole matrix */
  int first, count; /* the rows of this rank */
  int halo_count;
  int* row_start; /* count + 1 elements */
  int* column;    /* local: an index below `count` is an own element, others are in the halo */
  double* value;
  int neighbour_count;
  Neighbour* neighbour;
  MPI_Request* request;
} Sparse;

/* The 5-point Laplacian of the unit square on a grid of side x side inner points. */
Sparse sparse_poisson(MPI_Comm comm, int side);
void sparse_free(Sparse* matrix);

/* out = matrix * in. `in` has count + halo_count elements; this function fills the halo. */
void sparse_multiply(Sparse* matrix, double* in, double* out);
/* Its two parts: the halo, and the product's rows from `from` to `to` - 1, which any thread may
 * compute. */
void sparse_fill_halo(Sparse* matrix, double* in);
void sparse_multiply_rows(const Sparse* matrix, const double* in, double* out, int from, int to);

/* For solvers: the dot product of a part of two vectors, and the median of values, which it sorts.
 */
double dot(const double* a, const double* b, int from, int to);
double median(double* values, int count);

#endif
