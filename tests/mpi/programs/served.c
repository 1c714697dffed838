// Non-blocking collectives over several nodes that servers drive.
//
// alone: each rank starts an allreduce of several rounds of messages, computes for a while without
// any call of MPI, and then tests it once. It is complete only if somebody else has driven it.
// level LEVEL: what MPI_Init_thread with this level and MPI_Query_thread tell.
// freed: communicators, types and the program's other handles are freed while operations are under
// way, and many operations are completed in an order of each rank's own.
#include <time.h>

#include "check.h"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(double duration) {
  const double begin = seconds();
  volatile double value = 1;
  while (seconds() - begin < duration)
    for (int i = 0; i < 1000; ++i) value *= 1.0000001;
}

static void alone(void) {
  for (int round = 0; round < 3; ++round) {
    long own = world_rank + round, sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    compute(0.7);
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == 1 && request == MPI_REQUEST_NULL, "round %d: not complete", round);
    const long expected = (long)world_size * (world_size - 1) / 2 + (long)round * world_size;
    CHECK(sum == expected, "round %d: %ld, must be %ld", round, sum, expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

enum { operations = 60, most = 70000 };

static void freed(void) {
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    set_up(comm);
    MPI_Request requests[operations];
    static int in[operations][most], out[operations][most];
    int lengths[operations];
    for (int i = 0; i < operations; ++i) {
      const int length = lengths[i] = i % 10 == 9 ? most : 1 + 37 * i;
      const int root = i % world_size;
      for (int k = 0; k < length; ++k) {
        in[i][k] = world_rank + i + k + round;
        out[i][k] = i % 3 == 1 && world_rank == root ? in[i][k] : -1;
      }
      if (i % 3 == 0) {
        MPI_Iallreduce(in[i], out[i], length, MPI_INT, MPI_SUM, comm, &requests[i]);
      } else if (i % 3 == 1) {
        MPI_Datatype pairs;
        MPI_Type_vector(length, 1, 1, MPI_INT, &pairs);
        MPI_Type_commit(&pairs);
        MPI_Ibcast(out[i], 1, pairs, root, comm, &requests[i]);
        MPI_Type_free(&pairs);
      } else {
        MPI_Ireduce(in[i], out[i], length, MPI_INT, MPI_MAX, root, comm, &requests[i]);
      }
    }
    MPI_Comm_free(&comm);
    for (int i = 0; i < operations; ++i) {
      const int which = (i * 7 + world_rank * 11) % operations;
      MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
      CHECK(requests[which] == MPI_REQUEST_NULL, "operation %d", which);
      const int root = which % world_size;
      if (which % 3 == 2 && world_rank != root) continue;
      for (int k = 0; k < lengths[which]; ++k) {
        const int base = which + k + round;
        int expected = root + base;
        if (which % 3 == 0) expected = world_size * (world_size - 1) / 2 + world_size * base;
        if (which % 3 == 2) expected = world_size - 1 + base;
        CHECK(out[which][k] == expected, "operation %d, element %d: %d, must be %d", which, k,
              out[which][k], expected);
      }
    }
  }
}

static int level(int asked) {
  int provided = -1, queried = -1;
  MPI_Init_thread(NULL, NULL, asked, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Query_thread(&queried);
  CHECK(provided == queried && provided <= asked, "asked %d, provided %d, queried %d", asked,
        provided, queried);
  if (world_rank == 0) printf("provided %d of %d\n", provided, asked);
  return finish();
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "level") == 0) return level(atoi(argv[2]));
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  if (strcmp(argv[1], "alone") == 0) {
    alone();
  } else {
    freed();
  }
  return finish();
}
