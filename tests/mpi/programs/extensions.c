// What MPICH and Open MPI have beside the standard, and partitioned messages, together with
// collectives (docs/decisions/extensions-of-hosts.md). Each part runs by its name; a part that the
// host lacks does nothing.
#include <pthread.h>

#include "check.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
static void check_sum(MPI_Comm communicator) {
  int rank, size, sum = -1;
  MPI_Request request;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  for (int i = 0; i < 20; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, communicator);
    CHECK(sum == size * (size - 1) / 2, "blocking, call %d: %d", i, sum);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size - 1, "non-blocking, call %d: %d", i, sum);
  }
}

enum { threads = 3 };
static MPI_Comm of_threads;
static void* use_of_threads(void* none) {
  (void)none;
  MPIX_Threadcomm_start(of_threads);
  int rank, size, sum = -1;
  MPI_Comm_rank(of_threads, &rank);
  MPI_Comm_size(of_threads, &size);
  for (int i = 0; i < 50; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, of_threads);
    CHECK(sum == size * (size - 1) / 2, "call %d of %d threads: %d", i, size, sum);
    MPI_Barrier(of_threads);
  }
  MPIX_Threadcomm_finish(of_threads);
  return NULL;
}

static void of_threads_of(MPI_Comm communicator) {
  pthread_t all[threads];
  MPIX_Threadcomm_init(communicator, threads, &of_threads);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, use_of_threads, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  MPIX_Threadcomm_free(&of_threads);
}

// A communicator that gets the handle of one of threads is served again.
static void threadcomm(void) {
  for (int i = 0; i < 3; ++i) {
    of_threads_of(MPI_COMM_WORLD);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    check_sum(copy);
    of_threads_of(copy);
    MPI_Comm_free(&copy);
  }
}

// MPICH itself has it in blocking calls alone.
static void equal(void) {
  for (int different = 0; different < 2; ++different) {
    int own[3] = {1, 2, 3}, same = -1;
    own[1] += different * world_rank;
    const int right = !different || world_size == 1;
    MPI_Allreduce(own, &same, 3, MPI_INT, MPIX_EQUAL, MPI_COMM_WORLD);
    CHECK(same == right, "allreduce: %d", same);
    same = right;
    MPI_Reduce(own, &same, 3, MPI_INT, MPIX_EQUAL, 0, MPI_COMM_WORLD);
    CHECK(same == right, "reduce: %d", same);
  }
}

static void stream(void) {
  MPI_Comm made;
  MPIX_Stream_comm_create(MPI_COMM_WORLD, MPIX_STREAM_NULL, &made);
  check_sum(made);
  MPI_Comm_free(&made);
}

// A rank that only asks whether a request is complete must not be told so too early.
static void is_complete(void) {
  for (int i = 0; i < 20; ++i) {
    int value = world_rank, sum = -1;
    MPI_Request request;
    if (world_rank == i % world_size) usleep(2000);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!MPIX_Request_is_complete(request)) MPIX_Stream_progress(MPIX_STREAM_NULL);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d: %d", i, sum);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void add_x(void* in, void* inout, MPI_Count count, MPI_Datatype type, void* more) {
  (void)type;
  for (MPI_Count i = 0; i < count; ++i) ((int*)inout)[i] += ((int*)in)[i] + *(int*)more;
}
static void free_nothing(void* more) { (void)more; }
static void op_with_state(void) {
  static int more = 1;
  MPI_Op op;
  int sum = -1;
  MPIX_Op_create_x(add_x, free_nothing, 1, &more, &op);
  MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  CHECK(sum == world_size * (world_size - 1) / 2 + world_size - 1, "%d", sum);
  MPI_Op_free(&op);
}

static void types(void) {
#ifdef MPIX_C_FLOAT16
  unsigned short own = 0x3c00, sum = 0, all[64];  // 1
  MPI_Allreduce(&own, &sum, 1, MPIX_C_FLOAT16, MPI_MAX, MPI_COMM_WORLD);
  CHECK(sum == own, "%x", sum);
  MPI_Allgather(&own, 1, MPIX_C_FLOAT16, all, 1, MPIX_C_FLOAT16, MPI_COMM_WORLD);
  for (int i = 0; i < world_size; ++i) CHECK(all[i] == own, "%x", all[i]);
#endif
}

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int polls;
static int poll(void* state, MPI_Status* status) {
  (void)status;
  if (++polls == 5) MPI_Grequest_complete(*(MPI_Request*)state);
  return MPI_SUCCESS;
}
static int free_it(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel_it(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static int wait_for(int count, void** states, double timeout, MPI_Status* status) {
  (void)timeout;
  for (int i = 0; i < count; ++i)
    while (polls < 5) poll(states[i], status);
  return MPI_SUCCESS;
}

// A generalized request, whose progress the host polls, in one array with a collective.
static void generalized(void) {
  for (int i = 0; i < 5; ++i) {
    int sum = -1;
    MPI_Request both[2];
    polls = 0;
    MPIX_Grequest_start(query, free_it, cancel_it, poll, wait_for, &both[1], &both[1]);
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d: %d", i, sum);
  }
}
#else
static void threadcomm(void) {}
// MPICH itself has it in blocking calls alone.
static void equal(void) {}
static void stream(void) {}
static void is_complete(void) {}
static void op_with_state(void) {}
static void types(void) {}
static void generalized(void) {}
#endif

// Partitioned messages in one array with collectives.
static void partitioned(void) {
#if MPI_VERSION >= 4
  enum { parts = 4 };
  const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  int out[parts] = {0}, in[parts] = {0}, sum = -1;
  MPI_Request all[3];
  MPI_Psend_init(out, parts, 1, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &all[0]);
  MPI_Precv_init(in, parts, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &all[1]);
  MPI_Allreduce_init(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &all[2]);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < parts; ++k) in[k] = -1, out[k] = world_rank + k + i;
    MPI_Startall(3, all);
    for (int k = 0; k < parts; ++k) MPI_Pready(k, all[0]);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2, "round %d: %d", i, sum);
    for (int k = 0; k < parts; ++k) CHECK(in[k] == from + k + i, "part %d: %d", k, in[k]);
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&all[i]);
#endif
}

int main(int argc, char** argv) {
  int level;
  const Case all[] = {{"threadcomm", threadcomm},
                      {"equal", equal},
                      {"stream", stream},
                      {"is_complete", is_complete},
                      {"op_with_state", op_with_state},
                      {"types", types},
                      {"generalized", generalized},
                      {"partitioned", partitioned}};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  set_up(MPI_COMM_WORLD);
  run_cases(argc, argv, all, sizeof all / sizeof *all);
  return finish();
}
