// Persistent collectives: results of many rounds; requests in arrays together with the host's own;
// and other calls between start and completion, in orders in which a rank may not wait for what
// another rank does after its start.
//
//   persistent results | mixed | orders | different_orders | freed
//
// Other programs include this file and make the requests in other ways.
#include "check.h"
#include "host.h"

#ifndef COUNT
#define COUNT int
#define DISPLACEMENT int
#endif

enum { rounds = 7, longest = 5000 };

static int size, rank;
static MPI_Comm world;
static int in[8 * longest], out[8 * longest];
static COUNT counts[8];
static DISPLACEMENT displacements[8], bytes_at[8];
static MPI_Datatype types[8];

static int value(int from, int to, int i, int round) {
  return 1000 * from + 100 * to + i % 97 + round;
}

typedef int make(int n, int root, MPI_Request* request);

static int make_barrier(int n, int root, MPI_Request* r) {
  return (void)n, (void)root, MPI_Barrier_init(world, MPI_INFO_NULL, r);
}
static int make_bcast(int n, int root, MPI_Request* r) {
  return MPI_Bcast_init(rank == root ? in : out, n, MPI_INT, root, world, MPI_INFO_NULL, r);
}
static int make_reduce(int n, int root, MPI_Request* r) {
  return MPI_Reduce_init(in, out, n, MPI_INT, MPI_SUM, root, world, MPI_INFO_NULL, r);
}
static int make_allreduce(int n, int root, MPI_Request* r) {
  return (void)root, MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}
static int make_gather(int n, int root, MPI_Request* r) {
  return MPI_Gather_init(in, n, MPI_INT, out, n, MPI_INT, root, world, MPI_INFO_NULL, r);
}
static int make_gatherv(int n, int root, MPI_Request* r) {
  return MPI_Gatherv_init(in, n, MPI_INT, out, counts, displacements, MPI_INT, root, world,
                          MPI_INFO_NULL, r);
}
static int make_scatter(int n, int root, MPI_Request* r) {
  return MPI_Scatter_init(in, n, MPI_INT, out, n, MPI_INT, root, world, MPI_INFO_NULL, r);
}
static int make_scatterv(int n, int root, MPI_Request* r) {
  return MPI_Scatterv_init(in, counts, displacements, MPI_INT, out, n, MPI_INT, root, world,
                           MPI_INFO_NULL, r);
}
static int make_allgather(int n, int root, MPI_Request* r) {
  return (void)root, MPI_Allgather_init(in, n, MPI_INT, out, n, MPI_INT, world, MPI_INFO_NULL, r);
}
static int make_allgatherv(int n, int root, MPI_Request* r) {
  (void)root;
  return MPI_Allgatherv_init(in, n, MPI_INT, out, counts, displacements, MPI_INT, world,
                             MPI_INFO_NULL, r);
}
static int make_alltoall(int n, int root, MPI_Request* r) {
  return (void)root, MPI_Alltoall_init(in, n, MPI_INT, out, n, MPI_INT, world, MPI_INFO_NULL, r);
}
static int make_alltoallv(int n, int root, MPI_Request* r) {
  (void)n, (void)root;
  return MPI_Alltoallv_init(in, counts, displacements, MPI_INT, out, counts, displacements, MPI_INT,
                            world, MPI_INFO_NULL, r);
}
static int make_alltoallw(int n, int root, MPI_Request* r) {
  (void)n, (void)root;
  return MPI_Alltoallw_init(in, counts, bytes_at, types, out, counts, bytes_at, types, world,
                            MPI_INFO_NULL, r);
}
static int make_reduce_scatter_block(int n, int root, MPI_Request* r) {
  return (void)root,
         MPI_Reduce_scatter_block_init(in, out, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}
static int make_reduce_scatter(int n, int root, MPI_Request* r) {
  return (void)n, (void)root,
         MPI_Reduce_scatter_init(in, out, counts, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}
static int make_scan(int n, int root, MPI_Request* r) {
  return (void)root, MPI_Scan_init(in, out, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}
static int make_exscan(int n, int root, MPI_Request* r) {
  return (void)root, MPI_Exscan_init(in, out, n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, r);
}

// The host's blocking call with the same arguments gives the expected results.
static int expected[8 * longest];
static void ask_host(make* maker, int n, int root) {
  const int* from = in;
  int* to = expected;
  if (maker == make_barrier) return;
  if (maker == make_bcast) {
    memcpy(to, rank == root ? in : out, (size_t)n * sizeof(int));
    HOST(Bcast)(to, n, MPI_INT, root, world);
    if (rank == root) memcpy(out, in, (size_t)n * sizeof(int));
  }
  if (maker == make_reduce) HOST(Reduce)(from, to, n, MPI_INT, MPI_SUM, root, world);
  if (maker == make_allreduce) HOST(Allreduce)(from, to, n, MPI_INT, MPI_SUM, world);
  if (maker == make_gather || maker == make_gatherv)
    HOST(Gather)(from, n, MPI_INT, to, n, MPI_INT, root, world);
  if (maker == make_scatter || maker == make_scatterv)
    HOST(Scatter)(from, n, MPI_INT, to, n, MPI_INT, root, world);
  if (maker == make_allgather || maker == make_allgatherv)
    HOST(Allgather)(from, n, MPI_INT, to, n, MPI_INT, world);
  if (maker == make_alltoall || maker == make_alltoallv || maker == make_alltoallw)
    HOST(Alltoall)(from, n, MPI_INT, to, n, MPI_INT, world);
  if (maker == make_reduce_scatter || maker == make_reduce_scatter_block)
    HOST(Reduce_scatter_block)(from, to, n, MPI_INT, MPI_SUM, world);
  if (maker == make_scan) HOST(Scan)(from, to, n, MPI_INT, MPI_SUM, world);
  if (maker == make_exscan) HOST(Exscan)(from, to, n, MPI_INT, MPI_SUM, world);
}

static const struct {
  const char* name;
  make* maker;
} makers[] = {{"barrier", make_barrier},
              {"bcast", make_bcast},
              {"reduce", make_reduce},
              {"allreduce", make_allreduce},
              {"gather", make_gather},
              {"gatherv", make_gatherv},
              {"scatter", make_scatter},
              {"scatterv", make_scatterv},
              {"allgather", make_allgather},
              {"allgatherv", make_allgatherv},
              {"alltoall", make_alltoall},
              {"alltoallv", make_alltoallv},
              {"alltoallw", make_alltoallw},
              {"reduce_scatter_block", make_reduce_scatter_block},
              {"reduce_scatter", make_reduce_scatter},
              {"scan", make_scan},
              {"exscan", make_exscan}};
enum { maker_count = sizeof makers / sizeof makers[0] };

static void fill(int n, int round) {
  for (int to = 0; to < size; ++to)
    for (int i = 0; i < n; ++i) in[to * n + i] = value(rank, to, i, round);
}

// Different ways to complete one request.
static void complete(MPI_Request* request, int way) {
  int flag = 0, index = -1, some = 0;
  switch (way % 6) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1:
      while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
      break;
    case 2: MPI_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    case 3:
      MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
      CHECK(index == 0, "waitany: %d", index);
      break;
    case 4:
      while (!flag) MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
      MPI_Wait(request, MPI_STATUS_IGNORE);
      MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
      CHECK(flag && index == MPI_UNDEFINED, "testany of an inactive request: %d %d", flag, index);
      break;
    case 5:
      MPI_Waitsome(1, request, &some, &index, MPI_STATUSES_IGNORE);
      CHECK(some == 1 && index == 0, "waitsome");
      break;
  }
  CHECK(*request != MPI_REQUEST_NULL, "a persistent request must outlive its completion");
}

static void results(int n) {
  for (int i = 0; i < size; ++i) {
    counts[i] = n, displacements[i] = i * n, bytes_at[i] = i * n * (int)sizeof(int),
    types[i] = MPI_INT;
  }
  for (int which = 0; which < maker_count; ++which) {
    const int root = which % size;
    MPI_Request request;
    CHECK(makers[which].maker(n, root, &request) == MPI_SUCCESS, "%s_init", makers[which].name);
    for (int round = 0; round < rounds; ++round) {
      fill(n, round);
      memset(out, 0xee, sizeof out);
      memset(expected, 0xee, sizeof expected);
      MPI_Start(&request);
      ask_host(makers[which].maker, n, root);
      complete(&request, round);
      CHECK(memcmp(out, expected, sizeof out) == 0, "%s of %d ints, round %d", makers[which].name,
            n, round);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "freed");
  }
}

// Parts of different lengths, some empty, with gaps between them, and types with gaps; in place.
static void shapes(void) {
  MPI_Datatype strided;
  MPI_Type_vector(3, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  int mine[10], all[8 * 16];
  MPI_Request requests[5];
  int total = 0, before = -1, running[2];
  for (int i = 0; i < size; ++i)
    counts[i] = 3 * (i % 3), displacements[i] = total + i, total += counts[i];
  for (int i = 0; i < 10; ++i) mine[i] = 10 * rank + i;
  MPI_Allgatherv_init(mine, rank % 3, strided, all, counts, displacements, MPI_INT, world,
                      MPI_INFO_NULL, &requests[0]);
  MPI_Type_free(&strided);  // the request stays valid
  int places[8];
  MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, places, 1, MPI_INT, world, MPI_INFO_NULL,
                     &requests[1]);
  double sums[2];
  MPI_Allreduce_init(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL,
                     &requests[2]);
  MPI_Exscan_init(MPI_IN_PLACE, &before, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[3]);
  MPI_Scan_init(MPI_IN_PLACE, running, 2, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[4]);
  for (int round = 0; round < rounds; ++round) {
    memset(all, 0xff, sizeof all);
    places[rank] = 7 * rank + round, sums[0] = rank, sums[1] = round;
    before = running[0] = rank + 1, running[1] = round;
    MPI_Startall(5, requests);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    const int expected = rank == 0 ? 1 : rank * (rank + 1) / 2;  // rank 0's is not written
    CHECK(before == expected, "exscan in place: %d, must be %d", before, expected);
    CHECK(running[0] == (rank + 1) * (rank + 2) / 2 && running[1] == round * (rank + 1),
          "scan in place: %d %d", running[0], running[1]);
    for (int i = 0; i < size; ++i) {
      CHECK(places[i] == 7 * i + round, "in place");
      for (int k = 0; k < counts[i]; ++k)
        CHECK(all[displacements[i] + k] == 10 * i + (k % 3) * 2 + (k / 3) * 5, "rank %d's %d: %d",
              i, k, all[displacements[i] + k]);
      CHECK(all[displacements[i] + counts[i]] == -1, "a gap");
    }
    CHECK(sums[0] == size * (size - 1) / 2 && sums[1] == size * round, "sums");
  }
  for (int i = 0; i < 5; ++i) MPI_Request_free(&requests[i]);
}

// Arrays of persistent collectives, persistent and nonblocking messages, and MPI_REQUEST_NULL.
static void mixed(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int sum = 0, own = rank, from = -1, again = -1, token = rank;
  MPI_Request requests[6] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                             MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[1]);
  MPI_Recv_init(&from, 1, MPI_INT, left, 5, world, &requests[2]);
  MPI_Barrier_init(world, MPI_INFO_NULL, &requests[4]);
  int flag = 0, index = 0, some = 0, indices[6];
  MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(flag, "nothing is active");
  MPI_Testany(6, requests, &index, &flag, MPI_STATUS_IGNORE);
  CHECK(flag && index == MPI_UNDEFINED, "nothing is active");
  for (int round = 0; round < 60; ++round) {
    from = again = -1, own = rank + round;
    MPI_Start(&requests[1]), MPI_Start(&requests[2]), MPI_Start(&requests[4]);
    MPI_Irecv(&again, 1, MPI_INT, left, 6, world, &requests[3]);
    MPI_Isend(&token, 1, MPI_INT, right, 6, world, &requests[5]);
    MPI_Send(&token, 1, MPI_INT, right, 5, world);
    int left_over = 5;
    while (left_over > 0) {
      if (round % 5 == 0) {
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE), left_over = 0;
      } else if (round % 5 == 1) {
        MPI_Waitany(6, requests, &index, MPI_STATUS_IGNORE), --left_over;
        CHECK(index != MPI_UNDEFINED, "waitany");
      } else if (round % 5 == 2) {
        MPI_Waitsome(6, requests, &some, indices, MPI_STATUSES_IGNORE);
        CHECK(some > 0, "waitsome");
        left_over -= some;
      } else if (round % 5 == 3) {
        MPI_Testsome(6, requests, &some, indices, MPI_STATUSES_IGNORE);
        CHECK(some >= 0, "testsome");
        left_over -= some;
      } else {
        MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
        if (flag) left_over = 0;
      }
    }
    MPI_Waitany(6, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "all are complete");
    CHECK(sum == size * (size - 1) / 2 + size * round, "round %d: sum %d", round, sum);
    CHECK(from == left && again == left, "round %d: %d %d", round, from, again);
  }
  MPI_Request_free(&requests[1]), MPI_Request_free(&requests[2]), MPI_Request_free(&requests[4]);
}

// Once all ranks have started a collective, each can complete it, whatever the others do: before
// its own wait rank 0 makes calls that end only after the other ranks have completed the
// collective.
static void orders(void) {
  double own[2] = {rank, 1}, sum[2] = {0, 0};
  int token = 0;
  MPI_Request request, other;
  MPI_Allreduce_init(own, sum, 2, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &request);
  MPI_Bcast_init(&token, 1, MPI_INT, size - 1, world, MPI_INFO_NULL, &other);
  for (int round = 0; round < 40; ++round) {
    MPI_Start(&request);
    if (rank == 0) {
      for (int from = 1; from < size; ++from) {
        if (round % 2 == 0)
          MPI_Recv(&token, 1, MPI_INT, from, 0, world, MPI_STATUS_IGNORE);
        else {
          int found = 0;
          while (!found) MPI_Iprobe(from, 0, world, &found, MPI_STATUS_IGNORE);
          MPI_Recv(&token, 1, MPI_INT, from, 0, world, MPI_STATUS_IGNORE);
        }
      }
      MPI_Barrier(world);  // a blocking collective between start and completion
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Ssend(&rank, 1, MPI_INT, 0, 0, world);
      MPI_Barrier(world);
    }
    CHECK(sum[0] == size * (size - 1) / 2.0 && sum[1] == size, "round %d", round);
    // Two collectives at once, completed in opposite orders.
    token = rank == size - 1 ? round : -1;
    MPI_Start(&other), MPI_Start(&request);
    MPI_Wait(rank % 2 == 0 ? &other : &request, MPI_STATUS_IGNORE);
    MPI_Wait(rank % 2 == 0 ? &request : &other, MPI_STATUS_IGNORE);
    CHECK(token == round, "round %d: token %d", round, token);
    // Rank 0 starts only after the last rank has started.
    if (rank == 0) {
      MPI_Recv(&token, 1, MPI_INT, size - 1, 1, world, MPI_STATUS_IGNORE);
      MPI_Start(&request);
    } else {
      MPI_Start(&request);
      if (rank == size - 1) MPI_Send(&rank, 1, MPI_INT, 0, 1, world);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request), MPI_Request_free(&other);
}

// Each rank starts its requests in an order of its own, and completes them in another one. Before
// it completes any, it exchanges a message with its neighbours.
static void different_orders(void) {
  enum { many = 12 };
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int values[many][300], sums[many][300];
  MPI_Request requests[many];
  for (int i = 0; i < many; ++i) {
    const int n = i % 3 == 0 ? 300 : 1, root = i % size;
    if (i % 4 == 3)
      MPI_Bcast_init(rank == root ? values[i] : sums[i], n, MPI_INT, root, world, MPI_INFO_NULL,
                     &requests[i]);
    else
      MPI_Allreduce_init(values[i], sums[i], n, MPI_INT, MPI_SUM, world, MPI_INFO_NULL,
                         &requests[i]);
  }
  for (int round = 0; round < 30; ++round) {
    int token = -1;
    for (int i = 0; i < many; ++i)
      for (int k = 0; k < 300; ++k) values[i][k] = rank + i + k + round;
    for (int k = 0; k < many; ++k) MPI_Start(&requests[(5 * k + 3 * rank + round) % many]);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 8, &token, 1, MPI_INT, left, 8, world,
                 MPI_STATUS_IGNORE);
    CHECK(token == left, "token %d", token);
    for (int k = 0; k < many; ++k)
      MPI_Wait(&requests[(7 * k + 2 * rank + 1) % many], MPI_STATUS_IGNORE);
    for (int i = 0; i < many; ++i)
      for (int k = 0; k < (i % 3 == 0 ? 300 : 1); ++k) {
        const int root = i % size;
        if (i % 4 == 3)
          CHECK(rank == root || sums[i][k] == root + i + k + round, "bcast %d", i);
        else
          CHECK(sums[i][k] == size * (size - 1) / 2 + size * (i + k + round), "sum %d", i);
      }
  }
  for (int i = 0; i < many; ++i) MPI_Request_free(&requests[(i + rank) % many]);
}

// Many requests, freed in any order and after their communicator; user operations.
static void multiply(void* a, void* b, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)b)[i] *= ((int*)a)[i];
}
static void freed(void) {
  enum { many = 200 };
  static int values[many], sums[many];
  MPI_Request requests[many];
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    set_up(copy);
    for (int i = 0; i < many; ++i) {
      values[i] = rank + i;
      MPI_Allreduce_init(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL,
                         &requests[i]);
    }
    for (int i = 0; i < many; i += 2)
      MPI_Request_free(&requests[i]), requests[i] = MPI_REQUEST_NULL;
    for (int i = 1; i < many; i += 2) MPI_Start(&requests[i]);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 1; i < many; i += 2) CHECK(sums[i] == size * (size - 1) / 2 + size * i, "%d", i);
    if (turn % 2 == 0) MPI_Comm_free(&copy);
    for (int i = many - 1; i >= 0; i -= 2) MPI_Request_free(&requests[i]);
    if (turn % 2 == 1) MPI_Comm_free(&copy);
  }
  MPI_Op product;
  MPI_Op_create(multiply, 1, &product);
  int two = 2, result = 0, power = 1;
  MPI_Allreduce_init(&two, &result, 1, MPI_INT, product, world, MPI_INFO_NULL, &requests[0]);
  for (int i = 0; i < size; ++i) power *= 2;
  for (int round = 0; round < rounds; ++round) {
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(result == power, "product %d", result);
  }
  MPI_Request_free(&requests[0]);
  MPI_Op_free(&product);
}

static void all_results(void) {
  const int lengths[] = {1, 0, 3, 12, 100, longest};
  for (int i = 0; i < 6; ++i) results(lengths[i]);
  shapes();
}

int main(int argc, char** argv) {
  const Case all[] = {{"results", all_results},
                      {"mixed", mixed},
                      {"orders", orders},
                      {"different_orders", different_orders},
                      {"freed", freed}};
  start(&argc, &argv);
  world = MPI_COMM_WORLD, rank = world_rank, size = world_size;
  set_up(world);
  run_cases(argc, argv, all, sizeof all / sizeof *all);
  return finish();
}
