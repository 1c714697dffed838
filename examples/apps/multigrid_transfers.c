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
  tutti_status (*wait_all)(tutti_group*);
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
      !find(&tutti.wait_all, "tutti_wait_all") ||
      !find(&tutti.error_message, "tutti_error_message"))
    return "--exchange tutti_get needs Tutti; start the job under tutti-run";
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

void transfers_get(tutti_group* group, int target, void* to, const void* from, size_t bytes) {
  if (tutti.get(group, target, to, from, bytes, NULL) != TUTTI_OK) stop(tutti.error_message());
}

void transfers_complete(tutti_group* group) {
  if (tutti.wait_all(group) != TUTTI_OK) stop(tutti.error_message());
}

void transfers_wait(tutti_group* group, int count, MPI_Request* messages) {
  int done = 0;
  for (;;) {
    MPI_Testall(count, messages, &done, MPI_STATUSES_IGNORE);
    if (done) return;
    transfers_complete(group);
    sched_yield(); /* to whoever sends the messages, if cores are shared */
  }
}
