/* The collectives that tutti-bench measures: each rank's input, the call, and the required result.
 *
 * A cell is a kind of call (kinds.h). Its size is that of one rank's part: the data between two
 * ranks (gather, scatter, allgather, alltoall and their v-collectives), or one rank's part of the
 * result (reduce_scatter, reduce_scatter_block). For other collectives it is the size of the whole
 * vector. Parts are stored one after another, by rank. The parts of the v-collectives and of
 * reduce_scatter differ in length, in whole elements, as the kind's lengths say (kinds.h): by
 * default they grow evenly with the rank from 1/2 to 3/2 of the cell's size. Their mean is the
 * cell's size. The heavy part, if there is one, is that of rank ranks / 2. In alltoallv and
 * alltoallw rank i sends part (j - i) mod ranks to rank j, so that all ranks send and get equally
 * much.
 *
 * A Cell belongs to one rank and is used by one thread. It is set again for each size, with the
 * same buffers. */
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
  int *sent, *sent_at;            /* for each rank: elements for it, and their places in `in` */
  int *received, *received_at;    /* for each rank: elements from it, and their places in `out` */
  int *sent_from, *received_from; /* the beginnings in bytes, as alltoallw takes them */
  MPI_Datatype* types;            /* indexed by rank, as alltoallw takes them */
  MPI_Request request;            /* the started operation's, or the persistent one (calls.h) */
} Cell;

/* The bound on a rank's buffers, for collectives that need a multiple of the cell's size. */
#define CELL_BOUND_MIB 256

/* The largest cell within that bound; SIZE_MAX for collectives whose buffers do not grow with the
 * number of ranks. */
size_t cell_most_bytes(BenchCollective collective, int ranks);

/* Makes the communicators and buffers that are large enough for each of these kinds within the
 * bound. The buffers are written once. False without memory. All ranks of MPI_COMM_WORLD call
 * both. */
bool cell_open(Cell* cell, int rank, int ranks, const BenchKinds* kinds);
void cell_close(Cell* cell);

/* For callers that have buffers of their own: makes a cell without buffers. The caller sets the
 * cell and then points `in` and `out` to the bytes that it needs at this rank, which may be none.
 * Its only communicator is MPI_COMM_WORLD. False without memory. */
bool cell_open_bare(Cell* cell, int rank, int ranks);
void cell_close_bare(Cell* cell);
size_t cell_in_bytes(const Cell* cell);
size_t cell_out_bytes(const Cell* cell);

void cell_set(Cell* cell, const BenchKind* kind);
MPI_Datatype cell_type(const Cell* cell);
MPI_Comm cell_communicator(const Cell* cell);

/* Makes a cell of this kind that uses the buffers and communicators of another one and has arrays
 * of its own, which a started operation needs. cell_close_bare closes it. False without memory. */
bool cell_open_beside(Cell* cell, const Cell* other, const BenchKind* kind);

/* This rank rewrites its input of operation `number`. */
void cell_fill(const Cell* cell, uint32_t number);

/* True if this rank's result is that of operation `number`; else false, and `line` says what is
 * wrong. */
bool cell_verify(const Cell* cell, uint32_t number, char line[256]);

#endif
