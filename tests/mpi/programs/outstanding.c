// Non-blocking collectives under way: many at once, completed in any order, beside other calls, in
// arrays with the host's requests, and after the program has freed what they use. Their results
// alone are tested by the other programs, compiled with nonblocking.h. The argument chooses what is
// tried.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static MPI_Comm world;

static unsigned seed = 12345;  // the same at all ranks
static unsigned draw(unsigned below) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % below;
}

// No rank waits before all have started all operations and have exchanged a message.
static void many(void) {
  enum { short_ones = 1000, long_ones = 16, length = (1 << 20) / sizeof(double) };
  static double in[short_ones], out[short_ones];
  static MPI_Request requests[short_ones + long_ones];
  double* const data = malloc(sizeof(double) * length * long_ones);
  double* const sums = malloc(sizeof(double) * length * long_ones);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < short_ones; ++i) {
      in[i] = rank + i + round;
      MPI_Iallreduce(&in[i], &out[i], 1, MPI_DOUBLE, MPI_SUM, world, &requests[i]);
    }
    for (int k = 0; k < long_ones; ++k) {
      for (int i = 0; i < length; ++i) data[k * length + i] = rank + k + i % 100;
      MPI_Iallreduce(data + k * length, sums + k * length, length, MPI_DOUBLE, MPI_SUM, world,
                     &requests[short_ones + k]);
    }
    int token = rank;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, next, 1, world);
    MPI_Recv(&token, 1, MPI_INT, before, 1, world, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(&rank, 1, MPI_INT, next, 1, world);
    CHECK(token == before, "token %d", token);
    for (int i = short_ones + long_ones - 1; i > 0; --i) {
      const int other = (int)draw((unsigned)i + 1);
      const MPI_Request swapped = requests[i];
      requests[i] = requests[other], requests[other] = swapped;
    }
    for (int i = 0; i < short_ones / 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Waitall(short_ones + long_ones, requests, MPI_STATUSES_IGNORE);
    const int ranks_sum = size * (size - 1) / 2;
    for (int i = 0; i < short_ones; ++i)
      CHECK(out[i] == ranks_sum + (double)size * (i + round), "sum %d: %g", i, out[i]);
    for (int k = 0; k < long_ones; ++k)
      for (int i = 0; i < length; ++i)
        CHECK(sums[k * length + i] == ranks_sum + (double)size * (k + i % 100), "long sum %d", k);
    for (int i = 0; i < short_ones + long_ones; ++i)
      CHECK(requests[i] == MPI_REQUEST_NULL, "request %d", i);
  }
  free(data);
  free(sums);
}

// Once all ranks have started a collective, each can complete it, whatever the others do.
static void orders(void) {
  for (int round = 0; round < 40; ++round) {
    double own[2] = {rank, 1}, sum[2] = {0, 0};
    int token = -1, again = rank == size - 1 ? round : -1;
    MPI_Request request, other;
    MPI_Iallreduce(own, sum, 2, MPI_DOUBLE, MPI_SUM, world, &request);
    if (rank == 0) {
      for (int from = 1; from < size; ++from) {
        for (int found = round % 2 == 0; !found;)
          MPI_Iprobe(from, 0, world, &found, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, from, 0, world, MPI_STATUS_IGNORE);
      }
      MPI_Barrier(world);  // a blocking collective between start and completion
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Ssend(&rank, 1, MPI_INT, 0, 0, world);
      MPI_Barrier(world);
    }
    CHECK(sum[0] == size * (size - 1) / 2.0 && sum[1] == size, "round %d", round);
    // Two at once, completed in opposite orders; a blocking one between them.
    MPI_Ibcast(&again, 1, MPI_INT, size - 1, world, &other);
    MPI_Barrier(world);
    MPI_Ireduce(own, sum, 2, MPI_DOUBLE, MPI_MAX, 0, world, &request);
    MPI_Wait(rank % 2 == 0 ? &other : &request, MPI_STATUS_IGNORE);
    MPI_Wait(rank % 2 == 0 ? &request : &other, MPI_STATUS_IGNORE);
    CHECK(again == round, "round %d: %d", round, again);
  }
}

// Arrays with the host's requests and MPI_REQUEST_NULL, completed by every function.
static void mixed(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < 120; ++round) {
    int sum = 0, own = rank + round, from = -1, token = rank, all[64];
    MPI_Request r[7] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                        MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, world, &r[1]);
    MPI_Irecv(&from, 1, MPI_INT, left, 6, world, &r[2]);
    MPI_Ibarrier(world, &r[4]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, world, &r[6]);
    MPI_Isend(&token, 1, MPI_INT, right, 6, world, &r[5]);
    MPI_Status status[7];
    int left_over = 5, flag = 0, index = 0, some = 0, indices[7], seen[7] = {0};
    while (left_over > 0) {
      memset(status, 0x5a, sizeof status);
      if (round % 6 == 0) {
        MPI_Waitall(7, r, status), left_over = 0;
        CHECK(status[2].MPI_SOURCE == left && status[2].MPI_TAG == 6, "a message's status");
        CHECK(status[1].MPI_SOURCE == MPI_ANY_SOURCE && status[1].MPI_TAG == MPI_ANY_TAG,
              "a collective's status is empty");
      } else if (round % 6 == 1 || round % 6 == 2) {
        flag = 1;
        if (round % 6 == 1)
          MPI_Waitany(7, r, &index, status);
        else
          MPI_Testany(7, r, &index, &flag, status);
        if (!flag) {
          CHECK(index == MPI_UNDEFINED, "testany without a flag: %d", index);
          continue;
        }
        CHECK(index >= 0 && index < 7 && !seen[index]++, "any: %d", index);
        CHECK(status[0].MPI_SOURCE == (index == 2 ? left : MPI_ANY_SOURCE) || index == 5,
              "status of %d: %d", index, status[0].MPI_SOURCE);
        CHECK(r[index] == MPI_REQUEST_NULL, "completed: %d", index);
        --left_over;
      } else if (round % 6 == 3 || round % 6 == 4) {
        if (round % 6 == 3)
          MPI_Waitsome(7, r, &some, indices, status);
        else
          MPI_Testsome(7, r, &some, indices, status);
        CHECK(some >= (round % 6 == 3), "some: %d", some);
        for (int i = 0; i < some; ++i) {
          index = indices[i];
          CHECK(index >= 0 && index < 7 && !seen[index]++, "some: %d", index);
          CHECK(status[i].MPI_SOURCE == (index == 2 ? left : MPI_ANY_SOURCE) || index == 5,
                "status of %d: %d", index, status[i].MPI_SOURCE);
        }
        left_over -= some;
      } else {
        MPI_Testall(7, r, &flag, MPI_STATUSES_IGNORE);
        for (int i = 1; i < 7; ++i)
          CHECK((r[i] == MPI_REQUEST_NULL) == (flag || i == 3), "testall is all or nothing: %d", i);
        if (flag) left_over = 0;
      }
    }
    MPI_Waitany(7, r, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "all are complete");
    MPI_Testsome(7, r, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some == MPI_UNDEFINED, "all are complete");
    MPI_Testany(7, r, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == MPI_UNDEFINED, "all are complete");
    CHECK(sum == size * (size - 1) / 2 + size * round && from == left, "round %d", round);
    for (int i = 0; i < size; ++i) CHECK(all[i] == i, "gathered %d", i);
  }
}

static void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint least, extent;
  MPI_Type_get_extent(*type, &least, &extent);
  CHECK(extent == 3 * (MPI_Aint)sizeof(double), "the operation gets the program's type");
  for (int i = 0; i < *count; ++i) {
    double* const to = (double*)inout + 3 * i;
    const double* const from = (double*)in + 3 * i;
    to[0] += from[0], to[2] += from[2];
  }
}

// The communicator, the type and the operation are freed, and arrays of counts change, while
// operations are under way.
static void freed(void) {
  for (int round = 0; round < 12; ++round) {
    MPI_Comm copy;
    MPI_Comm_dup(world, &copy);
    if (round % 2 == 0) set_up(copy);
    MPI_Datatype apart, wide;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &apart);
    MPI_Type_create_resized(apart, 0, 3 * sizeof(double), &wide);
    MPI_Type_commit(&wide);
    MPI_Op op;
    MPI_Op_create(add_pairs, 1, &op);
    double in[9], sum[9], gathered[64 * 3];
    int counts[64], places[64];
    for (int i = 0; i < 9; ++i) in[i] = rank + i, sum[i] = -1;
    for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i;
    memset(gathered, 0, sizeof gathered);
    MPI_Request requests[3];
    MPI_Iallreduce(in, sum, 3, wide, op, copy, &requests[0]);
    MPI_Iallgatherv(in, 1, wide, gathered, counts, places, wide, copy, &requests[1]);
    MPI_Ibarrier(copy, &requests[2]);
    memset(counts, 0x7f, sizeof counts);
    memset(places, 0x7f, sizeof places);
    MPI_Op_free(&op);
    MPI_Type_free(&wide);
    MPI_Type_free(&apart);
    CHECK(op == MPI_OP_NULL && wide == MPI_DATATYPE_NULL, "freed handles");
    MPI_Comm_free(&copy);
    if (round % 3 == 0) {  // another communicator may take the freed one's memory
      MPI_Comm_dup(world, &copy);
      set_up(copy);
      exercise(copy, 3, 100);
      MPI_Comm_free(&copy);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    const int ranks_sum = size * (size - 1) / 2;
    for (int i = 0; i < 9; ++i)
      CHECK(sum[i] == (i % 3 == 1 ? -1 : ranks_sum + size * i), "sum %d: %g", i, sum[i]);
    for (int i = 0; i < size; ++i)
      CHECK(gathered[3 * i] == i && gathered[3 * i + 1] == 0 && gathered[3 * i + 2] == i + 2,
            "gathered %d", i);
  }
}

static int errors_of_new, errors_of_self;
static void note_new(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code, ++errors_of_new; }
static void note_self(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code, ++errors_of_self; }

// An operation that outlives its communicator fails. Another communicator may have the handle of
// the former one, but does not get its error.
static void reused(void) {
  MPI_Errhandler of_new, of_self;
  int found = 0;
  MPI_Comm_create_errhandler(note_new, &of_new);
  MPI_Comm_create_errhandler(note_self, &of_self);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, of_self);
  for (int round = 0; round < 8; ++round) {
    int in[64] = {0}, out[64];
    MPI_Comm copy, next;
    MPI_Request request;
    MPI_Comm_dup(world, &copy);
    set_up(copy);
    const MPI_Comm handle = copy;
    MPI_Ialltoall(in, rank == 0 ? 2 : 1, MPI_INT, out, 1, MPI_INT, copy, &request);
    MPI_Comm_free(&copy);
    MPI_Comm_dup(world, &next);
    set_up(next);
    MPI_Comm_set_errhandler(next, of_new);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    found += next == handle;
    MPI_Comm_free(&next);
  }
  CHECK(errors_of_new == 0 && errors_of_self == 8, "%d and %d errors", errors_of_new,
        errors_of_self);
  if (rank == 0) printf("%d handles were used again\n", found);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&of_new);
  MPI_Errhandler_free(&of_self);
}

// Operations of several communicators, completed by several threads in random order.
enum { threads = 4, communicators = 10, operations = 100 };
static MPI_Request shared[operations];
static int order[operations], sums[operations], values[operations];

static void* complete_some(void* argument) {
  const int thread = *(const int*)argument;
  for (int i = thread; i < operations; i += threads) {
    MPI_Request* const request = &shared[order[i]];
    int flag = 0, index = -1;
    switch (i / threads % 3) {
      case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
      case 1:
        while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        break;
      default: MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
    }
  }
  return NULL;
}

static void by_threads(void) {
  MPI_Comm copies[communicators];
  for (int c = 0; c < communicators; ++c) {
    MPI_Comm_dup(world, &copies[c]);
    set_up(copies[c]);
  }
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < operations; ++i) {
      values[i] = rank + i + round, order[i] = i;
      MPI_Iallreduce(&values[i], &sums[i], 1, MPI_INT, MPI_SUM, copies[i % communicators],
                     &shared[i]);
    }
    for (int i = operations - 1; i > 0; --i) {
      const int other = (int)((draw((unsigned)i + 1) + (unsigned)rank) % ((unsigned)i + 1));
      const int swapped = order[i];
      order[i] = order[other], order[other] = swapped;
    }
    pthread_t started[threads];
    int numbers[threads];
    for (int t = 0; t < threads; ++t) {
      numbers[t] = t;
      pthread_create(&started[t], NULL, complete_some, &numbers[t]);
    }
    // Another operation is started and completed while the threads complete the others.
    int most = -1;
    MPI_Request more;
    MPI_Iallreduce(&rank, &most, 1, MPI_INT, MPI_MAX, copies[0], &more);
    MPI_Wait(&more, MPI_STATUS_IGNORE);
    CHECK(most == size - 1, "the largest rank: %d", most);
    for (int t = 0; t < threads; ++t) pthread_join(started[t], NULL);
    for (int i = 0; i < operations; ++i)
      CHECK(sums[i] == size * (size - 1) / 2 + size * (i + round), "sum %d: %d", i, sums[i]);
  }
  for (int c = 0; c < communicators; ++c) MPI_Comm_free(&copies[c]);
}

// Freeing and cancelling are errors, and leave the operation as it is.
static void refused(void) {
  MPI_Comm copy;
  MPI_Comm_dup(world, &copy);
  set_up(copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  int sum = 0, kind = MPI_SUCCESS;
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy, &request);
  MPI_Request same = request;
  MPI_Error_class(MPI_Request_free(&request), &kind);
  CHECK(kind == MPI_ERR_REQUEST && request == same, "MPI_Request_free: %d", kind);
  MPI_Error_class(MPI_Cancel(&request), &kind);
  CHECK(kind == MPI_ERR_REQUEST && request == same, "MPI_Cancel: %d", kind);
  MPI_Error_class(MPI_Start(&request), &kind);
  CHECK(kind == MPI_ERR_REQUEST && request == same, "MPI_Start: %d", kind);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2 && request == MPI_REQUEST_NULL, "sum %d", sum);
#if MPI_VERSION >= 4
  MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  same = request;
  MPI_Error_class(MPI_Request_free(&request), &kind);
  CHECK(kind == MPI_ERR_REQUEST && request == same, "MPI_Request_free when started: %d", kind);
  MPI_Error_class(MPI_Start(&request), &kind);
  CHECK(kind == MPI_ERR_REQUEST && request == same, "started twice: %d", kind);
  sum = 0;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == size * (size - 1) / 2 && request == same, "sum %d", sum);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free");
#endif
  MPI_Comm_free(&copy);
}

// Once the program has been told that an operation is complete, it may free the request instead of
// completing it.
static void told(void) {
  for (int round = 0; round < 20; ++round) {
    int sum = 0, flag = 0;
    MPI_Request request;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world, &request);
    while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK(sum == size * (size - 1) / 2 && request == MPI_REQUEST_NULL, "sum %d", sum);
#if MPI_VERSION >= 4
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_MAX, world, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; ++i) {
      MPI_Start(&request);
      for (flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      CHECK(sum == size - 1, "maximum %d", sum);
      if (i == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "MPI_Request_free");
#endif
  }
}

// Without memory a start is an error; the program can complete others and try again.
static void exhausted(void) {
  const struct rlimit limit = {1 << 16, 1 << 16};  // of files: all blocks are in the first segment
  CHECK(rank != 0 || setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
  enum { length = 1 << 18, most = 64 };
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  char* const data = calloc(most, length);
  MPI_Request requests[most];
  int started = 0, code = MPI_SUCCESS;
  // The other ranks start only what the root has started.
  for (; started < most; ++started) {
    int go_on = 1;
    if (rank != 0) MPI_Recv(&go_on, 1, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
    if (go_on)
      code = MPI_Ibcast(data + started * (size_t)length, length, MPI_CHAR, 0, world,
                        &requests[started]);
    if (code != MPI_SUCCESS) go_on = 0;
    for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(&go_on, 1, MPI_INT, to, 3, world);
    if (!go_on) break;
  }
  if (rank == 0) {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    CHECK(started < most && kind == MPI_ERR_NO_MEM, "%d were started, code %d", started, kind);
  }
  MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(world);
  MPI_Request again;
  MPI_Ibcast(data, length, MPI_CHAR, 0, world, &again);
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  free(data);
}

// A root goes on while the others are late, which must not take more and more memory.
static void ahead(void) {
  static int data[1 << 14];
  for (int i = 0; i < 2000; ++i) {
    MPI_Request request;
    if (rank == size - 1 && i % 500 == 0) usleep(20000);
    data[0] = rank == 0 ? i : -1;
    MPI_Ibcast(data, 1 << 14, MPI_INT, 0, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data[0] == i, "bcast %d: %d", i, data[0]);
  }
}

// Erroneous: rank 0 ends with an operation that it has not completed.
static void unfinished(void) {
  int sum = 0;
  static int value = 1;
  MPI_Request request;
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, world, &request);
  if (rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const Case all[] = {
      {"many", many},     {"orders", orders},       {"mixed", mixed},          {"freed", freed},
      {"ahead", ahead},   {"threads", by_threads},  {"refused", refused},      {"told", told},
      {"reused", reused}, {"exhausted", exhausted}, {"unfinished", unfinished}};
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  int level = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  world = MPI_COMM_WORLD, rank = world_rank, size = world_size;
  if (!threads || level == MPI_THREAD_MULTIPLE)
    run_cases(argc, argv, all, sizeof all / sizeof *all);
  return finish();
}
