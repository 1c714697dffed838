#define _GNU_SOURCE
#include "collectives.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

/* --- the calls --- */

static void allreduce(const Cell* cell) {
  MPI_Allreduce(cell->in, cell->out, (int)cell->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void bcast(const Cell* cell) {
  MPI_Bcast(cell->rank == cell->root ? cell->in : cell->out, (int)cell->count, MPI_DOUBLE, cell->root, MPI_COMM_WORLD);
}
static void reduce(const Cell* cell) {
  MPI_Reduce(cell->in, cell->out, (int)cell->count, MPI_DOUBLE, MPI_SUM, cell->root, MPI_COMM_WORLD);
}
static void barrier(const Cell* cell) {
  (void)cell;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void gather(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Gather(cell->in, count, MPI_DOUBLE, cell->out, count, MPI_DOUBLE, cell->root, MPI_COMM_WORLD);
}
static void scatter(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Scatter(cell->in, count, MPI_DOUBLE, cell->out, count, MPI_DOUBLE, cell->root, MPI_COMM_WORLD);
}
static void allgather(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Allgather(cell->in, count, MPI_DOUBLE, cell->out, count, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(const Cell* cell) {
  const int count = (int)cell->count;
  MPI_Alltoall(cell->in, count, MPI_DOUBLE, cell->out, count, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce_scatter_block(const Cell* cell) {
  MPI_Reduce_scatter_block(cell->in, cell->out, (int)cell->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(const Cell* cell) {
  MPI_Scan(cell->in, cell->out, (int)cell->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void exscan(const Cell* cell) {
  MPI_Exscan(cell->in, cell->out, (int)cell->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void gatherv(const Cell* cell) {
  MPI_Gatherv(cell->in, cell->sent[cell->root], MPI_DOUBLE, cell->out, cell->received, cell->received_at, MPI_DOUBLE,
              cell->root, MPI_COMM_WORLD);
}
static void scatterv(const Cell* cell) {
  MPI_Scatterv(cell->in, cell->sent, cell->sent_at, MPI_DOUBLE, cell->out, cell->received[cell->root], MPI_DOUBLE,
               cell->root, MPI_COMM_WORLD);
}
static void allgatherv(const Cell* cell) {
  MPI_Allgatherv(cell->in, cell->sent[cell->rank], MPI_DOUBLE, cell->out, cell->received, cell->received_at, MPI_DOUBLE,
                 MPI_COMM_WORLD);
}
static void alltoallv(const Cell* cell) {
  MPI_Alltoallv(cell->in, cell->sent, cell->sent_at, MPI_DOUBLE, cell->out, cell->received, cell->received_at,
                MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce_scatter(const Cell* cell) {
  MPI_Reduce_scatter(cell->in, cell->out, cell->sent, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* --- what distinguishes them --- */

typedef enum { ONE, EACH } Parts; /* a buffer holds one part, or one for each rank */

typedef struct {
  void (*perform)(const Cell* cell);
  Parts in, out;
  bool in_at_root, out_at_root; /* only the root's counts */
  bool reduces, uneven, rooted;
} Shape;

/* In a bcast every rank rewrites `in`, though only the root's is sent: the others too have used their caches. */
static const Shape shapes[BENCH_COLLECTIVES] = {
    [BENCH_ALLREDUCE] = {allreduce, ONE, ONE, .reduces = true},
    [BENCH_BCAST] = {bcast, ONE, ONE, .rooted = true},
    [BENCH_REDUCE] = {reduce, ONE, ONE, .out_at_root = true, .rooted = true, .reduces = true},
    [BENCH_BARRIER] = {barrier, ONE, ONE},
    [BENCH_GATHER] = {gather, ONE, EACH, .out_at_root = true, .rooted = true},
    [BENCH_SCATTER] = {scatter, EACH, ONE, .in_at_root = true, .rooted = true},
    [BENCH_ALLGATHER] = {allgather, ONE, EACH},
    [BENCH_ALLTOALL] = {alltoall, EACH, EACH},
    [BENCH_REDUCE_SCATTER_BLOCK] = {reduce_scatter_block, EACH, ONE, .reduces = true},
    [BENCH_SCAN] = {scan, ONE, ONE, .reduces = true},
    [BENCH_EXSCAN] = {exscan, ONE, ONE, .reduces = true},
    [BENCH_GATHERV] = {gatherv, ONE, EACH, .out_at_root = true, .rooted = true, .uneven = true},
    [BENCH_SCATTERV] = {scatterv, EACH, ONE, .in_at_root = true, .rooted = true, .uneven = true},
    [BENCH_ALLGATHERV] = {allgatherv, ONE, EACH, .uneven = true},
    [BENCH_ALLTOALLV] = {alltoallv, EACH, EACH, .uneven = true},
    [BENCH_REDUCE_SCATTER] = {reduce_scatter, EACH, ONE, .reduces = true, .uneven = true},
};

/* Elements of part `part`: what the first parts lack the last ones have, so that the mean is kept exactly. */
static int uneven_part(const Cell* cell, int part) {
  const int count = (int)cell->count, ranks = cell->ranks, mirrored = ranks - 1 - part;
  if (part == mirrored) return count;
  const int nearer = part < mirrored ? part : mirrored;
  const int away = (int)((int64_t)(count / 2) * (ranks - 1 - 2 * nearer) / (ranks - 1));
  return part < mirrored ? count - away : count + away;
}

/* Elements that go from one rank to another, or from one rank's share to the other's. */
static int message(const Cell* cell, int from, int to) {
  const Shape* shape = &shapes[cell->collective];
  if (!shape->uneven) return (int)cell->count;
  if (shape->in == ONE) return uneven_part(cell, from);
  if (shape->out == ONE) return uneven_part(cell, to);
  return uneven_part(cell, (to - from + cell->ranks) % cell->ranks);
}

/* What rank `from` has for rank `to`. */
static PatternPart contribution(const Cell* cell, int from, int to) {
  const Shape* shape = &shapes[cell->collective];
  const int place = shape->in == EACH ? to : 0;
  if (shape->reduces) return pattern_part((size_t)place, pattern_weight(from));
  return pattern_part((size_t)from * (size_t)cell->ranks + (size_t)place, 1);
}

/* Of how many ranks, from the first one on, this rank gets the sum. */
static int summed_ranks(const Cell* cell) {
  if (cell->collective == BENCH_SCAN) return cell->rank + 1;
  return cell->collective == BENCH_EXSCAN ? cell->rank : cell->ranks;
}

/* What this rank must have got from rank `from`; where one part comes in all, `from` is the root. */
static PatternPart expected(const Cell* cell, int from) {
  const Shape* shape = &shapes[cell->collective];
  if (!shape->reduces) return contribution(cell, from, cell->rank);
  return pattern_part(shape->in == EACH ? (size_t)cell->rank : 0, pattern_weight_sum(summed_ranks(cell)));
}

static bool gives(const Cell* cell) {
  if (cell->collective == BENCH_BARRIER) return false;
  return !shapes[cell->collective].in_at_root || cell->rank == cell->root;
}

static bool has_out(const Cell* cell) {
  if (cell->collective == BENCH_BARRIER) return false;
  return !shapes[cell->collective].out_at_root || cell->rank == cell->root;
}

/* The first rank of an exscan has no result: what MPI leaves in its buffer, which may be written, is undefined. */
static bool gets(const Cell* cell) {
  return has_out(cell) && !(cell->collective == BENCH_EXSCAN && cell->rank == 0);
}

/* --- cells --- */

size_t cell_most_bytes(BenchCollective collective, int ranks) {
  const Shape* shape = &shapes[collective];
  if (shape->in == ONE && shape->out == ONE) return SIZE_MAX;
  const size_t parts = (shape->in == EACH ? (size_t)ranks : 1) + (shape->out == EACH ? (size_t)ranks : 1);
  return ((size_t)CELL_BOUND_MIB << 20) / parts / sizeof(double) * sizeof(double);
}

bool cell_rooted(BenchCollective collective) { return shapes[collective].rooted; }

void cell_set(Cell* cell, BenchCollective collective, size_t bytes, int root) {
  cell->collective = collective;
  cell->root = root;
  cell->count = bytes / sizeof(double);
  int sent = 0, received = 0;
  for (int other = 0; other < cell->ranks; ++other) {
    cell->sent[other] = message(cell, cell->rank, other);
    cell->received[other] = message(cell, other, cell->rank);
    cell->sent_at[other] = sent;
    cell->received_at[other] = received;
    if (shapes[collective].in == EACH) sent += cell->sent[other];
    if (shapes[collective].out == EACH) received += cell->received[other];
  }
}

size_t cell_in_bytes(const Cell* cell) {
  if (!gives(cell)) return 0;
  const int last = shapes[cell->collective].in == EACH ? cell->ranks - 1 : 0;
  return sizeof(double) * ((size_t)cell->sent_at[last] + (size_t)cell->sent[last]);
}

size_t cell_out_bytes(const Cell* cell) {
  if (!has_out(cell)) return 0;
  const int last = shapes[cell->collective].out == EACH ? cell->ranks - 1 : 0;
  return sizeof(double) * ((size_t)cell->received_at[last] + (size_t)cell->received[last]);
}

static double* zeroed(size_t bytes) {
  void* memory;
  if (posix_memalign(&memory, 4096, bytes) != 0) return NULL;
  return memset(memory, 0, bytes);
}

bool cell_open_bare(Cell* cell, int rank, int ranks) {
  *cell = (Cell){.rank = rank, .ranks = ranks};
  cell->sent = calloc(4 * (size_t)ranks, sizeof *cell->sent);
  if (cell->sent == NULL) return false;
  cell->sent_at = cell->sent + ranks;
  cell->received = cell->sent_at + ranks;
  cell->received_at = cell->received + ranks;
  return true;
}

void cell_close_bare(Cell* cell) { free(cell->sent); }

bool cell_open(Cell* cell, int rank, int ranks, const BenchOptions* options) {
  if (!cell_open_bare(cell, rank, ranks)) return false;
  /* A root needs as much as any other rank, or more. */
  const int root = options->every_root ? rank : options->root;
  size_t in = sizeof(double), out = sizeof(double);
  for (int c = 0; c < options->collective_count; ++c) {
    for (int s = 0; s < options->size_count; ++s) {
      if (options->sizes[s] > cell_most_bytes(options->collectives[c], ranks)) continue;
      cell_set(cell, options->collectives[c], options->sizes[s], root);
      if (cell_in_bytes(cell) > in) in = cell_in_bytes(cell);
      if (cell_out_bytes(cell) > out) out = cell_out_bytes(cell);
    }
  }
  cell->in = zeroed(in);
  cell->out = zeroed(out);
  return cell->in != NULL && cell->out != NULL;
}

void cell_close(Cell* cell) {
  free(cell->in);
  free(cell->out);
  cell_close_bare(cell);
}

void cell_fill(const Cell* cell, uint32_t number) {
  if (!gives(cell)) return;
  const int parts = shapes[cell->collective].in == EACH ? cell->ranks : 1;
  for (int to = 0; to < parts; ++to) {
    pattern_fill(cell->in + cell->sent_at[to], (size_t)cell->sent[to], number, contribution(cell, cell->rank, to));
  }
}

void cell_perform(const Cell* cell) { shapes[cell->collective].perform(cell); }

bool cell_verify(const Cell* cell, uint32_t number, char line[256]) {
  if (!gets(cell)) return true;
  const bool each = shapes[cell->collective].out == EACH;
  const double* result = cell->collective == BENCH_BCAST && cell->rank == cell->root ? cell->in : cell->out;
  for (int from = each ? 0 : cell->root; from < (each ? cell->ranks : cell->root + 1); ++from) {
    const double* part = result + cell->received_at[from];
    const size_t count = (size_t)cell->received[from];
    const PatternPart must = expected(cell, from);
    const size_t wrong = pattern_first_wrong(part, count, number, must);
    if (wrong == count) continue;
    char whose[40] = "";
    if (each) snprintf(whose, sizeof whose, " of the part from rank %d", from);
    snprintf(line, 256, "wrong result: operation %u, %s of %zu bytes: element %zu%s is %.17g, must be %.17g", number,
             bench_collective_names[cell->collective], cell->count * sizeof(double), wrong, whose, part[wrong],
             pattern_value(wrong, number, must));
    return false;
  }
  return true;
}
