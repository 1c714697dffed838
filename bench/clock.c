#define _GNU_SOURCE
#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t bench_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
/* Both flags are needed: constant_tsc (the counter keeps its rate when the frequency changes) and
 * nonstop_tsc (it does not stop when a core sleeps). Some virtual machines hide the second and set
 * tsc_known_freq instead. */
static bool counter_serves(void) {
  FILE* file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return false;
  char line[8192];
  bool serves = false;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "flags", 5) != 0) continue;
    serves = strstr(line, " constant_tsc") != NULL && strstr(line, " rdtscp") != NULL &&
             (strstr(line, " nonstop_tsc") != NULL || strstr(line, " tsc_known_freq") != NULL);
    break;
  }
  fclose(file);
  return serves;
}

static double counter_rate(void) {
  BenchClock clock = {true, 0};
  const uint64_t began = bench_nanoseconds(), first = bench_now(&clock);
  uint64_t ended;
  do {
    ended = bench_nanoseconds();
  } while (ended - began < 20000000u);
  return (double)(bench_now(&clock) - first) * 1e9 / (double)(ended - began);
}
#endif

BenchClock bench_clock_open(void) {
#if defined(__x86_64__)
  if (counter_serves()) return (BenchClock){true, counter_rate()};
#endif
  return (BenchClock){false, 1e9};
}
