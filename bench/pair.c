#define _GNU_SOURCE
#include "pair.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first processing unit of the core that `unit` belongs to. (Units of one core share more than
 * two cores do, so a pair must not use them.) */
static int core_of(int unit) {
  char name[96];
  snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", unit);
  FILE* file = fopen(name, "r");
  int first = unit;
  if (file == NULL) return unit;
  if (fscanf(file, "%d", &first) != 1) first = unit;
  fclose(file);
  return first;
}

int pair_cores(int core[2]) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 0;
  int found = 0;
  for (int unit = 0; unit < CPU_SETSIZE && found < 2; ++unit) {
    if (!CPU_ISSET(unit, &usable) || (found == 1 && core_of(unit) == core_of(core[0]))) continue;
    core[found++] = unit;
  }
  if (found == 1) core[1] = core[0];
  return found;
}

PairShared* pair_shared(void) {
  void* memory =
      mmap(NULL, sizeof(PairShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void bind_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

bool pair_run(PairShared* shared, const BenchClock* clock, const int core[2], size_t bytes,
              PairBody body) {
  memset(shared, 0, sizeof *shared);
  pid_t child[2] = {-1, -1};
  bool good = true;
  for (int self = 0; self < 2; ++self) {
    child[self] = fork();
    if (child[self] < 0) good = false;
    if (child[self] != 0) continue;
    bind_to(core[self]);
    alarm(20); /* a measurement that hangs ends */
    shared->process[self] = getpid();
    Pair pair = {.shared = shared, .self = self, .clock = *clock, .bytes = bytes};
    body(&pair);
    _exit(0);
  }
  for (int self = 0; self < 2; ++self) {
    int status;
    if (child[self] > 0 && (waitpid(child[self], &status, 0) < 0 || status != 0)) good = false;
  }
  return good;
}

void pair_meet(Pair* pair) {
  PairShared* shared = pair->shared;
  const unsigned meeting = ++pair->meetings;
  if (atomic_fetch_add_explicit(&shared->arrived.value, 1, memory_order_acq_rel) + 1 ==
      2 * meeting) {
    shared->start = bench_now(&pair->clock) + (uint64_t)(0.8e-6 * pair->clock.ticks_per_second);
    atomic_store_explicit(&shared->released.value, meeting, memory_order_release);
  }
  for (unsigned polls = 0;
       atomic_load_explicit(&shared->released.value, memory_order_acquire) != meeting; ++polls) {
    if (polls < 1000)
      bench_pause();
    else
      sched_yield(); /* they may have to share a core */
  }
  while (bench_now(&pair->clock) < shared->start) continue;
}
