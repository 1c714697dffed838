// What a transfer with another node takes of its caller's own time: by starting it itself, and by
// handing it to a server. Two ranks on two nodes, under tutti-run --servers 1 --serve all. Rank 0
// starts `batch` puts and gets of each length, in functions of their own, whose instructions
// callgrind counts and dumps by their names; and tells the least nanoseconds of a start, and of a
// start with its completion when all have been completed by others.
#include <stdio.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "check.h"
#include "tutti/mpi.h"

enum { batch = 32, most_bytes = 4096 };

static tutti_group* group;
static unsigned char *here, *there;
static tutti_handle handles[batch];
static size_t bytes;

__attribute__((noinline)) void counted_starts(int gets) {
  for (int i = 0; i < batch; ++i) {
    const size_t at = (size_t)i * most_bytes;
    if (gets)
      tutti_get(group, 1, here + at, there + at, bytes, &handles[i]);
    else
      tutti_put(group, 1, there + at, here + at, bytes, &handles[i]);
  }
}
__attribute__((noinline)) void counted_ends(void) {
  for (int i = 0; i < batch; ++i) tutti_wait(group, &handles[i]);
}

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void measure(const char* way, int gets, int rounds) {
  double least_start = 1e18, least_all = 1e18;
  for (int round = 0; round < rounds; ++round) {
    const double begin = nanoseconds();
    counted_starts(gets);
    const double started = nanoseconds() - begin;
    // Meanwhile servers complete what they have been given.
    const struct timespec pause = {0, 30000000};
    nanosleep(&pause, NULL);
    const double middle = nanoseconds();
    counted_ends();
    const double all = started + nanoseconds() - middle;
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%zu", way, gets ? "get" : "put", bytes);
    CALLGRIND_DUMP_STATS_AT(name);
    if (started < least_start) least_start = started;
    if (all < least_all) least_all = all;
  }
  printf("%-7s %s of %4zu B: start %7.0f ns, with completion %7.0f ns\n", way, gets ? "get" : "put",
         bytes, least_start / batch, least_all / batch);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  CHECK(tutti_group_of_comm(MPI_COMM_WORLD, &group) == TUTTI_OK, "%s", tutti_error_message());
  here = tutti_alloc((size_t)batch * most_bytes);
  memset(here, 1, (size_t)batch * most_bytes);
  unsigned char* all[2];
  MPI_Allgather(&here, sizeof here, MPI_BYTE, all, sizeof here, MPI_BYTE, MPI_COMM_WORLD);
  there = all[1];
  for (bytes = 8; bytes <= most_bytes && world_rank == 0; bytes *= 8) {
    for (int gets = 0; gets < 2; ++gets) {
      tutti_servers_disable(tutti_node_team());
      measure("itself", gets, rounds);
      tutti_servers_enable(tutti_node_team());
      measure("servers", gets, rounds);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  tutti_group_free(group);
  return finish();
}
