#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "multigrid_transfers.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tutti/mpi.h"

static struct {
  tutti_status (*group_of_communicator)(uint64_t, tutti_group**);
  void (*group_free)(tutti_group*);
  void* (*alloc)(size_t);
  void (*free)(void*);
  tutti_status (*get)(tutti_group*, int, void*, const void*, size_t, tutti_handle*);
  tutti_status (*put_signal)(tutti_group*, int, void*, const void*, size_t, uint64_t*,
                             tutti_handle*);
  tutti_status (*signal_wait)(tutti_group*, const uint64_t*, uint64_t);
  tutti_status (*wait)(tutti_group*, tutti_handle*);
  tutti_status (*test)(tutti_group*, tutti_handle*, int*);
  const char* (*error_message)(void);
} tutti;

static int find(void* function, const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &address, sizeof address); /* C has no cast from one to the other */
  return address != NULL;
}

const char* transfers_begin(MPI_Comm over, tutti_group** group) {
  if (!find(&tutti.group_of_communicator, "tutti_group_of_communicator") ||
      !find(&tutti.group_free, "tutti_group_free") || !find(&tutti.alloc, "tutti_alloc") ||
      !find(&tutti.free, "tutti_free") || !find(&tutti.get, "tutti_get") ||
      !find(&tutti.put_signal, "tutti_put_signal") ||
      !find(&tutti.signal_wait, "tutti_signal_wait") || !find(&tutti.wait, "tutti_wait") ||
      !find(&tutti.test, "tutti_test") || !find(&tutti.error_message, "tutti_error_message"))
    return "--exchange tutti_get and tutti_put need Tutti; start the job under tutti-run";
  const tutti_status made = tutti.group_of_communicator((uint64_t)(uintptr_t)over, group);
  return made == TUTTI_OK ? NULL : tutti.error_message();
}

void transfers_end(tutti_group* group) { tutti.group_free(group); }

static void stop(const char* why) {
  fprintf(stderr, "multigrid: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void* transfers_alloc(size_t bytes) {
  void* const memory = tutti.alloc(bytes);
  if (memory == NULL) stop(tutti.error_message());
  return memory;
}

void transfers_free(void* memory) { tutti.free(memory); }

void transfers_get(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                   tutti_handle* get) {
  if (tutti.get(group, target, to, from, bytes, get) != TUTTI_OK) stop(tutti.error_message());
}

void transfers_put(tutti_group* group, int target, void* to, const void* from, size_t bytes,
                   uint64_t* signal, tutti_handle* put) {
  if (tutti.put_signal(group, target, to, from, bytes, signal, put) != TUTTI_OK)
    stop(tutti.error_message());
}

void transfers_await(tutti_group* group, const uint64_t* signal, uint64_t bytes) {
  if (tutti.signal_wait(group, signal, bytes) != TUTTI_OK) stop(tutti.error_message());
}

void transfers_complete(tutti_group* group, tutti_handle* transfer) {
  if (tutti.wait(group, transfer) != TUTTI_OK) stop(tutti.error_message());
}

void transfers_answer(tutti_group* group) {
  tutti_handle of_none = {{0, 0}};
  int done;
  if (tutti.test(group, &of_none, &done) != TUTTI_OK) stop(tutti.error_message());
  sched_yield();
}

void transfers_wait(tutti_group* group, MPI_Request* request) {
  for (int done = 0; !done; MPI_Test(request, &done, MPI_STATUS_IGNORE)) transfers_answer(group);
}
