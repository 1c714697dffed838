// A library to preload behind Tutti: it counts the polls of UCX's messages, and prints the sum when
// the process ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static unsigned long polls;

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (next == NULL) next = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
  ++polls;
  return next(worker);
}

__attribute__((destructor)) static void print(void) {
  if (polls > 0) fprintf(stderr, "polls of UCX: %lu\n", polls);
}
