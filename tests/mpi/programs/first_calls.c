// Communicators whose first call is a non-blocking, persistent or neighbourhood collective, which
// must not wait for set-up. The argument chooses what is tried.
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static int sum_below(int ranks) { return ranks * (ranks - 1) / 2; }

// Makes each of them the communicator's first call.
enum { forms = 4 };
static void call_first(MPI_Comm communicator, int form, int value) {
  int rank, ranks, sum = -1;
  MPI_Request request;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  int own = rank + value, all[64];
  switch (form % forms) {
    case 0:
      MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, communicator, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(sum == sum_below(ranks) + ranks * value, "allreduce %d", sum);
      break;
    case 1:
      own = rank == ranks - 1 ? value : -1;
      MPI_Ibcast(&own, 1, MPI_INT, ranks - 1, communicator, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(own == value, "bcast %d", own);
      break;
    case 2:
      MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_MAX, communicator, MPI_INFO_NULL, &request);
      for (int round = 0; round < 3; ++round) {
        own = rank + round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(sum == ranks - 1 + round, "persistent allreduce %d", sum);
      }
      MPI_Request_free(&request);
      break;
    default:
      MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, communicator, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int from = 0; from < ranks; ++from)
        CHECK(all[from] == from + value, "allgather of %d: %d", from, all[from]);
  }
}

// On a ring: the rank gets the numbers of both neighbours. Also as the first call.
static void call_neighbours(MPI_Comm ring, int form) {
  int rank, ranks, got[2] = {-1, -1};
  MPI_Comm_rank(ring, &rank);
  MPI_Comm_size(ring, &ranks);
  MPI_Request request;
  if (form % 3 == 0) {
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring);
  } else {
    if (form % 3 == 1) {
      MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    } else {
      MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, got, 1, MPI_INT, ring, MPI_INFO_NULL,
                                  &request);
      MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form % 3 == 2) MPI_Request_free(&request);
  }
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  CHECK(got[0] == left && got[1] == right, "neighbours %d %d", got[0], got[1]);
}

enum { kinds = 15, first_ring = 10 };

static MPI_Comm made_by(int kind, MPI_Comm parent) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group;
  MPI_Request request;
  int rank, ranks;
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &ranks);
  const int whole = 1, one = 1, two = 2, weights[2] = {1, 1};
  const int edge[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  switch (kind) {
    case 0: MPI_Comm_dup(parent, &made); break;
    case 1: MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &made); break;
    case 2: PMPI_Comm_dup(parent, &made); break;
    case 3: MPI_Comm_split(parent, rank % 2, -rank, &made); break;
    case 4: MPI_Comm_split(parent, rank == 0 ? MPI_UNDEFINED : 3, 0, &made); break;
    case 5: MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made); break;
    case 6:
    case 7:
      MPI_Comm_group(parent, &group);
      if (kind == 6) {  // of all but the last rank
        MPI_Group some;
        MPI_Group_excl(group, 1, (int[1]){ranks - 1}, &some);
        MPI_Comm_create(parent, some, &made);
        MPI_Group_free(&some);
      } else {
        MPI_Comm_create_group(parent, group, 5, &made);
      }
      MPI_Group_free(&group);
      break;
    case 8:
      MPI_Comm_idup(parent, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 9:
#if MPI_VERSION >= 4
      MPI_Comm_idup_with_info(parent, MPI_INFO_NULL, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
      MPI_Comm_dup(parent, &made);
#endif
      break;
    case 10: MPI_Cart_create(parent, 1, &ranks, &whole, 0, &made); break;
    case 11: {
      MPI_Comm grid;
      MPI_Cart_create(parent, 2, (int[2]){ranks, 1}, (int[2]){1, 0}, 0, &grid);
      MPI_Cart_sub(grid, (int[2]){1, 0}, &made);
      MPI_Comm_free(&grid);
      break;
    }
    case 12: {
      int index[64], edges[128];
      for (int i = 0; i < ranks; ++i) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + ranks - 1) % ranks, edges[2 * i + 1] = (i + 1) % ranks;
      }
      MPI_Graph_create(parent, ranks, index, edges, 0, &made);
      break;
    }
    case 13:
      MPI_Dist_graph_create_adjacent(parent, 2, edge, weights, 2, edge, weights, MPI_INFO_NULL, 0,
                                     &made);
      break;
    default:  // the order of the neighbours is the library's choice, so it makes no ring
      MPI_Dist_graph_create(parent, one, &rank, &two, edge, weights, MPI_INFO_NULL, 0, &made);
  }
  return made;
}

// Some ranks get no communicator.
static int is_partial(int kind) { return kind == 4 || kind == 6; }
static int is_ring(int kind) { return kind >= first_ring && kind != 14; }

// Children of MPI_COMM_WORLD and of its children, made in every way. Each is served from its first
// call, and so are its blocking collectives later.
static void makings(void) {
  for (int round = 0; round < 2; ++round)
    for (int kind = 0; kind < kinds; ++kind) {
      MPI_Comm made = made_by(kind, MPI_COMM_WORLD);
      if (made == MPI_COMM_NULL) continue;
      if (is_ring(kind))
        call_neighbours(made, kind + round);
      else
        call_first(made, kind + round, kind);
      for (int next = 0; next < 5; ++next) {
        const int way = (kind + 3 * next + round) % kinds;
        MPI_Comm child = made_by(is_partial(way) ? 0 : way, made);
        call_first(child, kind + next, round);
        MPI_Comm_free(next % 2 == 0 ? &made : &child);
        if (next % 2 == 0) made = child;
      }
      call_first(made, round, kind);
      MPI_Comm_free(&made);
    }
}

// Rank 0 is far ahead of the others, completes its part, and frees the communicators before the
// others have made their first call. Each rank makes the first calls in another order.
static void orders(void) {
  enum { many = 40, data = 300 };
  static int values[many][data];
  MPI_Comm made[many];
  MPI_Request requests[many];
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < many; ++i)
      made[i] = made_by(is_partial(i % first_ring) ? 0 : i % first_ring, MPI_COMM_WORLD);
    if (world_rank != 0 && round == 0) usleep(50000);
    for (int k = 0; k < many; ++k) {
      static const int steps[4] = {1, 3, 7, 9};  // none has a divisor in common with `many`
      const int i = k * steps[world_rank % 4] % many;
      int rank, ranks;
      MPI_Comm_rank(made[i], &rank);
      MPI_Comm_size(made[i], &ranks);
      for (int n = 0; n < data; ++n) values[i][n] = rank == 0 ? i + n : -1;
      MPI_Ibcast(values[i], i % 3 == 0 ? data : 1, MPI_INT, 0, made[i], &requests[i]);
      if (k % 2 == 0) MPI_Comm_free(&made[i]);
    }
    for (int i = 0; i < many; ++i) {
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      CHECK(values[i][0] == i && (i % 3 != 0 || values[i][data - 1] == i + data - 1),
            "bcast %d: %d", i, values[i][0]);
    }
    for (int i = 0; i < many; ++i)
      if (made[i] != MPI_COMM_NULL) MPI_Comm_free(&made[i]);
  }
}

// A root that starts many operations before the other ranks start their first one waits for them at
// most until they have. `persistent`: by the rounds of a persistent collective.
static void ahead(int persistent) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  enum { many = 400 };
  int value = -1;
  MPI_Request request;
  if (world_rank != 0) usleep(200000);
  if (persistent) MPI_Bcast_init(&value, 1, MPI_INT, 0, made, MPI_INFO_NULL, &request);
  for (int i = 0; i < many; ++i) {
    value = world_rank == 0 ? i : -1;
    if (persistent)
      MPI_Start(&request);
    else
      MPI_Ibcast(&value, 1, MPI_INT, 0, made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == i, "bcast %d: %d", i, value);
  }
  if (persistent) MPI_Request_free(&request);
  MPI_Comm_free(&made);
}

// A mix of non-blocking and blocking calls, so that communicators set up while operations are under
// way, and end with operations under way.
static void mixed(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm made = made_by(round % 4, MPI_COMM_WORLD);
    MPI_Request requests[3];
    int rank, ranks, sums[3], before = round % 3;
    MPI_Comm_rank(made, &rank);
    MPI_Comm_size(made, &ranks);
    for (int i = 0; i < 3; ++i) {
      MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, made, &requests[i]);
      if (i == before) exercise(made, 1 + round % 3, 7);
    }
    if (round % 2 == 0) MPI_Comm_free(&made);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) CHECK(sums[i] == sum_below(ranks), "sum %d: %d", i, sums[i]);
    if (round % 2 != 0) MPI_Comm_free(&made);
  }
}

// A program's own handler, after which the program goes on.
static void ignore(MPI_Comm* communicator, int* code, ...) {
  (void)communicator;
  (void)code;
}

// One rank alone is refused a making for its arguments; the others do not know of it.
static void refused(int own_handler) {
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (own_handler) MPI_Comm_create_errhandler(ignore, &handler);
  MPI_Comm parent, made;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, handler);
  for (int round = 0; round < 3; ++round) {
    if (world_rank == 1) {
      const int length = 1;
      MPI_Cart_create(parent, -1, &length, &length, 0, &made);
    }
    MPI_Comm_split(parent, 0, world_rank, &made);
    call_first(made, round, round);
    MPI_Comm_free(&made);
  }
  MPI_Comm_free(&parent);
}

static MPI_Comm of_thread[2];
static void* make_of_group(void* which) {
  const int own = *(int*)which;
  for (int round = 0; round < 40; ++round) {
    MPI_Group group;
    MPI_Comm made;
    MPI_Comm_group(of_thread[own], &group);
    // All on the same parent, told apart by their tags alone.
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 100 + own, &made);
    MPI_Group_free(&group);
    call_first(made, round, own);
    MPI_Comm_free(&made);
  }
  return NULL;
}

// Threads make communicators of the same group at once, in another order at each rank.
static void in_threads(void) {
  pthread_t ids[2];
  int own[2] = {0, 1};
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
  for (int i = 0; i < 2; ++i) pthread_create(&ids[i], NULL, make_of_group, &own[i]);
  for (int i = 0; i < 2; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&of_thread[i]);
}

// Each lives for one non-blocking call, or for none.
static void short_lived(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (round % 2 == 0) call_first(made, 0, round);
    MPI_Comm_free(&made);
  }
}

// Many that live at once.
static void many(int communicators) {
  MPI_Comm* const made = malloc(sizeof(MPI_Comm) * (size_t)communicators);
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &made[i]);
    call_first(made[i], i, i);
  }
  for (int i = communicators - 1; i >= 0; --i) call_first(made[i], i + 1, i);
  for (int i = 0; i < communicators; ++i) {
    const int which = world_rank == 0 ? i : communicators - 1 - i;
    MPI_Comm_free(&made[which]);
  }
  free(made);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "makings";
  const int number = argc > 2 ? atoi(argv[2]) : 1;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv,
                  strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (strcmp(what, "makings") == 0) makings();
  if (strcmp(what, "orders") == 0) orders();
  if (strcmp(what, "ahead") == 0) ahead(number);
  if (strcmp(what, "mixed") == 0) mixed(number);
  if (strcmp(what, "refused") == 0) refused(number);
  if (strcmp(what, "threads") == 0 && level == MPI_THREAD_MULTIPLE) in_threads();
  if (strcmp(what, "short") == 0) short_lived(number);
  if (strcmp(what, "many") == 0) many(number);
  return finish();
}
