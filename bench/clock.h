/* The clock of the measuring programs: one count that all cores of a node share.
 *
 * If the processor has a time stamp counter that runs at one rate on all cores, the clock reads it,
 * which takes about 10 ns and no system call. Otherwise it is CLOCK_MONOTONIC, in nanoseconds. The
 * only state is this choice. It is made once, before any thread or process is started, and is the
 * same in all of them. */
#ifndef TUTTI_BENCH_CLOCK_H
#define TUTTI_BENCH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  bool counter; /* the time stamp counter, else CLOCK_MONOTONIC */
  double ticks_per_second;
} BenchClock;

/* Chooses the clock and, for the counter, measures its rate for about 20 ms. */
BenchClock bench_clock_open(void);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t bench_nanoseconds(void);

static inline uint64_t bench_now(const BenchClock* clock) {
#if defined(__x86_64__)
  if (clock->counter) {
    unsigned core;
    return __rdtscp(&core); /* waits for what came before it, which is what is being timed */
  }
#else
  (void)clock;
#endif
  return bench_nanoseconds();
}

static inline void bench_pause(void) {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#ifdef __cplusplus
}
#endif

#endif
