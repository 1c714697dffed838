// One call of any collective, by Tutti and by the host MPI (PMPI_*). Both must give the same bytes:
// the data, the gaps in it, and the memory around it. For programs that try many calls (parts.c,
// soak.c).
#pragma once

#include "user_types.h"
#include "host.h"

enum collective {
  BARRIER,
  BCAST,
  REDUCE,
  ALLREDUCE,
  GATHER,
  SCATTER,
  ALLGATHER,
  ALLTOALL,
  REDUCE_SCATTER,
  SCAN,
  EXSCAN,
  COLLECTIVES
};
static const char* const names[] = {"barrier",   "bcast",    "reduce",
                                    "allreduce", "gather",   "scatter",
                                    "allgather", "alltoall", "reduce_scatter_block",
                                    "scan",      "exscan"};

static inline int combines(int collective) {
  return collective == REDUCE || collective == ALLREDUCE || collective >= REDUCE_SCATTER;
}
static inline int rooted(int collective) {
  return collective == BCAST || collective == REDUCE || collective == GATHER ||
         collective == SCATTER;
}

struct call {
  int collective;
  const struct layout* layout;
  int count;  // of a part where the collective has parts
  int root;
  int in_place;
  MPI_Comm communicator;
};

// Makes the call, by Tutti or (`by_host`) by the host. With `as_bytes` elements are passed as
// bytes: then gaps are sent as well, and they are the same at all ranks.
static inline int perform(const struct call* call, int by_host, int as_bytes, const void* in,
                          void* out) {
  const MPI_Datatype type = as_bytes ? MPI_BYTE : call->layout->type;
  const int n = as_bytes ? call->count * (int)call->layout->extent : call->count;
  const MPI_Op op = call->layout->op;
  const MPI_Comm comm = call->communicator;
  const int root = call->root;
#define EITHER(name, ...) (by_host ? HOST(name)(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
  switch (call->collective) {
    case BARRIER: return EITHER(Barrier, comm);
    case BCAST: return EITHER(Bcast, out, n, type, root, comm);
    case REDUCE: return EITHER(Reduce, in, out, n, type, op, root, comm);
    case ALLREDUCE: return EITHER(Allreduce, in, out, n, type, op, comm);
    case GATHER: return EITHER(Gather, in, n, type, out, n, type, root, comm);
    case SCATTER: return EITHER(Scatter, in, n, type, out, n, type, root, comm);
    case ALLGATHER: return EITHER(Allgather, in, n, type, out, n, type, comm);
    case ALLTOALL: return EITHER(Alltoall, in, n, type, out, n, type, comm);
    case REDUCE_SCATTER: return EITHER(Reduce_scatter_block, in, out, n, type, op, comm);
    case SCAN: return EITHER(Scan, in, out, n, type, op, comm);
    default: return EITHER(Exscan, in, out, n, type, op, comm);
  }
#undef EITHER
}

// Computes the result here: a data-movement collective brings the operands of all ranks, and
// MPI_Reduce_local combines them from the last rank's to the first rank's.
static inline void combine_here(const struct call* call, const void* in, unsigned char* out,
                                int rank, int ranks) {
  const size_t part = (size_t)call->count * call->layout->extent;
  const int bytes = (int)part;
  unsigned char* const operands = malloc(part * (size_t)ranks + 1);
  const void* const own = in == MPI_IN_PLACE ? out : in;
  if (call->collective == REDUCE_SCATTER)
    HOST(Alltoall)(own, bytes, MPI_BYTE, operands, bytes, MPI_BYTE, call->communicator);
  else
    HOST(Allgather)(own, bytes, MPI_BYTE, operands, bytes, MPI_BYTE, call->communicator);
  int last = ranks - 1;
  if (call->collective == SCAN) last = rank;
  if (call->collective == EXSCAN) last = rank - 1;
  for (; last > 0; --last) {
    unsigned char *const right = operands + part * (size_t)last, *const left = right - part;
    HOST(Reduce_local)(left, right, call->count, call->layout->type, call->layout->op);
    memcpy(left, right, part);
  }
  if (last == 0 && (call->collective != REDUCE || rank == call->root)) memcpy(out, operands, part);
  free(operands);
}

// The expected result, from the host. With derived types the host only moves bytes: MPICH 5 refuses
// a gather of records among four ranks, and its reduce_scatter of elements with gaps by an
// operation that does not commute gives wrong results and writes outside its buffer.
static inline void expect(const struct call* call, const void* in, unsigned char* out, int rank,
                          int ranks) {
  const int derived = call->layout >= layouts + named_layouts;
  if (derived && combines(call->collective))
    combine_here(call, in, out, rank, ranks);
  else
    perform(call, 1, derived, in, out);
}

enum { margin = 64 };  // bytes before and after the memory that a call may write

// The number of elements in a rank's `in` or `out`.
static inline size_t elements_of(const struct call* call, int out, int ranks) {
  const int c = call->collective;
  const int parted = out ? c == GATHER || c == ALLGATHER || c == ALLTOALL
                         : c == SCATTER || c == ALLTOALL || c == REDUCE_SCATTER;
  const int both = c == REDUCE_SCATTER && call->in_place;  // one buffer, as long as its input
  return (size_t)call->count * (parted || both ? (size_t)ranks : 1);
}

static inline unsigned char* buffer_of(const struct call* call, size_t elements, int data_of_rank) {
  const size_t bytes = call->layout->extent * elements;
  unsigned char* const buffer = malloc(bytes + 2 * margin);
  memset(buffer, 0xA5, bytes + 2 * margin);
  for (size_t i = 0; data_of_rank >= 0 && i < elements; ++i)
    call->layout->fill(buffer + margin + i * call->layout->extent,
                       (int)((unsigned)data_of_rank * 31 + i * 7 + 1) % 1009);
  return buffer;
}

// Compares both results. Each rank passes the buffers that MPI's rules for MPI_IN_PLACE require.
static inline void compare(const struct call* call) {
  int rank, ranks;
  MPI_Comm_rank(call->communicator, &rank);
  MPI_Comm_size(call->communicator, &ranks);
  const int at_root = rank == call->root, scatters = call->collective == SCATTER;
  const int in_place =
      call->in_place && call->collective != BCAST && (!rooted(call->collective) || at_root);
  const int data_in_out = call->collective == BCAST ? at_root : in_place && !scatters;
  const size_t in_elements = elements_of(call, 0, ranks),
               out_elements = elements_of(call, 1, ranks);
  unsigned char* const in = buffer_of(call, in_elements, rank);
  unsigned char* const before = buffer_of(call, in_elements, rank);
  unsigned char* const out = buffer_of(call, out_elements, data_in_out ? rank : -1);
  unsigned char* const expected = buffer_of(call, out_elements, data_in_out ? rank : -1);
  unsigned char* const aside = buffer_of(call, out_elements, data_in_out ? rank : -1);
  const void* const source = in_place && !scatters ? MPI_IN_PLACE : in + margin;
  const int no_target = in_place && scatters;
  // An exscan's `out` at rank 0 is undefined; Tutti does not write it.
  unsigned char* const host_out = call->collective == EXSCAN && rank == 0 ? aside : expected;
  expect(call, source, no_target ? MPI_IN_PLACE : host_out + margin, rank, ranks);
  perform(call, 0, 0, source, no_target ? MPI_IN_PLACE : (void*)(out + margin));
  const size_t extent = call->layout->extent;
  // In place, a reduce_scatter may write anything after its result.
  const int tail = call->collective == REDUCE_SCATTER && in_place;
  const size_t bytes =
      tail ? margin + extent * (size_t)call->count : 2 * margin + extent * out_elements;
  CHECK(memcmp(out, expected, bytes) == 0, "%s of %d %s, root %d%s, %d ranks",
        names[call->collective], call->count, call->layout->name, call->root,
        in_place ? ", in place" : "", ranks);
  CHECK(memcmp(in, before, 2 * margin + extent * in_elements) == 0, "%s of %d %s wrote its input",
        names[call->collective], call->count, call->layout->name);
  free(in);
  free(before);
  free(out);
  free(expected);
  free(aside);
}
