// Another UCX than the host's in one process: as an interpreter does, the program loads one
// extension that uses MPI, and one that brings a UCX of its own, each into a scope of its own.
// Compiled four times, with UCX, OWNER, USER or PROGRAM defined. second_ucx OWNER USER
#if defined(UCX) || defined(OWNER)
signed char ucp_worker_create(void* context, const void* parameters, void** worker);
unsigned ucp_worker_progress(void* worker);
void ucp_worker_destroy(void* worker);
#endif

#if defined(UCX)
static int workers;

signed char ucp_worker_create(void* context, const void* parameters, void** worker) {
  (void)context, (void)parameters;
  *worker = &workers;
  ++workers;
  return 0;
}
unsigned ucp_worker_progress(void* worker) {
  return worker == &workers ? 40 + (unsigned)workers : 0;
}
void ucp_worker_destroy(void* worker) { workers -= worker == &workers; }

#elif defined(OWNER)
int create_by_own(void** worker) { return ucp_worker_create(0, 0, worker); }
unsigned poll_by_own(void* worker) { return ucp_worker_progress(worker); }
void destroy_by_own(void* worker) { ucp_worker_destroy(worker); }

#elif defined(USER)
#include "check.h"

int use_mpi(int (*create)(void**), unsigned (*poll)(void*), void (*destroy)(void*)) {
  void* worker;
  CHECK(create(&worker) == 0 && poll(worker) == 41, "before MPI_Init");
  start(NULL, NULL);
  for (int round = 0; round < 100; ++round) {
    int sum = 0;
    const int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
    MPI_Sendrecv(&round, 1, MPI_INT, to, 0, &sum, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(sum == round && poll(worker) == 41, "round %d", round);
  }
  destroy(worker);
  CHECK(create(&worker) == 0 && poll(worker) == 41, "anew");
  destroy(worker);
  MPI_Finalize();
  if (world_rank == 0) puts("ok");
  return 0;
}

#else
#include <dlfcn.h>
#include <stdio.h>

static void* find(void* library, const char* name) {
  void* const found = library == NULL ? NULL : dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  return found;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void* const owner = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* const create = find(owner, "create_by_own");
  void* const poll = find(owner, "poll_by_own");
  void* const destroy = find(owner, "destroy_by_own");
  int (*const use)(void*, void*, void*) =
      (int (*)(void*, void*, void*))find(dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), "use_mpi");
  return create == NULL || poll == NULL || destroy == NULL || use == NULL
             ? 2
             : use(create, poll, destroy);
}
#endif
