// Non-blocking collectives of long vectors, whose data other ranks may read in the program's
// buffers while the operation is under way. Each rank overwrites a buffer as soon as its operation
// is complete, waits or tests in an order of its own, and comes late now and then.
#include <unistd.h>

#include "check.h"

enum { length = 20000, most_ranks = 8, kinds = 9, at_once = 6, rounds = 25 };

static int size;
static unsigned common = 7, own;  // the first is the same at all ranks
static unsigned draw(unsigned* seed, unsigned below) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % below;
}

struct operation {
  int kind, root, number;
  unsigned *in, *out;
  MPI_Request request;
};

static unsigned value(int rank, int block, int number, int i) {
  return (unsigned)(rank * 1000003 + block * 10007 + number * 101 + i);
}

static void begin(struct operation* one) {
  static int counts[most_ranks], places[most_ranks], byte_places[most_ranks];
  static MPI_Datatype types[most_ranks];
  for (int block = 0; block < size; ++block) {
    counts[block] = length;
    places[block] = block * length;
    byte_places[block] = block * length * (int)sizeof(unsigned);
    types[block] = MPI_UNSIGNED;
    for (int i = 0; i < length; ++i)
      one->in[block * length + i] = value(world_rank, block, one->number, i);
  }
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_UNSIGNED;
  MPI_Request* const request = &one->request;
  void *const in = one->in, *const out = one->out;
  switch (one->kind) {
    case 0: MPI_Ibcast(in, length, type, one->root, world, request); break;
    case 1: MPI_Igather(in, length, type, out, length, type, one->root, world, request); break;
    case 2: MPI_Iscatter(in, length, type, out, length, type, one->root, world, request); break;
    case 3: MPI_Ialltoall(in, length, type, out, length, type, world, request); break;
    case 4: MPI_Iallreduce(in, out, length, type, MPI_SUM, world, request); break;
    case 5: MPI_Iscan(in, out, length, type, MPI_SUM, world, request); break;
    case 6: MPI_Ireduce_scatter_block(in, out, length, type, MPI_SUM, world, request); break;
    case 7:
      MPI_Ialltoallw(in, counts, byte_places, types, out, counts, byte_places, types, world,
                     request);
      break;
    default: MPI_Iallgatherv(in, length, type, out, counts, places, type, world, request); break;
  }
}

// Of block `block` of the result; -1 if the rank has no such block.
static int64_t expected(const struct operation* one, int block, int i) {
  int first = 0, last = -1, theirs = world_rank;  // the sum of these ranks' block
  switch (one->kind) {
    case 0:
      theirs = 0;
      first = last = one->root;
      break;
    case 1:
      theirs = 0;
      first = block, last = world_rank == one->root ? block : -1;
      break;
    case 2: first = last = one->root; break;
    case 3:
    case 7: first = last = block; break;
    case 4: theirs = 0, last = size - 1; break;
    case 5: theirs = 0, last = world_rank; break;
    case 6: last = size - 1; break;
    default: theirs = 0, first = last = block; break;
  }
  const int has_one = one->kind == 0 || one->kind == 2 || (one->kind >= 4 && one->kind <= 6);
  if (last < first || (has_one && block > 0)) return -1;
  unsigned sum = 0;
  for (int rank = first; rank <= last; ++rank) sum += value(rank, theirs, one->number, i);
  return sum;
}

static void check(struct operation* one) {
  const unsigned* const result = one->kind == 0 ? one->in : one->out;
  for (int block = 0; block < size; ++block)
    for (int i = 0; i < length; ++i) {
      const int64_t right = expected(one, block, i);
      if (right < 0) break;
      CHECK(result[block * length + i] == (unsigned)right, "kind %d, block %d, element %d: %u",
            one->kind, block, i, result[block * length + i]);
    }
  memset(one->in, 0xEE, sizeof(unsigned) * length * (size_t)size);
}

int main(int argc, char** argv) {
  static struct operation all[at_once];
  start(&argc, &argv);
  size = world_size;
  own = (unsigned)world_rank + 99;
  const size_t bytes = sizeof(unsigned) * length * (size_t)size;
  for (int k = 0; k < at_once; ++k) all[k].in = malloc(bytes), all[k].out = malloc(bytes);
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < at_once; ++k) {
      all[k].kind = (int)draw(&common, kinds);
      all[k].root = (int)draw(&common, (unsigned)size);
      all[k].number = round * at_once + k;
      begin(&all[k]);
      if (draw(&own, 8) == 0) usleep(draw(&own, 2000));
    }
    for (int left = at_once; left > 0;) {
      struct operation* const one = &all[draw(&own, at_once)];
      if (one->request == MPI_REQUEST_NULL) continue;
      int is_complete = 1;
      if (draw(&own, 2) == 0)
        MPI_Wait(&one->request, MPI_STATUS_IGNORE);
      else
        MPI_Test(&one->request, &is_complete, MPI_STATUS_IGNORE);
      if (!is_complete) continue;
      check(one);
      --left;
      if (draw(&own, 8) == 0) usleep(draw(&own, 2000));
    }
  }
  for (int k = 0; k < at_once; ++k) free(all[k].in), free(all[k].out);
  return finish();
}
