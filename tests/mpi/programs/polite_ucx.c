// A library to preload into programs that run without Tutti: polls of UCX's messages that find
// nothing yield, because Debian's MPICH never does. If ranks outnumber cores, each of its
// collectives would take as long as the kernel lets a rank poll.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (next == NULL) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned progress = next(worker);
  if (progress == 0) sched_yield();
  return progress;
}
