// Memory runs out at one rank while ranks of several nodes make a group for one-sided transfers:
// each allocation of that rank's call fails in turn. The call then fails at all ranks, and none
// waits for ever. The same while they exchange transfers: those of that rank fail or end, and those
// of other ranks end. Argument: the rank.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"
#include "tutti/mpi.h"

void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);

// Allocations in Tutti: the thread's, and all of the process. Negative: none fails.
static __thread long allocations_left = -1;
static _Atomic long process_left = -1;
static _Atomic long failures;

static int may_allocate(const void* caller) {
  Dl_info info;
  if ((allocations_left < 0 && process_left < 0) || dladdr(caller, &info) == 0 ||
      info.dli_fname == NULL || strstr(info.dli_fname, "libtutti-") == NULL)
    return 1;
  if (allocations_left >= 0) return allocations_left > 0 ? allocations_left--, 1 : 0;
  long left = process_left;
  while (left > 0 && !atomic_compare_exchange_weak(&process_left, &left, left - 1)) {
  }
  failures += left == 0;
  return left != 0;
}
// The libraries call these functions, too, because the program's definitions come first.
void* malloc(size_t bytes) {
  return may_allocate(__builtin_return_address(0)) ? __libc_malloc(bytes) : NULL;
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return may_allocate(__builtin_return_address(0)) ? __libc_memalign(alignment, bytes) : NULL;
}

static void ok(tutti_status status) {
  CHECK(status == TUTTI_OK, "%d: %s", (int)status, tutti_error_message());
}
static int ok_or_no_memory(tutti_status status) {
  CHECK(status == TUTTI_OK ||
            (status == TUTTI_UNAVAILABLE && strstr(tutti_error_message(), "out of memory") != NULL),
        "%d: %s", (int)status, tutti_error_message());
  return status == TUTTI_OK;
}

// Makes a group. Returns how often the rank `without` had too little memory for it.
static int make(tutti_group** group, int without) {
  for (int allocations = 0;; ++allocations) {
    CHECK(allocations < 3000, "%s", "no group is ever made");
    if (world_rank == without) allocations_left = allocations;
    const tutti_status status = tutti_group_of_comm(MPI_COMM_WORLD, group);
    allocations_left = -1;
    int own = status == TUTTI_OK, made = -1;
    MPI_Allreduce(&own, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(made == own * world_size, "%d allocations: made at %d of %d ranks", allocations, made,
          world_size);
    if (own) return allocations;
    const char* const why = world_rank == without ? "out of memory" : "could not make its group";
    CHECK(status == TUTTI_UNAVAILABLE && strstr(tutti_error_message(), why) != NULL, "%d: %s",
          (int)status, tutti_error_message());
  }
}

enum { most_ranks = 16, most_bytes = 1000, long_bytes = 150000 };

// Each rank puts and gets at the others. All threads of `without` have so many allocations until
// the others are done with it. Returns whether these were enough.
static int exchange(tutti_group* group, char** there, long allocations, int without) {
  static char sent[most_bytes], got[long_bytes];
  static _Atomic long done;  // the ranks that need nothing of this one any more
  static const long one = 1;
  const int limited = world_rank == without;
  void* flags[most_ranks];
  void* const own = (void*)&done;
  MPI_Allgather(&own, sizeof own, MPI_BYTE, flags, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  done = failures = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (limited) process_left = allocations;
  for (int target = 0; target < world_size; ++target) {
    if (target == world_rank || (!limited && target != without)) continue;
    memset(sent, (int)allocations, sizeof sent);
    char* const remote = there[target] + world_rank * most_bytes;
    const int was_put = ok_or_no_memory(tutti_put_strict(group, target, remote, sent, sizeof sent));
    memset(got, (int)allocations + 1, sizeof got);
    const int was_got =
        ok_or_no_memory(tutti_get_strict(group, target, got, there[target], sizeof got));
    CHECK(limited || (was_put && was_got), "put %d, got %d", was_put, was_got);
    if (was_put && was_got)
      CHECK(memcmp(got + world_rank * most_bytes, sent, sizeof sent) == 0, "rank %d", target);
  }
  if (!limited) {
    ok(tutti_put_strict(group, without, (char*)flags[without] + world_rank, &one, 1));
  }
  const long all = 0x0101010101010101 & ((1L << (8 * world_size)) - 1) & ~(0xffL << (8 * without));
  while (limited && done != all) {
    ok_or_no_memory(tutti_wait_all(group));
    sched_yield();
  }
  process_left = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  int enough = failures == 0;
  MPI_Bcast(&enough, 1, MPI_INT, without, MPI_COMM_WORLD);
  return enough;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int without = atoi(argv[1]);
  tutti_group* groups[2];
  const int failed = make(&groups[0], without);
  CHECK(failed > 30, "%d failures", failed);
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &groups[1]));
  // Both groups work, and servers too.
  char* const area = tutti_alloc(long_bytes);
  char *there[most_ranks], got[most_bytes], sent[most_bytes];
  MPI_Allgather(&area, sizeof area, MPI_BYTE, there, sizeof area, MPI_BYTE, MPI_COMM_WORLD);
  for (int target = 0; target < world_size; ++target)
    for (int nth = 0; nth < 2; ++nth) {
      char* const remote = there[target] + world_rank * most_bytes;
      memset(sent, 1 + world_rank + nth, sizeof sent);
      ok(tutti_put_strict(groups[nth], target, remote, sent, sizeof sent));
      ok(tutti_get_strict(groups[nth], target, got, remote, sizeof got));
      CHECK(memcmp(got, sent, sizeof got) == 0, "rank %d, group %d", target, nth);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  long allocations = 0;
  while (!exchange(groups[0], there, allocations, without)) {
    ++allocations;
    CHECK(allocations < 3000, "%s", "transfers never have enough memory");
  }
  CHECK(allocations > 5, "%ld allocations", allocations);
  for (int nth = 0; nth < 2; ++nth) tutti_group_free(groups[nth]);
  return finish();
}
