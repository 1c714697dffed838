/* The collectives as tutti-bench measures them: what each rank puts in, the call, and what must
 * come out.
 *
 * A cell is a kind of call (kinds.h). Its size is that of one rank's part: of what one rank sends
 * to or gets from one other (gather, scatter, allgather, alltoall and their v-forms), of one rank's
 * share of the result (reduce_scatter, reduce_scatter_block), else of the whole vector. Parts lie
 * one behind the other, by rank. Those of the v-forms and of reduce_scatter are uneven: they grow
 * with the rank, evenly from 1/2 of the cell's size to 3/2 of it, in whole elements whose mean is
 * the cell's size; in alltoallv rank i sends part (j - i) mod ranks to rank j, so that every rank
 * sends and gets as much as any other.
 *
 * A Cell belongs to one rank, is used by one thread, and is set anew for each size; its buffers
 * serve all of them. */
#ifndef TUTTI_BENCH_COLLECTIVES_H
#define TUTTI_BENCH_COLLECTIVES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds.h"

typedef struct {
  BenchKind kind;
  int rank, ranks;
  size_t count; /* elements of a part, in the mean */
  void *in, *out;
  MPI_Comm communicators[BENCH_COMMUNICATORS];
  int *sent, *sent_at;         /* by rank: elements for it, and where in `in` they begin */
  int *received, *received_at; /* by rank: elements from it, and where in `out` they begin */
} Cell;

/* The buffers a rank may have, for collectives that need a multiple of the cell's size. */
#define CELL_BOUND_MIB 256

/* The largest cell within that bound; SIZE_MAX for collectives whose buffers do not grow with the
 * ranks. */
size_t cell_most_bytes(BenchCollective collective, int ranks);

/* Makes buffers, written once, that serve every one of these kinds that is within the bound, and
 * the communicators. False without memory. All ranks of MPI_COMM_WORLD call both. */
bool cell_open(Cell* cell, int rank, int ranks, const BenchKinds* kinds);
void cell_close(Cell* cell);

/* The same for callers that have buffers of their own: a cell without any, to be set before `in`
 * and `out` are given the bytes that it needs at this rank, which may be none. It has
 * MPI_COMM_WORLD alone. False without memory. */
bool cell_open_bare(Cell* cell, int rank, int ranks);
void cell_close_bare(Cell* cell);
size_t cell_in_bytes(const Cell* cell);
size_t cell_out_bytes(const Cell* cell);

void cell_set(Cell* cell, const BenchKind* kind);

/* This rank rewrites what it contributes to operation `number`. */
void cell_fill(const Cell* cell, uint32_t number);
void cell_perform(const Cell* cell);

/* False, and one line that says what is wrong, where this rank's result is not that of operation
 * `number`. */
bool cell_verify(const Cell* cell, uint32_t number, char line[256]);

#endif
