// Collectives over several nodes in lanes, with ranks that are late or die, and with other rules.
//
//   in_lanes late RANK      this rank starts each operation 3 s after the others
//   in_lanes killed RANK    this rank is killed while the others wait; rank 0 prints "going" before
//   in_lanes table          tutti_comm_table changes the rules of operations in lanes
//   in_lanes first          a communicator's first call makes a persistent collective
//
// The operations are a non-blocking collective, a persistent one, one whose parts differ in length,
// and one among neighbours.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>

#include "check.h"

enum { forms = 4, most_ranks = 16 };

static long in[most_ranks], out[most_ranks];
static int counts[most_ranks], places[most_ranks];
static MPI_Request persistent;
static MPI_Comm ring;  // in which the neighbours of a rank are those of the ranks below and above

static void make(void) {
  const int is_periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &is_periodic, 0, &ring);
  set_up(ring);
  MPI_Allreduce_init(in, out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
  for (int i = 0; i < world_size; ++i) counts[i] = 1, places[i] = i;
}

static MPI_Request start_one(int form) {
  MPI_Request request = persistent;
  for (int i = 0; i < world_size; ++i) in[i] = 100 * form + world_rank, out[i] = -1;
  if (form == 0) MPI_Iallreduce(in, out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
  if (form == 1) MPI_Start(&persistent);
  if (form == 2)
    MPI_Ialltoallv(in, counts, places, MPI_LONG, out, counts, places, MPI_LONG, MPI_COMM_WORLD,
                   &request);
  if (form == 3) MPI_Ineighbor_alltoall(in, 1, MPI_LONG, out, 1, MPI_LONG, ring, &request);
  return request;
}

static void check_one(int form) {
  const long sum = (long)world_size * (world_size - 1) / 2 + 100L * form * world_size;
  if (form < 2) CHECK(out[0] == sum, "form %d: %ld, must be %ld", form, out[0], sum);
  if (form == 2)
    for (int i = 0; i < world_size; ++i) CHECK(out[i] == 200 + i, "part %d: %ld", i, out[i]);
  const int near[2] = {(world_rank + world_size - 1) % world_size, (world_rank + 1) % world_size};
  if (form == 3)
    for (int i = 0; i < 2; ++i) CHECK(out[i] == 300 + near[i], "block %d: %ld", i, out[i]);
}

static void late(int who) {
  for (int form = 0; form < forms; ++form) {
    if (world_rank == who) sleep(3);
    MPI_Request request = start_one(form);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_one(form);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void killed(int who, int form) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    printf("going\n");
    fflush(stdout);
  }
  if (world_rank == who) {
    usleep(300000);  // the others wait by now
    raise(SIGKILL);
  }
  MPI_Request request = start_one(form);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(0, "it is complete without rank %d", who);
}

static void allreduce_both(void) {
  MPI_Request requests[2];
  MPI_Iallreduce(in, out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Allreduce_init(in, out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Start(&requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[1]);
}

static void table(void) {
  int (*const change)(MPI_Comm, const char*) =
      (int (*)(MPI_Comm, const char*))dlsym(RTLD_DEFAULT, "tutti_comm_table");
  CHECK(change != NULL, "not under Tutti");
  allreduce_both();
  const char* const rules = "tutti-map 1\nallreduce -> builtin:flat\n";
  CHECK(change(MPI_COMM_WORLD, rules) == MPI_SUCCESS, "tutti_comm_table");
  allreduce_both();
  CHECK(change(MPI_COMM_WORLD, "tutti-map 1\nallreduce -> builtin:doubling\n") == MPI_SUCCESS,
        "again");
  allreduce_both();
}

static void first(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce_init(in, out, 1, MPI_LONG, MPI_SUM, copy, MPI_INFO_NULL, &persistent);
  MPI_Comm_free(&copy);
  for (int round = 0; round < 3; ++round) {
    in[0] = world_rank + round;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    const long sum = (long)world_size * (world_size - 1) / 2 + (long)round * world_size;
    CHECK(out[0] == sum, "%ld", out[0]);
  }
  MPI_Request_free(&persistent);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int who = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(argv[1], "table") == 0) {
    table();
    return finish();
  }
  if (strcmp(argv[1], "first") == 0) {
    first();
    return finish();
  }
  make();
  if (strcmp(argv[1], "late") == 0) late(who);
  if (strcmp(argv[1], "killed") == 0) killed(who, atoi(argv[3]));
  MPI_Request_free(&persistent);
  MPI_Comm_free(&ring);
  return finish();
}
