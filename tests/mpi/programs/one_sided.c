// One-sided transfers between processes. Arguments: how many of its servers are to run, and what is
// reached: 1 the heap alone, 2 private memory too.
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tutti/mpi.h"

enum { numbers = 3000 };

static long mine[numbers], static_memory[numbers];
static long** there;  // by rank: numbers longs of its heap

static void* addresses_of(void* own, int ranks) {
  void** all = malloc((size_t)ranks * sizeof *all);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}
static void refused(tutti_status status, tutti_status expected, const char* culprit) {
  CHECK(status == expected && strstr(tutti_error_message(), culprit) != NULL, "%d: %s, not %s",
        (int)status, tutti_error_message(), culprit);
}

// Rank r puts into the next rank's heap, and gets it back, `count` longs at once.
static void exchange(tutti_group* group, int rank, int ranks, size_t count, void* target_memory) {
  const int next = (rank + 1) % ranks, rounds = count < 100 ? 3 : 20;
  long* const target = target_memory;
  long* back = malloc(numbers * sizeof *back);
  for (int round = 0; round < rounds; ++round) {
    tutti_handle handles[numbers];
    size_t parts = 0;
    for (size_t i = 0; i < numbers; ++i) mine[i] = 1000000L * rank + 1000L * round + (long)i;
    for (size_t i = 0; i + count <= numbers; i += count)
      ok(tutti_put(group, next, target + i, mine + i, count * sizeof(long), &handles[parts++]));
    for (size_t i = parts; i-- > 0;) ok(tutti_wait(group, &handles[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    memset(back, 0, numbers * sizeof *back);
    for (size_t i = 0; i + count <= numbers; i += count)
      ok(tutti_get(group, next, back + i, target + i, count * sizeof(long), NULL));
    ok(tutti_fence(group));
    for (size_t i = 0; i + count <= numbers; i += count)
      CHECK(memcmp(back + i, mine + i, count * sizeof(long)) == 0, "round %d at %zu", round, i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(back);
}

static void strided(tutti_group* group, int rank, int ranks) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int i = 0; i < 12; ++i) there[rank][i] = -1;
  for (int i = 0; i < 3; ++i) mine[i] = 10 * rank + i;
  MPI_Barrier(MPI_COMM_WORLD);
  tutti_handle handle;
  ok(tutti_put_strided(group, next, there[next] + 11, -4 * (ptrdiff_t)sizeof(long), mine,
                       sizeof(long), sizeof(long), 3, &handle));
  ok(tutti_wait(group, &handle));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 12; ++i) {
    const long expected = i % 4 == 3 ? 10 * before + (11 - i) / 4 : -1;
    CHECK(there[rank][i] == expected, "at %d: %ld", i, there[rank][i]);
  }
  ok(tutti_put_strict(group, rank, &there[rank][0], &mine[2], sizeof(long)));
  CHECK(there[rank][0] == 10 * rank + 2, "%ld", there[rank][0]);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A ring: each rank's signal is in its heap behind what the rank before it puts there.
static void signals(tutti_group* group, int rank, int ranks) {
  enum { count = 1000, rounds = 50 };
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  uint64_t* const signal = (uint64_t*)(there[rank] + 2 * count);
  uint64_t* const its_signal = (uint64_t*)(there[next] + 2 * count);
  signal[0] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    const int turn = round % 2 * count;
    tutti_handle handle;
    for (int i = 0; i < count; ++i) mine[i] = 1000000L * rank + 1000L * round + i;
    ok(tutti_put_signal(group, next, there[next] + turn, mine, count * sizeof(long), its_signal,
                        &handle));
    ok(tutti_wait(group, &handle));
    ok(tutti_signal_wait(group, signal, (uint64_t)(round + 1) * count * sizeof(long)));
    for (int i = 0; i < count; ++i)
      CHECK(there[rank][turn + i] == 1000000L * before + 1000L * round + i, "%ld in round %d",
            there[rank][turn + i], round);
    // No signal tells the rank before that this one has read, unless they are two.
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void mistakes(tutti_group* group, int rank, int ranks, int private_too) {
  const int next = (rank + 1) % ranks;
  const size_t huge = (size_t)1 << 46;
  tutti_handle handle, copy;
  refused(tutti_put(group, ranks, there[rank], mine, 8, NULL), TUTTI_INVALID_ARGUMENT, "target");
  refused(tutti_put(NULL, 0, there[rank], mine, 8, NULL), TUTTI_INVALID_ARGUMENT, "group is null");
  refused(tutti_put(group, rank, there[rank], there[rank], 8, NULL), TUTTI_INVALID_ARGUMENT,
          "overlap");
  refused(tutti_put(group, next, there[next], mine, huge, NULL), TUTTI_INVALID_ARGUMENT,
          "beyond the end of the heap");
  refused(tutti_put_signal(group, next, static_memory, mine, 8, (uint64_t*)there[next], NULL),
          TUTTI_INVALID_ARGUMENT, "to is not within the shared heap");
  refused(tutti_put_signal(group, next, there[next], mine, 8, (uint64_t*)static_memory, NULL),
          TUTTI_INVALID_ARGUMENT, "signal is not within the shared heap");
  refused(tutti_put_signal(group, next, there[next], mine, 8, (uint64_t*)there[next], NULL),
          TUTTI_INVALID_ARGUMENT, "overlap");
  refused(tutti_put_signal(group, rank, there[rank], mine, 8, (uint64_t*)static_memory, NULL),
          TUTTI_INVALID_ARGUMENT, "signal is not within the shared heap");
  refused(tutti_signal_wait(group, (uint64_t*)static_memory, UINT64_MAX), TUTTI_INVALID_ARGUMENT,
          "signal is not within the shared heap");
  refused(tutti_barrier(group), TUTTI_INVALID_ARGUMENT, "MPI_Barrier");
  refused(tutti_servers_start(tutti_node_team(), 65, TUTTI_SERVE_ALL), TUTTI_INVALID_ARGUMENT,
          "number of servers");
  if (private_too)
    refused(tutti_get_strict(group, next, mine, (void*)64, 8), TUTTI_INVALID_ARGUMENT,
            "does not have");
  // A handle is of one group, and is told once.
  tutti_group* other;
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &other));
  ok(tutti_put(group, next, there[next], mine, sizeof mine, &handle));
  copy = handle;
  if (handle.place[1] != 0)
    refused(tutti_wait(other, &copy), TUTTI_INVALID_ARGUMENT, "another group");
  ok(tutti_wait(group, &handle));
  if (copy.place[1] != 0)
    refused(tutti_wait(group, &copy), TUTTI_INVALID_ARGUMENT, "completed already");
  tutti_group_free(other);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A forked child reaches no other process, and disturbs none.
static void forks(tutti_group* group, int rank, int ranks) {
  const int next = (rank + 1) % ranks;
  const pid_t child = fork();
  if (child == 0) {
    long value = 5, got = 0;
    const tutti_status far = tutti_put(group, next, there[next], &value, sizeof value, NULL);
    const tutti_status long_one =
        tutti_put(group, next, there[next], static_memory, sizeof static_memory, NULL);
    const tutti_status near = tutti_get(group, rank, &got, &value, sizeof got, NULL);
    _exit(far != TUTTI_OK && long_one != TUTTI_OK && near == TUTTI_OK && got == 5 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
}

int main(int argc, char** argv) {
  const int servers = argc > 1 ? atoi(argv[1]) : 0, private_too = argc > 2 && atoi(argv[2]) == 2;
  int rank, ranks;
  tutti_group *group, *early;
  start(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(tutti_node_team() == NULL, "a team before the first group");
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &group));
  CHECK(tutti_group_rank(group) == rank && tutti_group_size(group) == ranks, "rank %d",
        tutti_group_rank(group));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(tutti_servers_count(tutti_node_team()) == servers, "%d servers",
        tutti_servers_count(tutti_node_team()));
  there = addresses_of(tutti_alloc(numbers * sizeof(long)), ranks);
  exchange(group, rank, ranks, 1, there[(rank + 1) % ranks]);
  exchange(group, rank, ranks, numbers, there[(rank + 1) % ranks]);
  strided(group, rank, ranks);
  signals(group, rank, ranks);
  if (private_too) {
    void** statics = addresses_of(static_memory, ranks);  // they differ between processes
    exchange(group, rank, ranks, 1500, statics[(rank + 1) % ranks]);
    exchange(group, rank, ranks, 7, statics[(rank + 1) % ranks]);
  }
  mistakes(group, rank, ranks, private_too);
  forks(group, rank, ranks);

  // A process starts servers of its own, for all ranks.
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1 && servers == 0) {
    ok(tutti_servers_start(tutti_node_team(), 1, TUTTI_SERVE_ALL));
    ok(tutti_servers_wake(tutti_node_team()));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(group, rank, ranks, 100, there[(rank + 1) % ranks]);
  if (rank == 0) ok(tutti_servers_disable(tutti_node_team()));
  exchange(group, rank, ranks, 100, there[(rank + 1) % ranks]);
  if (rank == 0) ok(tutti_servers_enable(tutti_node_team()));
  if (rank == 0) ok(tutti_servers_sleep(tutti_node_team()));
  exchange(group, rank, ranks, 500, there[(rank + 1) % ranks]);
  if (rank == ranks - 1 && servers == 0) {
    ok(tutti_servers_stop(tutti_node_team()));
    CHECK(tutti_servers_count(tutti_node_team()) == 0, "servers after the stop");
  }
  exchange(group, rank, ranks, 500, there[(rank + 1) % ranks]);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  ok(tutti_group_of_comm(half, &early));
  const int peer = tutti_group_rank(early) == 0 ? tutti_group_size(early) - 1 : 0;
  MPI_Comm_free(&half);
  ok(tutti_put(early, peer, there[0], mine, 0, NULL));  // nothing
  tutti_group_free(early);

  const int code = finish();
  refused(tutti_put(group, rank, there[rank], mine, sizeof mine, NULL), TUTTI_UNAVAILABLE,
          "MPI_Finalize");
  tutti_group_free(group);
  return code;
}
