#define _GNU_SOURCE
#include "collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- differences between the collectives --- */

static const BenchShape* shape_of(const Cell* cell) { return &bench_shapes[cell->kind.collective]; }

/* Elements of part `part`. The mean is exact: on a ramp the last parts have as many more elements
 * as the first ones have fewer. */
static int uneven_part(const Cell* cell, int part) {
  const int count = (int)cell->count, ranks = cell->ranks, mirrored = ranks - 1 - part;
  if (cell->kind.lengths == BENCH_EQUAL) return count;
  if (cell->kind.lengths == BENCH_HEAVY)
    return part == ranks / 2 ? ranks * count - (ranks - 1) * (count / 8) : count / 8;
  if (part == mirrored) return count;
  const int nearer = part < mirrored ? part : mirrored;
  const int away = (int)((int64_t)(count / 2) * (ranks - 1 - 2 * nearer) / (ranks - 1));
  return part < mirrored ? count - away : count + away;
}

/* The number of elements that `from` sends to `to`. */
static int message(const Cell* cell, int from, int to) {
  const BenchShape* shape = shape_of(cell);
  if (!shape->uneven) return (int)cell->count;
  if (!shape->each_in) return uneven_part(cell, from);
  if (!shape->each_out) return uneven_part(cell, to);
  return uneven_part(cell, (to - from + cell->ranks) % cell->ranks);
}

/* The part of rank `from` for rank `to`. */
static PatternPart contribution(const Cell* cell, int from, int to) {
  const BenchShape* shape = shape_of(cell);
  const int place = shape->each_in ? to : 0;
  if (shape->reduces) return pattern_part((size_t)place, pattern_weight(from));
  return pattern_part((size_t)from * (size_t)cell->ranks + (size_t)place, 1);
}

/* The result of this rank is the sum over so many ranks, from the first one on. */
static int summed_ranks(const Cell* cell) {
  if (cell->kind.collective == BENCH_SCAN) return cell->rank + 1;
  return cell->kind.collective == BENCH_EXSCAN ? cell->rank : cell->ranks;
}

/* The part that this rank must get from rank `from`; `from` is the root if there is only one part.
 */
static PatternPart expected(const Cell* cell, int from) {
  const BenchShape* shape = shape_of(cell);
  if (!shape->reduces) return contribution(cell, from, cell->rank);
  return pattern_part(shape->each_in ? (size_t)cell->rank : 0,
                      pattern_weight_sum(summed_ranks(cell)));
}

/* In a bcast every rank rewrites `in`, although only the root's is sent, so that the caches of all
 * ranks have been used. */
static bool gives(const Cell* cell) {
  if (cell->kind.collective == BENCH_BARRIER) return false;
  const BenchShape* shape = shape_of(cell);
  return !shape->rooted || !shape->each_in || cell->rank == cell->kind.root;
}

static bool has_out(const Cell* cell) {
  if (cell->kind.collective == BENCH_BARRIER) return false;
  const BenchShape* shape = shape_of(cell);
  const bool out_at_root = shape->rooted && (shape->each_out || shape->reduces);
  return !out_at_root || cell->rank == cell->kind.root;
}

/* True if this rank has a result. The first rank of an exscan has none: MPI may write its buffer,
 * but leaves the contents undefined. */
static bool gets(const Cell* cell) {
  return has_out(cell) && !(cell->kind.collective == BENCH_EXSCAN && cell->rank == 0);
}

/* --- cells --- */

MPI_Datatype cell_type(const Cell* cell) {
  return cell->kind.element == PATTERN_DOUBLE ? MPI_DOUBLE : MPI_UINT32_T;
}

MPI_Comm cell_communicator(const Cell* cell) {
  return cell->communicators[cell->kind.communicator];
}

size_t cell_most_bytes(BenchCollective collective, int ranks) {
  const BenchShape* shape = &bench_shapes[collective];
  if (!shape->each_in && !shape->each_out) return SIZE_MAX;
  const size_t parts = (shape->each_in ? (size_t)ranks : 1) + (shape->each_out ? (size_t)ranks : 1);
  return ((size_t)CELL_BOUND_MIB << 20) / parts / sizeof(double) * sizeof(double);
}

void cell_set(Cell* cell, const BenchKind* kind) {
  const BenchShape* shape = &bench_shapes[kind->collective];
  cell->kind = *kind;
  cell->count = kind->bytes / pattern_element_bytes[kind->element];
  const int bytes = (int)pattern_element_bytes[kind->element];
  int sent = 0, received = 0;
  for (int other = 0; other < cell->ranks; ++other) {
    cell->sent[other] = message(cell, cell->rank, other);
    cell->received[other] = message(cell, other, cell->rank);
    cell->sent_at[other] = sent;
    cell->received_at[other] = received;
    cell->sent_from[other] = (int)((int64_t)sent * bytes);
    cell->received_from[other] = (int)((int64_t)received * bytes);
    cell->types[other] = cell_type(cell);
    if (shape->each_in) sent += cell->sent[other];
    if (shape->each_out) received += cell->received[other];
  }
}

size_t cell_in_bytes(const Cell* cell) {
  if (!gives(cell)) return 0;
  const int last = shape_of(cell)->each_in ? cell->ranks - 1 : 0;
  return pattern_element_bytes[cell->kind.element] *
         ((size_t)cell->sent_at[last] + (size_t)cell->sent[last]);
}

size_t cell_out_bytes(const Cell* cell) {
  if (!has_out(cell)) return 0;
  const int last = shape_of(cell)->each_out ? cell->ranks - 1 : 0;
  return pattern_element_bytes[cell->kind.element] *
         ((size_t)cell->received_at[last] + (size_t)cell->received[last]);
}

static void* zeroed(size_t bytes) {
  void* memory;
  if (posix_memalign(&memory, 4096, bytes) != 0) return NULL;
  return memset(memory, 0, bytes);
}

/* Gives a cell its arrays by rank. */
static bool add_arrays(Cell* cell) {
  const int ranks = cell->ranks;
  cell->sent = calloc(6 * (size_t)ranks, sizeof *cell->sent);
  cell->types = calloc((size_t)ranks, sizeof *cell->types);
  if (cell->sent == NULL || cell->types == NULL) return cell_close_bare(cell), false;
  cell->sent_at = cell->sent + ranks;
  cell->sent_from = cell->sent_at + ranks;
  cell->received = cell->sent_from + ranks;
  cell->received_at = cell->received + ranks;
  cell->received_from = cell->received_at + ranks;
  return true;
}

bool cell_open_bare(Cell* cell, int rank, int ranks) {
  *cell = (Cell){.rank = rank,
                 .ranks = ranks,
                 .communicators = {MPI_COMM_WORLD, MPI_COMM_NULL},
                 .request = MPI_REQUEST_NULL};
  return add_arrays(cell);
}

bool cell_open_beside(Cell* cell, const Cell* other, const BenchKind* kind) {
  *cell = *other;
  if (!add_arrays(cell)) return false;
  cell_set(cell, kind);
  return true;
}

void cell_close_bare(Cell* cell) {
  free(cell->sent);
  free(cell->types);
}

enum { calls_before_set_up = 64 };

bool cell_open(Cell* cell, int rank, int ranks, const BenchKinds* kinds) {
  if (!cell_open_bare(cell, rank, ranks)) return false;
  size_t in = sizeof(double), out = sizeof(double);
  bool duplicated = false;
  for (int i = 0; i < kinds->count; ++i) {
    if (kinds->kinds[i].bytes > cell_most_bytes(kinds->kinds[i].collective, ranks)) continue;
    cell_set(cell, &kinds->kinds[i]);
    if (cell_in_bytes(cell) > in) in = cell_in_bytes(cell);
    if (cell_out_bytes(cell) > out) out = cell_out_bytes(cell);
    duplicated = duplicated || kinds->kinds[i].communicator == BENCH_DUP;
  }
  if (duplicated) {
    MPI_Comm_dup(MPI_COMM_WORLD, &cell->communicators[BENCH_DUP]);
    /* MPIs and interposers set communicators up after some calls. */
    for (int call = 0; call < calls_before_set_up; ++call)
      MPI_Barrier(cell->communicators[BENCH_DUP]);
  }
  cell->in = zeroed(in);
  cell->out = zeroed(out);
  return cell->in != NULL && cell->out != NULL;
}

void cell_close(Cell* cell) {
  free(cell->in);
  free(cell->out);
  if (cell->communicators[BENCH_DUP] != MPI_COMM_NULL)
    MPI_Comm_free(&cell->communicators[BENCH_DUP]);
  cell_close_bare(cell);
}

/* The address of an element of a buffer. */
static void* element_at(const Cell* cell, void* buffer, int index) {
  return (char*)buffer + (size_t)index * pattern_element_bytes[cell->kind.element];
}

void cell_fill(const Cell* cell, uint32_t number) {
  if (!gives(cell)) return;
  const int parts = shape_of(cell)->each_in ? cell->ranks : 1;
  for (int to = 0; to < parts; ++to) {
    pattern_fill(element_at(cell, cell->in, cell->sent_at[to]), cell->kind.element,
                 (size_t)cell->sent[to], number, contribution(cell, cell->rank, to));
  }
}

bool cell_verify(const Cell* cell, uint32_t number, char line[256]) {
  if (!gets(cell)) return true;
  const PatternElement element = cell->kind.element;
  const bool each = shape_of(cell)->each_out;
  const int root = cell->kind.root;
  void* const result =
      cell->kind.collective == BENCH_BCAST && cell->rank == root ? cell->in : cell->out;
  for (int from = each ? 0 : root; from < (each ? cell->ranks : root + 1); ++from) {
    const void* part = element_at(cell, result, cell->received_at[from]);
    const size_t count = (size_t)cell->received[from];
    const PatternPart must = expected(cell, from);
    const size_t wrong = pattern_first_wrong(part, element, count, number, must);
    if (wrong == count) continue;
    char whose[40] = "", kind[BENCH_KIND_WORD];
    if (each) snprintf(whose, sizeof whose, " of the part from rank %d", from);
    kind_word(&cell->kind, kind);
    snprintf(line, 256, "wrong result: operation %u, %s: element %zu%s is %.17g, must be %.17g",
             number, kind, wrong, whose, pattern_found(part, element, wrong),
             pattern_value(wrong, element, number, must));
    return false;
  }
  return true;
}
