// Non-blocking collectives that are made again and again with the same arguments, and with one
// argument changed: an array's contents, a buffer's address, a root, a type or a communicator that
// was freed and made anew, a buffer that is given in place. Each result is checked, so a call whose
// earlier description is used although it has changed gives a wrong result.
#include "check.h"

enum { most_ranks = 8, block = 4 };
static int given[2][most_ranks * block], got[2][most_ranks * block];
static int counts[most_ranks], starts[most_ranks];
static MPI_Datatype types[most_ranks];

static int value(int from, int to, int element, int round) {
  return 1000 * round + 100 * from + 10 * to + element;
}

static void fill(int which, int round) {
  for (int to = 0; to < world_size; ++to)
    for (int i = 0; i < block; ++i) given[which][to * block + i] = value(world_rank, to, i, round);
  memset(got[which], -1, sizeof got[which]);
}

static void wait(MPI_Request* request) {
  if (world_rank % 2 == 0)
    MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    for (int done = 0; done == 0;) MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

// All ranks change the lengths and places alike in some rounds.
static void with_arrays(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int which = round / 7 % 2, length = 1 + round / 3 % block, shift = round / 5 % 2;
    if (length + shift > block) continue;
    for (int i = 0; i < world_size; ++i) {
      counts[i] = length;
      starts[i] = i * block + shift;
    }
    fill(which, round);
    MPI_Request request;
    MPI_Ialltoallv(given[which], counts, starts, MPI_INT, got[which], counts, starts, MPI_INT,
                   MPI_COMM_WORLD, &request);
    memset(counts, 0, sizeof counts);  // the program may change them now
    wait(&request);
    for (int from = 0; from < world_size; ++from)
      for (int i = 0; i < block; ++i) {
        const int is = got[which][from * block + i];
        const int inside = i >= shift && i < shift + length;
        const int expected = inside ? value(from, world_rank, i, round) : -1;
        CHECK(is == expected, "round %d from %d element %d: %d, not %d", round, from, i, is,
              expected);
      }
  }
}

// Vectors with a stride, whose handles are often the same after each change.
static void with_types(int rounds) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  for (int round = 0; round < rounds; ++round) {
    const int stride = 1 + round / 4 % 3;
    if (round % 4 == 0) {
      if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
      MPI_Type_vector(2, 1, stride, MPI_INT, &type);
      MPI_Type_commit(&type);
    }
    for (int i = 0; i < world_size; ++i) {
      counts[i] = 1;
      starts[i] = i * block * (int)sizeof(int);
      types[i] = type;
    }
    fill(0, round);
    MPI_Request request;
    MPI_Ialltoallw(given[0], counts, starts, types, got[0], counts, starts, types, MPI_COMM_WORLD,
                   &request);
    wait(&request);
    for (int from = 0; from < world_size; ++from)
      for (int i = 0; i < block; ++i) {
        const int is = got[0][from * block + i];
        const int expected = i == 0 || i == stride ? value(from, world_rank, i, round) : -1;
        CHECK(is == expected, "round %d from %d element %d: %d, not %d", round, from, i, is,
              expected);
      }
  }
  MPI_Type_free(&type);
}

static void in_place(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int in = world_rank + round, out = round;
    const int places = round % 3 == 1;
    const int own = places ? out : in, ranks = places ? 0 : world_size * (world_size - 1) / 2;
    MPI_Request request;
    MPI_Iallreduce(places ? MPI_IN_PLACE : &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    wait(&request);
    const int sum = places ? world_size * own : ranks + world_size * round;
    CHECK(out == sum, "round %d: %d, not %d", round, out, sum);
  }
}

static void from_roots(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int root = round / 2 % world_size;
    for (int i = 0; i < world_size; ++i) {
      counts[i] = 1 + (i + round / 4) % 2;
      starts[i] = i * block;
    }
    fill(0, round);
    MPI_Request request;
    // The arrays matter at the root only.
    const int is_root = world_rank == root;
    MPI_Igatherv(given[0], counts[world_rank], MPI_INT, is_root ? got[0] : NULL,
                 is_root ? counts : NULL, is_root ? starts : NULL, MPI_INT, root, MPI_COMM_WORLD,
                 &request);
    wait(&request);
    for (int from = 0; is_root && from < world_size; ++from) {
      const int is = got[0][from * block], beyond = got[0][from * block + 1];
      CHECK(is == value(from, 0, 0, round) &&
                beyond == (counts[from] == 2 ? value(from, 0, 1, round) : -1),
            "round %d from %d: %d %d", round, from, is, beyond);
    }
  }
}

static void on_communicators(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm communicator;
    const int backwards = round % 2 == 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, backwards ? -world_rank : world_rank, &communicator);
    for (int again = 0; again < 2; ++again) {
      int data = world_rank == 0 ? round : -1;
      MPI_Request request;
      MPI_Ibcast(&data, 1, MPI_INT, backwards ? world_size - 1 : 0, communicator, &request);
      wait(&request);
      CHECK(data == round, "round %d: %d", round, data);
    }
    MPI_Comm_free(&communicator);
  }
}

// Neighbours along one dimension: the same call in both forms, with types that change.
static void among_neighbours(int rounds) {
  MPI_Comm line;
  const int periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, periods, 0, &line);
  static const int ones[2] = {1, 1};
  static const MPI_Aint from[2] = {0, block * sizeof(int)};
  const int left = (world_rank + world_size - 1) % world_size,
            right = (world_rank + 1) % world_size;
  MPI_Datatype pair[2] = {MPI_INT, MPI_INT};
  for (int round = 0; round < rounds; ++round) {
    if (round % 3 == 0) {
      MPI_Type_contiguous(1 + round / 3 % 2, MPI_INT, &pair[0]);
      MPI_Type_commit(&pair[0]);
      pair[1] = pair[0];
    }
    fill(0, round);
    MPI_Request request = MPI_REQUEST_NULL;
    if (round % 2 == 0)
      MPI_Ineighbor_alltoallw(given[0], ones, from, pair, got[0], ones, from, pair, line, &request);
    else
      MPI_Neighbor_alltoallw(given[0], ones, from, pair, got[0], ones, from, pair, line);
    MPI_Datatype used = pair[0];
    if (round % 3 == 2) MPI_Type_free(&used);  // the operation may be under way
    wait(&request);
    const int length = 1 + round / 3 % 2;
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < 2; ++i) {
        const int is = got[0][side * block + i], sender = side == 0 ? left : right;
        const int expected = i < length ? value(sender, 1 - side, i, round) : -1;
        CHECK(is == expected, "round %d side %d element %d: %d, not %d", round, side, i, is,
              expected);
      }
  }
  MPI_Comm_free(&line);
}

// Parts of one length, of a type without gaps whose handle is often the same after it has been
// freed.
static void in_equal_parts(int rounds) {
  MPI_Comm line;
  const int periods[1] = {1};
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, periods, 0, &line);
  const int left = (world_rank + world_size - 1) % world_size,
            right = (world_rank + 1) % world_size;
  for (int round = 0; round < rounds; ++round) {
    const int length = 1 + round / 2 % 2;
    MPI_Datatype type;
    MPI_Type_contiguous(length, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int again = 0; again < 2; ++again) {
      fill(0, round);
      MPI_Request request = MPI_REQUEST_NULL;
      if (again == 0)
        MPI_Neighbor_alltoall(given[0], 1, type, got[0], 1, type, line);
      else
        MPI_Ineighbor_alltoall(given[0], 1, type, got[0], 1, type, line, &request);
      MPI_Datatype used = type;
      if (again == 1) MPI_Type_free(&used);  // the operation may be under way
      wait(&request);
      for (int side = 0; side < 2; ++side)
        for (int i = 0; i < length; ++i) {
          const int at = (1 - side) * length + i;  // of the sender's parts
          const int is = got[0][side * length + i], sender = side == 0 ? left : right;
          const int expected = value(sender, at / block, at % block, round);
          CHECK(is == expected, "round %d side %d element %d: %d, not %d", round, side, i, is,
                expected);
        }
      const int beyond = got[0][2 * length];
      CHECK(beyond == -1, "round %d: %d beyond the parts", round, beyond);
    }
  }
  MPI_Comm_free(&line);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(world_size <= most_ranks, "%d ranks", world_size);
  with_arrays(60);
  with_types(40);
  in_place(30);
  from_roots(30);
  on_communicators(20);
  among_neighbours(30);
  in_equal_parts(30);
  return finish();
}
