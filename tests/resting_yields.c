/* A library for LD_PRELOAD: every 128th sched_yield of a thread sleeps shortly.
 *
 * On Linux 6.18 and 6.19, two threads that do nothing but yield can keep both cores for tens of
 * seconds, while runnable threads of every session get none: the kernel's fair scheduler loses
 * count of the time that such threads have had ("sched/fair: Fix zero_vruntime tracking", and the
 * fix of that fix, of early 2026). Host MPIs wait in this way if ranks outnumber cores. A sleep,
 * however short, takes a thread off the run queue, and the kernel counts right again. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sched_yield(void) {
  enum { yields_before_rest = 128 };
  static _Thread_local unsigned yields;
  if (++yields % yields_before_rest != 0) return (int)syscall(SYS_sched_yield);
  const struct timespec shortly = {.tv_sec = 0, .tv_nsec = 1000};
  nanosleep(&shortly, NULL);
  return 0;
}
