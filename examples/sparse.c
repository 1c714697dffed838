#include "sparse.h"

#include <stdlib.h>

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count == 0 ? 1 : count, size);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

static int first_row(int rows, int ranks, int rank) {
  return (int)((long long)rows * rank / ranks);
}

static int owner_of(int row, int rows, int ranks) {
  int rank = (int)((long long)row * ranks / rows);
  while (first_row(rows, ranks, rank + 1) <= row) ++rank;
  while (first_row(rows, ranks, rank) > row) --rank;
  return rank;
}

static void append(Sparse* matrix, int* entries, int column, double value) {
  matrix->column[*entries] = column;
  matrix->value[(*entries)++] = value;
}

/* Column numbers are global here; find_halo makes them local. */
static void assemble(Sparse* matrix, int side) {
  int entries = 0;
  matrix->row_start = allocate((size_t)matrix->count + 1, sizeof(int));
  matrix->column = allocate(5 * (size_t)matrix->count, sizeof(int));
  matrix->value = allocate(5 * (size_t)matrix->count, sizeof(double));
  for (int i = 0; i < matrix->count; ++i) {
    const int row = matrix->first + i, x = row % side, y = row / side;
    if (y > 0) append(matrix, &entries, row - side, -1);
    if (x > 0) append(matrix, &entries, row - 1, -1);
    append(matrix, &entries, row, 4);
    if (x < side - 1) append(matrix, &entries, row + 1, -1);
    if (y < side - 1) append(matrix, &entries, row + side, -1);
    matrix->row_start[i + 1] = entries;
  }
}

static int ascending(const void* one, const void* other) {
  return *(const int*)one - *(const int*)other;
}

/* The columns of other ranks, each once; they are sorted, and so grouped by owner. */
static int* find_halo(Sparse* matrix) {
  const int entries = matrix->row_start[matrix->count];
  int* halo = allocate((size_t)entries, sizeof(int));
  int found = 0;
  for (int e = 0; e < entries; ++e) {
    const int local = matrix->column[e] - matrix->first;
    if (local < 0 || local >= matrix->count) halo[found++] = matrix->column[e];
  }
  qsort(halo, (size_t)found, sizeof(int), ascending);
  matrix->halo_count = 0;
  for (int i = 0; i < found; ++i) {
    if (i == 0 || halo[i] != halo[i - 1]) halo[matrix->halo_count++] = halo[i];
  }
  for (int e = 0; e < entries; ++e) {
    const int local = matrix->column[e] - matrix->first;
    if (local >= 0 && local < matrix->count) {
      matrix->column[e] = local;
    } else {
      const int* place =
          bsearch(&matrix->column[e], halo, (size_t)matrix->halo_count, sizeof(int), ascending);
      matrix->column[e] = matrix->count + (int)(place - halo);
    }
  }
  return halo;
}

/* Each rank tells the owners of its halo which elements they have to send. */
static void find_neighbours(Sparse* matrix, const int* halo, int ranks) {
  int* needs = allocate((size_t)ranks, sizeof(int));
  int* gives = allocate((size_t)ranks, sizeof(int));
  for (int i = 0; i < matrix->halo_count; ++i) ++needs[owner_of(halo[i], matrix->rows, ranks)];
  MPI_Alltoall(needs, 1, MPI_INT, gives, 1, MPI_INT, matrix->comm);
  matrix->neighbour = allocate((size_t)ranks, sizeof(Neighbour));
  matrix->request = allocate(2 * (size_t)ranks, sizeof(MPI_Request));
  int received = 0, requests = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (needs[rank] == 0 && gives[rank] == 0) continue;
    Neighbour* other = &matrix->neighbour[matrix->neighbour_count++];
    *other = (Neighbour){.rank = rank,
                         .receive_count = needs[rank],
                         .send_count = gives[rank],
                         .receive_first = received};
    received += needs[rank];
    other->send = allocate((size_t)gives[rank], sizeof(int));
    other->send_values = allocate((size_t)gives[rank], sizeof(double));
    MPI_Irecv(other->send, other->send_count, MPI_INT, rank, 1, matrix->comm,
              &matrix->request[requests++]);
    MPI_Isend(halo + other->receive_first, other->receive_count, MPI_INT, rank, 1, matrix->comm,
              &matrix->request[requests++]);
  }
  MPI_Waitall(requests, matrix->request, MPI_STATUSES_IGNORE);
  for (int n = 0; n < matrix->neighbour_count; ++n) {
    for (int i = 0; i < matrix->neighbour[n].send_count; ++i)
      matrix->neighbour[n].send[i] -= matrix->first;
  }
  free(needs);
  free(gives);
}

Sparse sparse_poisson(MPI_Comm comm, int side) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Sparse matrix = {.comm = comm, .rows = side * side};
  matrix.first = first_row(matrix.rows, ranks, rank);
  matrix.count = first_row(matrix.rows, ranks, rank + 1) - matrix.first;
  assemble(&matrix, side);
  int* halo = find_halo(&matrix);
  find_neighbours(&matrix, halo, ranks);
  free(halo);
  return matrix;
}

void sparse_free(Sparse* matrix) {
  for (int n = 0; n < matrix->neighbour_count; ++n) {
    free(matrix->neighbour[n].send);
    free(matrix->neighbour[n].send_values);
  }
  free(matrix->neighbour);
  free(matrix->request);
  free(matrix->row_start);
  free(matrix->column);
  free(matrix->value);
}

void sparse_fill_halo(Sparse* matrix, double* vector) {
  int requests = 0;
  for (int n = 0; n < matrix->neighbour_count; ++n) {
    Neighbour* other = &matrix->neighbour[n];
    MPI_Irecv(vector + matrix->count + other->receive_first, other->receive_count, MPI_DOUBLE,
              other->rank, 2, matrix->comm, &matrix->request[requests++]);
  }
  for (int n = 0; n < matrix->neighbour_count; ++n) {
    Neighbour* other = &matrix->neighbour[n];
    for (int i = 0; i < other->send_count; ++i) other->send_values[i] = vector[other->send[i]];
    MPI_Isend(other->send_values, other->send_count, MPI_DOUBLE, other->rank, 2, matrix->comm,
              &matrix->request[requests++]);
  }
  MPI_Waitall(requests, matrix->request, MPI_STATUSES_IGNORE);
}

void sparse_multiply_rows(const Sparse* matrix, const double* in, double* out, int from, int to) {
  for (int row = from; row < to; ++row) {
    double sum = 0;
    for (int e = matrix->row_start[row]; e < matrix->row_start[row + 1]; ++e) {
      sum += matrix->value[e] * in[matrix->column[e]];
    }
    out[row] = sum;
  }
}

void sparse_multiply(Sparse* matrix, double* in, double* out) {
  sparse_fill_halo(matrix, in);
  sparse_multiply_rows(matrix, in, out, 0, matrix->count);
}

double dot(const double* a, const double* b, int from, int to) {
  double sum = 0;
  for (int i = from; i < to; ++i) sum += a[i] * b[i];
  return sum;
}

static int by_value(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof(double), by_value);
  return values[count / 2];
}
