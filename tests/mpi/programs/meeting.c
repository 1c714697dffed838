// Communicators that set up inside their first blocking collective. The argument chooses what is
// tried.
#include <unistd.h>

#include "check.h"

// The whole world, or all but its last rank, in its order or the other way round.
static MPI_Comm made(int round) {
  MPI_Comm communicator;
  const int outside = round % 4 >= 2 && world_size > 2 && world_rank == world_size - 1;
  MPI_Comm_split(MPI_COMM_WORLD, outside ? MPI_UNDEFINED : 0,
                 round % 2 == 0 ? world_rank : -world_rank, &communicator);
  return communicator;
}

// Rank 0 of each communicator makes its calls before any other has made its first: it waits for
// nobody, and nobody needs what it has freed.
static void run_ahead(void) {
  enum { rounds = 100, calls = 3 };
  MPI_Comm all[rounds];
  for (int round = 0; round < rounds; ++round) all[round] = made(round);
  for (int round = 0; round < rounds; ++round) {
    if (all[round] == MPI_COMM_NULL) continue;
    int rank;
    MPI_Comm_rank(all[round], &rank);
    if (round % 10 == 0 && rank != 0) usleep(2000);
    for (int call = 0; call < calls; ++call) {
      int value = rank == 0 ? round + call : -1;
      MPI_Bcast(&value, 1, MPI_INT, 0, all[round]);
      CHECK(value == round + call, "communicator %d, call %d: %d", round, call, value);
    }
    MPI_Comm_free(&all[round]);
  }
}

// More living communicators than there is memory for: some make few calls, one makes many.
static void live(int count) {
  MPI_Comm all[1000];
  for (int i = 0; i < count; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all[i]);
    CHECK(sum == world_size, "communicator %d gave %d", i, sum);
  }
  for (int call = 0; call < 100; ++call) {
    int own = world_rank + call, most = -1;
    MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, all[count - 1]);
    CHECK(most == world_size - 1 + call, "call %d gave %d", call, most);
  }
  for (int i = 0; i < count; ++i) MPI_Comm_free(&all[i]);
}

// Rank 0 takes a parked service for a communicator, has used and freed that, and no longer keeps
// the service, before the others take it.
static void take_far_ahead(void) {
  for (int round = 0; round < 20; ++round) {
    MPI_Comm first, second, others;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Barrier(first);
    MPI_Comm_free(&first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, 0, &others);
    if (world_rank > 0) {
      MPI_Barrier(others);
      usleep(2000);
      MPI_Comm_free(&others);
    }
    int value = world_rank == 0 ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, 0, second);
    CHECK(value == round, "round %d gave %d", round, value);
    MPI_Comm_free(&second);
    if (world_rank == 0) MPI_Comm_free(&others);
  }
}

// Rank 0 has no elements, and no types for them.
static void leave_types_out(void) {
  int counts[64] = {0}, displacements[64] = {0}, got = -1;
  MPI_Datatype types[64];
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  for (int i = 0; i < world_size; ++i) types[i] = MPI_DATATYPE_NULL;
  if (world_rank > 0) {
    counts[world_rank] = 1;
    types[world_rank] = MPI_INT;
  }
  MPI_Alltoallw(&world_rank, counts, displacements, types, &got, counts, displacements, types,
                fresh);
  CHECK(got == (world_rank > 0 ? world_rank : -1), "got %d", got);
  MPI_Comm_free(&fresh);
}

// The last rank alone makes the first calls, and the host refuses all of them. Rank 0 then hears of
// it, so the last rank must not have waited for rank 0's first call.
static void refuse_at_one_rank(void) {
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
  int word = 7, sum = -1;
  double real = 1;
  if (world_rank == world_size - 1) {
    CHECK(MPI_Bcast(NULL, 1, MPI_INT, 0, fresh) != MPI_SUCCESS, "bcast of nothing");
    CHECK(MPI_Allreduce(&word, NULL, 1, MPI_INT, MPI_SUM, fresh) != MPI_SUCCESS, "no result");
    CHECK(MPI_Allreduce(&word, &word, 1, MPI_INT, MPI_SUM, fresh) != MPI_SUCCESS, "one buffer");
    CHECK(MPI_Allreduce(&real, &sum, 1, MPI_DOUBLE, MPI_BAND, fresh) != MPI_SUCCESS,
          "bits of reals");
    CHECK(MPI_Gather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, 0, fresh) != MPI_SUCCESS, "gather");
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else if (world_rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, world_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, fresh);
  CHECK(sum == world_size * (world_size - 1) / 2, "%d", sum);
  MPI_Comm_free(&fresh);
}

// The host refuses the first call of rank 0 alone. Each rank gets what the host alone gives it:
// those that only send do not wait for rank 0.
static void refuse_at_rank_0(void) {
  for (int round = 0; round < 100; ++round) {
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
    int words[64] = {7};
    const int code = MPI_Gather(words, 1, MPI_INT, words, 1, MPI_INT, 0, fresh);
    CHECK((code != MPI_SUCCESS) == (world_rank == 0), "code %d", code);
    MPI_Barrier(MPI_COMM_WORLD);
    if (round % 2 == 0) MPI_Comm_free(&fresh);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "ahead") == 0) run_ahead();
  if (argc > 1 && strcmp(argv[1], "living") == 0) live(atoi(argv[2]));
  if (argc > 1 && strcmp(argv[1], "taken") == 0) take_far_ahead();
  if (argc > 1 && strcmp(argv[1], "refused") == 0) refuse_at_one_rank();
  if (argc > 1 && strcmp(argv[1], "refused_0") == 0) refuse_at_rank_0();
  if (argc > 1 && strcmp(argv[1], "types") == 0) leave_types_out();
  return finish();
}
