// Ranks that wait for one that comes late: idle SECONDS TIMES. For each call in which they wait,
// rank 0 prints the largest share of a core that one used, and the median of the microseconds from
// the late rank's call to the end of the wait.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "check.h"

enum { most_times = 1000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double core_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void be_late(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

/* In each, rank 0 comes late and writes when it came. */
static double send_time(void) {
  double came = now();
  for (int rank = 1; rank < world_size; ++rank)
    MPI_Send(&came, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
  return came;
}

static double in_recv(void) {
  double came;
  if (world_rank == 0) return send_time();
  MPI_Recv(&came, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return came;
}

static double in_any_source(void) {
  double came;
  MPI_Status status;
  if (world_rank == 0) return send_time();
  MPI_Recv(&came, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 1, "from %d", status.MPI_SOURCE);
  return came;
}

static double in_wait(void) {
  double came;
  MPI_Request request;
  if (world_rank == 0) return send_time();
  MPI_Irecv(&came, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL, "a request is left");
  return came;
}

static double in_waits(int kind) {
  double came;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = -1, some = -1, indices[2];
  if (world_rank == 0) return send_time();
  MPI_Irecv(&came, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[1]);
  if (kind == 0) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (kind == 1) {
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == 1, "index %d", index);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED, "index %d of none", index);
  } else {
    MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some == 1 && indices[0] == 1, "%d complete", some);
    MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some == MPI_UNDEFINED, "%d of none", some);
  }
  CHECK(requests[1] == MPI_REQUEST_NULL, "a request is left");
  return came;
}
static double in_waitall(void) { return in_waits(0); }
static double in_waitany(void) { return in_waits(1); }
static double in_waitsome(void) { return in_waits(2); }

static double in_probe(void) {
  MPI_Status status;
  int count;
  if (world_rank == 0) return send_time();
  MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(count == 1, "%d numbers", count);
  return in_recv();
}

static double in_sendrecv(void) {
  double sent = 0, came = 0;
  if (world_rank == 0) sent = now();
  for (int rank = world_rank == 0 ? 1 : 0; rank < (world_rank == 0 ? world_size : 1); ++rank) {
    double got = -1;
    MPI_Sendrecv(&sent, 1, MPI_DOUBLE, rank, 2, &got, 1, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    came = got;
  }
  return world_rank == 0 ? sent : came;
}

static double in_sendrecv_replace(void) {
  double mine = world_rank == 0 ? now() : 0, came = mine;
  for (int rank = world_rank == 0 ? 1 : 0; rank < (world_rank == 0 ? world_size : 1); ++rank) {
    double both = mine;
    MPI_Sendrecv_replace(&both, 1, MPI_DOUBLE, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (world_rank != 0) came = both;
  }
  return came;
}

/* Rank 0 says afterwards when it came. */
static double told(double came) {
  MPI_Bcast(&came, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return came;
}

static double ended;

static double in_barrier(void) {
  const double came = now();
  MPI_Barrier(MPI_COMM_WORLD);
  ended = now();
  return told(came);
}

static double in_ibarrier(void) {
  MPI_Request request;
  const double came = now();
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ended = now();
  return told(came);
}

/* Calls whose waits are the host's. */
static double in_comm_split(void) {
  MPI_Comm part;
  const double came = now();
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &part);
  ended = now();
  MPI_Comm_free(&part);
  return told(came);
}

static MPI_Win window;
static long in_window;
static void make_window(void) {
  MPI_Win_create(&in_window, sizeof in_window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static double in_win_create(void) {
  const double came = now();
  make_window();
  ended = now();
  MPI_Win_free(&window);
  return told(came);
}

static double in_win_fence(void) {
  const double came = now();
  MPI_Win_fence(0, window);
  ended = now();
  return told(came);
}

/* The others are in a barrier, and the host may need them for the late rank's one-sided calls. */
static double in_barrier_with_window(void) {
  const double came = now();
  const long one = 1;
  long before = 0;
  if (world_rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 1, 0, MPI_SUM, window);
    MPI_Win_unlock(1, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  ended = now();
  return told(came);
}

static double in_file_open(void) {
  MPI_File file;
  const double came = now();
  MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  ended = now();
  MPI_File_close(&file);
  return told(came);
}

static double in_synchronous_send(void) {
  double came = 0;
  if (world_rank != 0) {
    MPI_Ssend(&came, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
    ended = now();
    return told(0);
  }
  const double began = now();
  for (int rank = 1; rank < world_size; ++rank)
    MPI_Recv(&came, 1, MPI_DOUBLE, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return told(began);
}

static const struct {
  const char* name;
  double (*run)(void);
} calls[] = {
    {"Recv", in_recv},
    {"Recv_any_source", in_any_source},
    {"Wait", in_wait},
    {"Waitall", in_waitall},
    {"Waitany", in_waitany},
    {"Waitsome", in_waitsome},
    {"Probe", in_probe},
    {"Sendrecv", in_sendrecv},
    {"Barrier", in_barrier},
    {"Sendrecv_replace", in_sendrecv_replace},
    {"Ibarrier", in_ibarrier},
    {"Ssend", in_synchronous_send},
    {"Comm_split", in_comm_split},
    {"File_open", in_file_open},
    {"Win_create", in_win_create},
    {"Win_fence", in_win_fence},
    {"Barrier_with_window", in_barrier_with_window},
};

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const double seconds = atof(argv[1]);
  const int times = atoi(argv[2]);
  CHECK(times > 0 && times <= most_times, "times");
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    static double late[most_times];
    double used = 0, waited = 0;
    if (calls[i].run == in_win_fence) make_window();
    for (int time = 0; time < times; ++time) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = now(), used_before = core_seconds();
      if (world_rank == 0) be_late(seconds);
      ended = 0;
      const double came = calls[i].run();
      const double end = ended > 0 ? ended : now();
      late[time] = end - came;
      used += core_seconds() - used_before;
      waited += end - begin;
    }
    qsort(late, (size_t)times, sizeof *late, ascending);
    double own[2] = {world_rank == 0 ? 0 : used / waited, world_rank == 0 ? 0 : late[times / 2]};
    double all[2];
    MPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
      printf("%s: %.2f %% of a core, woken in %.0f us\n", calls[i].name, 100 * all[0],
             1e6 * all[1]);
  }
  CHECK(in_window == (world_rank == 1 ? times : 0), "counted %ld", in_window);
  MPI_Win_free(&window);

  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now(), used_before = core_seconds();
  if (world_rank == 0) be_late(seconds);
  MPI_Finalize();
  if (world_rank == 1)
    fprintf(stderr, "Finalize: %.2f %% of a core\n",
            100 * (core_seconds() - used_before) / (now() - begin));
  if (world_rank == 0) puts("ok");
  return 0;
}
