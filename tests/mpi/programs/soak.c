// Random calls of every collective on communicators made in several ways, each compared with the
// host MPI. All ranks draw the same random numbers, so they make the same calls. Arguments: calls,
// seed.
#define _GNU_SOURCE
#include <stdint.h>

#include "compare.h"

static uint64_t state;

// Random numbers by splitmix64.
static unsigned draw(unsigned below) {
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (unsigned)((z ^ (z >> 31)) % below);
}

enum { kinds = 5 };

// The world, the world in reversed order, its halves, all but one rank, and pairs of neighbours:
// for each kind a rank is in one communicator or in none.
static MPI_Comm make(int kind) {
  const int colours[kinds] = {0, 0, world_rank % 2,
                              world_rank == world_size / 2 ? MPI_UNDEFINED : 0, world_rank / 3};
  const int keys[kinds] = {world_rank, -world_rank, world_rank, world_rank * 7 % 5, -world_rank};
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, colours[kind], keys[kind], &made);
  return made;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1000;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  make_layouts();
  MPI_Comm communicators[kinds];
  for (int kind = 0; kind < kinds; ++kind) communicators[kind] = make(kind);
  for (int i = 0; i < calls; ++i) {
    const int kind = (int)draw(kinds);
    const unsigned root = draw(1u << 20), size = draw(13), odd = draw(1000);
    struct call call = {(int)draw(COLLECTIVES), &layouts[draw(layout_count)], 0, 0,
                        (int)draw(2),           communicators[kind]};
    call.count = draw(20) == 0 ? 0 : (int)((1u << size) + odd * (1u << size) / 1000);
    if (draw(50) == 0) {  // a short-lived communicator, whose memory another one reuses
      if (communicators[kind] != MPI_COMM_NULL) MPI_Comm_free(&communicators[kind]);
      call.communicator = communicators[kind] = make(kind);
    }
    if (call.communicator == MPI_COMM_NULL) continue;
    int ranks;
    MPI_Comm_size(call.communicator, &ranks);
    call.root = (int)(root % (unsigned)ranks);
    // The host makes a communicator's first call, and some hosts fail in it (compare.h).
    if (call.layout >= layouts + named_layouts) MPI_Barrier(call.communicator);
    compare(&call);
  }
  for (int kind = 0; kind < kinds; ++kind)
    if (communicators[kind] != MPI_COMM_NULL) MPI_Comm_free(&communicators[kind]);
  free_layouts();
  return finish();
}
