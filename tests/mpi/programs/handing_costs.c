// What a transfer with another node takes of its caller's own time: by starting it itself, and by
// handing it to a server. Two ranks on two nodes, under tutti-run --serve all. Each thread of rank
// 0 has a group of its own and starts `batch` puts and gets of each length, in functions of their
// own, whose instructions callgrind counts and dumps by their names if there is one thread. The
// program tells the least nanoseconds of a start, and of a start with its completion when all have
// been completed by others, as means of the threads. These are of the thread's own core time,
// because threads may be more than cores.
// Arguments: the rounds (5), and the threads (1).
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "check.h"
#include "tutti/mpi.h"

enum { batch = 32, most_bytes = 4096, most_threads = 16 };

typedef struct {
  tutti_group* group;
  unsigned char *here, *there;
  tutti_handle handles[batch];
  double least_start, least_all;
} Caller;

static Caller callers[most_threads];
static size_t bytes;
static int gets, rounds, threads;
static const char* way;

__attribute__((noinline)) void counted_starts(Caller* caller) {
  for (int i = 0; i < batch; ++i) {
    const size_t at = (size_t)i * most_bytes;
    if (gets)
      tutti_get(caller->group, 1, caller->here + at, caller->there + at, bytes,
                &caller->handles[i]);
    else
      tutti_put(caller->group, 1, caller->there + at, caller->here + at, bytes,
                &caller->handles[i]);
  }
}
__attribute__((noinline)) void counted_ends(Caller* caller) {
  for (int i = 0; i < batch; ++i) tutti_wait(caller->group, &caller->handles[i]);
}

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void* call(void* one) {
  Caller* const caller = one;
  caller->least_start = caller->least_all = 1e18;
  for (int round = 0; round < rounds; ++round) {
    const double begin = nanoseconds();
    counted_starts(caller);
    const double started = nanoseconds() - begin;
    // Meanwhile servers complete what they have been given.
    const struct timespec pause = {0, 30000000};
    nanosleep(&pause, NULL);
    const double middle = nanoseconds();
    counted_ends(caller);
    const double all = started + nanoseconds() - middle;
    if (threads == 1) {
      char name[64];
      snprintf(name, sizeof name, "%s_%s_%zu", way, gets ? "get" : "put", bytes);
      CALLGRIND_DUMP_STATS_AT(name);
    }
    if (started < caller->least_start) caller->least_start = started;
    if (all < caller->least_all) caller->least_all = all;
  }
  return NULL;
}

static void measure(const char* by) {
  pthread_t others[most_threads];
  way = by;
  for (int i = 1; i < threads; ++i)
    CHECK(pthread_create(&others[i], NULL, call, &callers[i]) == 0, "thread %d", i);
  call(&callers[0]);
  for (int i = 1; i < threads; ++i) pthread_join(others[i], NULL);
  double start = 0, all = 0;
  for (int i = 0; i < threads; ++i) {
    start += callers[i].least_start / threads / batch;
    all += callers[i].least_all / threads / batch;
  }
  printf("%-7s %s of %4zu B: start %7.0f ns, with completion %7.0f ns\n", way, gets ? "get" : "put",
         bytes, start, all);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  rounds = argc > 1 ? atoi(argv[1]) : 5;
  threads = argc > 2 ? atoi(argv[2]) : 1;
  CHECK(level == MPI_THREAD_MULTIPLE && threads >= 1 && threads <= most_threads, "%d", level);
  const size_t each = (size_t)batch * most_bytes;
  unsigned char* const here = tutti_alloc((size_t)threads * each);
  memset(here, 1, (size_t)threads * each);
  unsigned char* all[2];
  MPI_Allgather(&here, sizeof here, MPI_BYTE, all, sizeof here, MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < threads; ++i) {
    Caller* const caller = &callers[i];
    CHECK(tutti_group_of_comm(MPI_COMM_WORLD, &caller->group) == TUTTI_OK, "%s",
          tutti_error_message());
    caller->here = here + (size_t)i * each;
    caller->there = all[1] + (size_t)i * each;
  }
  for (bytes = 8; bytes <= most_bytes && world_rank == 0; bytes *= 8) {
    for (gets = 0; gets < 2; ++gets) {
      tutti_servers_disable(tutti_node_team());
      measure("itself");
      tutti_servers_enable(tutti_node_team());
      measure("servers");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < threads; ++i) tutti_group_free(callers[i].group);
  return finish();
}
