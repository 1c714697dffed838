// One-sided transfers between ranks of different nodes (and of the same one). Argument: what to
// try.
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "tutti/mpi.h"

enum { slice = 300000, most = 300 };

static int rank, ranks;
static tutti_group* group;
static unsigned char* area;                   // `ranks` slices, of which each rank writes its own
static unsigned char** there;                 // by rank: its area
static unsigned char static_area[4 * slice];  // no heap
static volatile long flag;

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}
static void refused(tutti_status status, tutti_status expected, const char* culprit) {
  CHECK(status == expected && strstr(tutti_error_message(), culprit) != NULL, "%d: %s, not %s",
        (int)status, tutti_error_message(), culprit);
}

static void* addresses_of(void* own) {
  void** all = malloc((size_t)ranks * sizeof *all);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

static unsigned random_state;
static unsigned random_below(unsigned limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % limit;
}

// A transfer of random form in the bytes from `begin` on of this rank's slice at the target.
struct made {
  tutti_handle handle;
  int target, gets;
  size_t begin, block, blocks;
  ptrdiff_t stride;  // there; here the blocks are packed
  unsigned char* here;
};
static size_t first_of(const struct made* one) {
  return one->stride >= 0 ? one->begin : one->begin + (one->blocks - 1) * (size_t)-one->stride;
}
static void start_one(struct made* one, int target, size_t begin, size_t room) {
  const int strided = random_below(2) == 0;
  one->target = target;
  one->gets = random_below(2) == 0;
  one->begin = begin;
  one->blocks = strided ? 1 + random_below(20) : 1;
  const size_t each = room / one->blocks;
  one->block = random_below((unsigned)each + 1);
  one->stride = strided ? (ptrdiff_t)each : 0;
  if (strided && random_below(2) == 0) one->stride = -one->stride;
  one->here = malloc(one->block * one->blocks + 1);
  for (size_t i = 0; i < one->block * one->blocks; ++i)
    one->here[i] = (unsigned char)random_below(256);
  unsigned char* const remote = there[target] + (size_t)rank * slice + first_of(one);
  const ptrdiff_t packed = (ptrdiff_t)one->block;
  if (one->gets && one->stride != 0)
    ok(tutti_get_strided(group, target, one->here, packed, remote, one->stride, one->block,
                         one->blocks, &one->handle));
  else if (one->gets)
    ok(tutti_get(group, target, one->here, remote, one->block, &one->handle));
  else if (one->stride != 0)
    ok(tutti_put_strided(group, target, remote, one->stride, one->here, packed, one->block,
                         one->blocks, &one->handle));
  else
    ok(tutti_put(group, target, remote, one->here, one->block, &one->handle));
}
// Compares what a get has brought with the model of the slice, or changes the model as a put has.
static void end_one(struct made* one, unsigned char* model) {
  for (size_t block = 0; block < one->blocks; ++block) {
    unsigned char* const at = model + first_of(one) + (ptrdiff_t)block * one->stride;
    unsigned char* const here = one->here + block * one->block;
    if (one->gets)
      CHECK(memcmp(at, here, one->block) == 0, "a get from rank %d at %zu", one->target,
            first_of(one));
    else
      memcpy(at, here, one->block);
  }
  free(one->here);
}

// Random transfers with all ranks, compared with a model of this rank's slices.
static void random_transfers(int rounds) {
  unsigned char* models = calloc((size_t)ranks, slice);
  unsigned char* expected = malloc((size_t)ranks * slice);
  struct made* made = malloc(most * sizeof *made);
  memset(area, 0, (size_t)ranks * slice);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    // Sometimes more than may be outstanding, sometimes few long ones.
    const unsigned count = round % 3 == 0 ? most : 1 + random_below(8);
    const size_t room = slice / count;
    for (unsigned i = 0; i < count; ++i)
      start_one(&made[i], (int)random_below((unsigned)ranks), i * room, room);
    const unsigned all = random_below(4);
    if (all == 0) ok(tutti_wait_all(group));
    if (all == 1) ok(tutti_fence(group));
    for (unsigned i = 0; all > 1 && i < count; ++i) {
      tutti_handle* const handle = &made[all == 2 ? i : count - 1 - i].handle;
      int complete = 0;
      while (random_below(2) == 0 && complete == 0) ok(tutti_test(group, handle, &complete));
      ok(tutti_wait(group, handle));
    }
    for (unsigned i = 0; i < count; ++i) end_one(&made[i], models + (size_t)made[i].target * slice);
  }
  MPI_Alltoall(models, slice, MPI_BYTE, expected, slice, MPI_BYTE, MPI_COMM_WORLD);
  for (int writer = 0; writer < ranks; ++writer)
    CHECK(memcmp(area + (size_t)writer * slice, expected + (size_t)writer * slice, slice) == 0,
          "what rank %d wrote", writer);
  MPI_Barrier(MPI_COMM_WORLD);
  free(made);
  free(expected);
  free(models);
}

static void strict(void) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  unsigned char* const remote = there[next] + (size_t)rank * slice;
  unsigned char one = (unsigned char)(rank + 1), two = (unsigned char)(rank + 101), got = 0;
  ok(tutti_put(group, next, remote, &one, 1, NULL));
  ok(tutti_put_strict(group, next, remote, &two, 1));
  ok(tutti_get_strict(group, next, &got, remote, 1));
  CHECK(got == two, "%d", got);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(area[(size_t)before * slice] == before + 101, "%d", area[(size_t)before * slice]);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Every rank puts to all ranks. The signals alone say when the data is there, and two halves of
// each slice take turns, so nobody waits for anything else.
static void signals(int rounds) {
  enum { parts = 4, half = slice / 2 };
  static const size_t lengths[parts] = {1, 8, 1000, 140000};
  const uint64_t sum = 141009 * (uint64_t)ranks;
  uint64_t* const mine = tutti_alloc(2 * sizeof *mine);
  mine[0] = mine[1] = 0;
  uint64_t** const theirs = (uint64_t**)addresses_of(mine);
  unsigned char* const here = malloc(slice);
  tutti_handle* const handles = malloc((size_t)(2 * parts * ranks) * sizeof *handles);
  memset(handles, 0, (size_t)(2 * parts * ranks) * sizeof *handles);
  for (int round = 0; round < rounds; ++round) {
    const size_t turn = (size_t)(round % 2) * half;
    tutti_handle* handle = handles + round % 2 * parts * ranks;
    for (int i = 0; i < parts * ranks; ++i) ok(tutti_wait(group, &handle[i]));
    memset(here + turn, round + rank, half);
    for (int i = 0; i < ranks; ++i) {
      const int target = (rank + i) % ranks;
      unsigned char* to = there[target] + (size_t)rank * slice + turn;
      for (int part = 0; part < parts; to += lengths[part++])
        ok(tutti_put_signal(group, target, to, here + turn, lengths[part],
                            theirs[target] + round % 2, handle++));
    }
    const uint64_t all = sum * (uint64_t)(round / 2 + 1);
    ok(tutti_signal_wait(group, mine + round % 2, all));
    CHECK(mine[round % 2] == all, "%ld", (long)mine[round % 2]);
    for (int writer = 0; writer < ranks; ++writer)
      for (uint64_t i = 0; i < sum / (uint64_t)ranks; ++i) {
        const unsigned char got = area[(size_t)writer * slice + turn + i];
        CHECK(got == (unsigned char)(round + writer), "%d at %ld of rank %d in round %d", got,
              (long)i, writer, round);
      }
  }
  ok(tutti_wait_all(group));
  MPI_Barrier(MPI_COMM_WORLD);
  free(handles);
  free(here);
  free(theirs);
  tutti_free(mine);
}

// Nobody puts anything.
static void waits_for_a_signal(void) {
  uint64_t* const mine = tutti_alloc(sizeof *mine);
  *mine = 5;
  ok(tutti_signal_wait(group, mine, 5));
  if (rank == 0) printf("going\n"), fflush(stdout);
  ok(tutti_signal_wait(group, mine, 6));
}

// The first rank that is on another node.
static int rank_elsewhere(void) {
  MPI_Comm node;
  int here, first = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &here);
  int* const members = malloc((size_t)here * sizeof *members);
  MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, node);
  for (int i = 0; i < here && members[i] == first; ++i) ++first;
  MPI_Comm_free(&node);
  free(members);
  return first;
}

static void mistakes(void) {
  const int next = rank_elsewhere();
  unsigned char byte = 0;
  char name[32];
  snprintf(name, sizeof name, "rank %d", next);
  tutti_handle handle, copy;
  int complete = 0;
  refused(tutti_put(group, ranks, area, &byte, 1, NULL), TUTTI_INVALID_ARGUMENT, "target");
  refused(tutti_put(group, next, there[next], area, (size_t)1 << 46, NULL), TUTTI_INVALID_ARGUMENT,
          "beyond the end of the heap");
  // Memory that no process has. The target finds it out.
  ok(tutti_put(group, next, (void*)64, &byte, 1, &handle));
  refused(tutti_wait(group, &handle), TUTTI_INVALID_ARGUMENT, name);
  ok(tutti_get(group, next, area, (void*)64, 300000, &handle));
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && !complete) status = tutti_test(group, &handle, &complete);
  refused(status, TUTTI_INVALID_ARGUMENT, "300000 bytes at address 0x40");
  CHECK(complete && handle.place[1] == 0, "%d", complete);
  ok(tutti_get(group, next, &byte, (void*)64, 1, NULL));
  refused(tutti_fence(group), TUTTI_INVALID_ARGUMENT, name);
  refused(tutti_get_strict(group, next, &byte, (void*)64, 1), TUTTI_INVALID_ARGUMENT, name);
  ok(tutti_wait_all(group));
  uint64_t* const word = (uint64_t*)(there[next] + (size_t)rank * slice);
  refused(tutti_put_signal(group, next, (void*)64, &byte, 1, word, NULL), TUTTI_INVALID_ARGUMENT,
          "to is not within the shared heap of");
  refused(tutti_put_signal(group, next, there[next], &byte, 1, (uint64_t*)64, NULL),
          TUTTI_INVALID_ARGUMENT, "signal is not within the shared heap of");
  refused(tutti_put_signal(group, next, word, &byte, 1, word, NULL), TUTTI_INVALID_ARGUMENT,
          "signal and to overlap");
  static uint64_t private_word;
  refused(tutti_signal_wait(group, &private_word, 1), TUTTI_INVALID_ARGUMENT,
          "signal is not within the shared heap of");
  // A handle is of one group, and is told once.
  tutti_group* other;
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &other));
  ok(tutti_put(group, next, there[next] + (size_t)rank * slice, &byte, 1, &handle));
  copy = handle;
  refused(tutti_wait(other, &copy), TUTTI_INVALID_ARGUMENT, "another group");
  ok(tutti_wait(group, &handle));
  refused(tutti_wait(group, &copy), TUTTI_INVALID_ARGUMENT, "completed already");
  refused(tutti_test(group, &copy, &complete), TUTTI_INVALID_ARGUMENT, "completed already");
  ok(tutti_put(other, next, there[next] + (size_t)rank * slice, &byte, 1, NULL));
  tutti_group_free(other);  // completes it
  ok(tutti_put(group, next, there[next], &byte, 0, &handle));
  CHECK(handle.place[1] == 0, "a transfer of nothing");
  MPI_Barrier(MPI_COMM_WORLD);
}

// A rank that is still in a collective answers transfers. The first rank goes on when the others
// have left theirs; the messages are the host's.
static void others_have_left(void) {
  if (rank != 0) MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  for (int other = 1; other < ranks && rank == 0; ++other)
    MPI_Recv(NULL, 0, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The target calls nothing until it sees in its memory what was put there.
static void computes(void) {
  long one = 1;
  void** flags = addresses_of((void*)&flag);
  others_have_left();
  if (rank == 0) {
    tutti_handle handle;
    for (int target = 1; target < ranks; ++target) {
      ok(tutti_put(group, target, flags[target], &one, sizeof one, &handle));
      ok(tutti_wait(group, &handle));
    }
  } else {
    while (flag == 0) {
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(flags);
}

// The last rank disables the servers of its node and calls nothing for some time, so that the first
// one waits. That has disabled its own node's, and so hands them nothing. The servers go on once
// they are enabled, without any other call of that rank.
static void disabled(int seconds) {
  void** flags = addresses_of((void*)&flag);
  const long one = 1, two = 2;
  const int last = ranks - 1;
  if (rank == last || rank == 0) tutti_servers_disable(tutti_node_team());
  MPI_Barrier(MPI_COMM_WORLD);
  others_have_left();
  if (rank == 0) {
    ok(tutti_put_strict(group, last, flags[last], &one, sizeof one));
    MPI_Send(NULL, 0, MPI_BYTE, last, 0, MPI_COMM_WORLD);
    ok(tutti_put_strict(group, last, flags[last], &two, sizeof two));
  } else if (rank == last) {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() < begin + seconds) CHECK(flag == 0, "a server answers");
    ok(tutti_wait_all(group));
    while (flag == 0) ok(tutti_wait_all(group));
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double middle = MPI_Wtime();
    while (MPI_Wtime() < middle + 0.3) CHECK(flag == 1, "a server answers");
    tutti_servers_enable(tutti_node_team());
    while (flag != 2) {
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(flags);
}

// The last rank stops its servers and calls nothing: its process still answers the servers of the
// first rank's node. Then the first rank stops its own, with transfers outstanding.
static void stopped(void) {
  const int last = ranks - 1;
  tutti_team* const team = tutti_node_team();
  void** flags = addresses_of((void*)&flag);
  unsigned char bytes[100], got[100];
  for (int step = 0; step < 4; ++step) {
    if (rank == last && step == 1) ok(tutti_servers_stop(team));
    if (rank == last && step == 2) ok(tutti_servers_start(team, 1, TUTTI_SERVE_ALL));
    MPI_Barrier(MPI_COMM_WORLD);
    others_have_left();
    if (rank == 0) {
      unsigned char* const remote = there[last] + (size_t)step * sizeof bytes;
      memset(bytes, step + 1, sizeof bytes);
      ok(tutti_put(group, last, remote, bytes, sizeof bytes, NULL));
      if (step == 3) ok(tutti_servers_stop(team));
      ok(tutti_wait_all(group));
      ok(tutti_get_strict(group, last, got, remote, sizeof got));
      CHECK(memcmp(got, bytes, sizeof got) == 0, "step %d", step);
      ok(tutti_put_strict(group, last, flags[last], &(long){step + 1}, sizeof(long)));
    } else if (rank == last) {
      while (flag != step + 1) {
      }
      for (size_t i = 0; i < sizeof bytes; ++i)
        CHECK(area[(size_t)step * sizeof bytes + i] == step + 1, "step %d", step);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(flags);
}

static void pause_for(int seconds) {
  struct timespec time = {seconds, 0};
  nanosleep(&time, NULL);
}

// The last rank calls nothing for some time, or answers for some time and dies.
static void is_late(int dies) {
  unsigned char bytes[100] = {0};
  if (rank == 0) printf("going\n"), fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  others_have_left();
  if (rank == ranks - 1) {
    const double begin = MPI_Wtime();
    while (dies && MPI_Wtime() < begin + 1) ok(tutti_wait_all(group));
    if (dies) raise(SIGKILL);
    pause_for(3);
    return;
  }
  do {
    ok(tutti_put(group, ranks - 1, there[ranks - 1] + (size_t)rank * slice, bytes, sizeof bytes,
                 NULL));
    ok(tutti_fence(group));
  } while (dies);
}

// The first rank of the second half, whose process has the server of its node, gets a signal, while
// all others exchange transfers by servers.
static void loses_server(int number) {
  const int holder = ranks / 2, other = rank < holder ? ranks - 1 : 0;
  unsigned char bytes[100] = {0};
  if (rank == 0) printf("going\n"), fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  others_have_left();
  const double begin = MPI_Wtime();
  while (rank != holder || MPI_Wtime() < begin + 0.5) {
    ok(tutti_put(group, other, there[other] + (size_t)rank * slice, bytes, sizeof bytes, NULL));
    ok(tutti_fence(group));
  }
  raise(number);
  pause_for(60);
}

// The second rank stops the first one, whose process has the server of both. So no server begins
// the second rank's put, and it executes that itself while it waits for the last rank, which waits
// for the put. The last rank uses no server.
static void takes_signals_back(void) {
  const int last = ranks - 1;
  const unsigned char byte = 1;
  uint64_t* const mine = tutti_alloc(sizeof *mine);
  *mine = 0;
  uint64_t** const theirs = (uint64_t**)addresses_of(mine);
  pid_t first = getpid();
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == last) ok(tutti_servers_disable(tutti_node_team()));
  MPI_Barrier(MPI_COMM_WORLD);
  others_have_left();
  if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kill(first, SIGSTOP);
    pause_for(1);
    ok(tutti_put_signal(group, last, there[last], &byte, 1, theirs[last], NULL));
    ok(tutti_signal_wait(group, mine, 1));
    kill(first, SIGCONT);
    CHECK(area[0] == 1, "%d", area[0]);
  } else if (rank == last) {
    ok(tutti_signal_wait(group, mine, 1));
    CHECK(area[0] == 1, "%d", area[0]);
    ok(tutti_put_signal(group, 1, there[1], &byte, 1, theirs[1], NULL));
  }
  ok(tutti_wait_all(group));
  MPI_Barrier(MPI_COMM_WORLD);
  free(theirs);
  tutti_free(mine);
}

// The first rank is in MPI_Finalize while another one gets something from it. Ends the process.
static void ends(void) {
  long got = 0;
  flag = 3;
  void** flags = addresses_of((void*)&flag);
  if (rank == ranks - 1) {
    pause_for(1);
    ok(tutti_get_strict(group, 0, &got, flags[0], sizeof got));
    CHECK(got == 3, "%ld", got);
    printf("ok\n");
  }
  free(flags);
  MPI_Finalize();
  exit(0);
}

// A forked child reaches no rank of another node, and disturbs none.
static void forks(void) {
  const int far = rank_elsewhere();
  unsigned char byte = 1, got = 0;
  unsigned char* const remote = there[far] + (size_t)rank * slice;
  tutti_handle handle;
  ok(tutti_put(group, far, remote, &byte, 1, &handle));
  const pid_t child = fork();
  if (child == 0) {
    const int refused_here = tutti_get(group, far, &got, remote, 1, NULL) == TUTTI_UNAVAILABLE &&
                             tutti_wait(group, &handle) != TUTTI_OK;
    _exit(refused_here ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
  ok(tutti_wait(group, &handle));
  ok(tutti_get_strict(group, far, &got, remote, 1));
  CHECK(got == 1, "%d", got);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Groups may be freed in any order, and ranks may use a group that others have freed.
static void groups(void) {
  const int next = (rank + 1) % ranks;
  tutti_group* many[20];
  unsigned char bytes[20] = {0};
  for (int i = 0; i < 20; ++i) {
    ok(tutti_group_of_comm(MPI_COMM_WORLD, &many[i]));
    ok(tutti_put(many[i], next, there[next] + (size_t)rank * slice + i, &bytes[i], 1, NULL));
  }
  for (int i = 0; i < 20; ++i) tutti_group_free(many[rank % 2 == 0 ? i : 19 - i]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);  // in reverse
  tutti_group* reverse;
  ok(tutti_group_of_comm(half, &reverse));
  MPI_Comm_free(&half);
  const int of_next = ranks - 1 - next;
  if (rank == 0) tutti_group_free(reverse);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    long got = 0;
    ok(tutti_get_strict(reverse, of_next, &got, there[next], sizeof got));
    MPI_Barrier(MPI_COMM_WORLD);
    tutti_group_free(reverse);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  random_state = (unsigned)rank + 7;
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  const int in_heap = strcmp(what, "private") != 0;
  CHECK(in_heap || ranks <= 4, "%d ranks", ranks);
  area = in_heap ? tutti_alloc((size_t)ranks * slice) : static_area;
  memset(area, 0, (size_t)ranks * slice);
  there = addresses_of(area);
  if (strcmp(what, "random") == 0) random_transfers(9), strict(), signals(9);
  if (!in_heap) random_transfers(3);
  if (strcmp(what, "mistakes") == 0) mistakes(), groups(), forks();
  if (strcmp(what, "waits") == 0) waits_for_a_signal();
  if (strcmp(what, "computes") == 0) computes();
  if (strcmp(what, "disabled") == 0) disabled(2);
  if (strcmp(what, "stopped") == 0) stopped();
  if (strcmp(what, "ends") == 0) ends();
  if (strcmp(what, "late") == 0) is_late(0);
  if (strcmp(what, "killed") == 0) is_late(1);
  if (strcmp(what, "server_killed") == 0) loses_server(SIGKILL);
  if (strcmp(what, "server_stopped") == 0) loses_server(SIGSTOP);
  if (strcmp(what, "taken_back") == 0) takes_signals_back();
  const int code = finish();
  refused(tutti_put(group, (rank + 1) % ranks, there[0], area, 1, NULL), TUTTI_UNAVAILABLE,
          "MPI_Finalize");
  tutti_group_free(group);
  return code;
}
