// Memory runs out at one rank while ranks of several nodes make a group for one-sided transfers:
// each allocation of that rank's call fails in turn. The call then fails at all ranks, and none
// waits for ever. Argument: the rank.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"
#include "tutti/mpi.h"

void* __libc_malloc(size_t);
void* __libc_memalign(size_t, size_t);

static __thread long allocations_left = -1;  // the thread's in Tutti; negative: none fails

static int may_allocate(const void* caller) {
  Dl_info info;
  if (allocations_left < 0 || dladdr(caller, &info) == 0 || info.dli_fname == NULL ||
      strstr(info.dli_fname, "libtutti-") == NULL)
    return 1;
  return allocations_left > 0 ? allocations_left--, 1 : 0;
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

int main(int argc, char** argv) {
  enum { most_ranks = 16, most_bytes = 1000 };
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int without = atoi(argv[1]);
  tutti_group* groups[2];
  const int failed = make(&groups[0], without);
  CHECK(failed > 30, "%d failures", failed);
  ok(tutti_group_of_comm(MPI_COMM_WORLD, &groups[1]));
  // Both groups work, and servers too.
  char* const area = tutti_alloc(most_ranks * most_bytes);
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
  for (int nth = 0; nth < 2; ++nth) tutti_group_free(groups[nth]);
  return finish();
}
