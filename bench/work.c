#define _GNU_SOURCE
#include "work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char* const work_loop_names[WORK_LOOPS] = {
    [WORK_NONE] = "none", [WORK_ARITHMETIC] = "arithmetic", [WORK_MEMORY] = "memory"};

/* 32 MiB, more than a core's own caches hold. */
enum { line_doubles = 8, array_doubles = 32 << 17 };

/* NULL without memory. */
static void* zeroed(size_t bytes) {
  void* memory;
  return posix_memalign(&memory, 4096, bytes) == 0 ? memset(memory, 0, bytes) : NULL;
}

bool work_open(Work* work) {
  *work =
      (Work){.numbers = {1, 2, 3, 4, 5, 6, 7, 8}, .array = zeroed(array_doubles * sizeof(double))};
  return work->array != NULL;
}

void work_close(Work* work) { free(work->array); }

/* A turn is eight multiplications and additions, each of which needs the result of the last turn.
 * The numbers stay near 1. */
static void compute(Work* work, uint64_t turns) {
  double numbers[8];
  memcpy(numbers, work->numbers, sizeof numbers);
  for (uint64_t turn = 0; turn < turns; ++turn)
    for (int i = 0; i < 8; ++i) numbers[i] = numbers[i] * 0.5 + 0.5;
  memcpy(work->numbers, numbers, sizeof numbers);
  __asm__ volatile("" ::"r"(work->numbers)
                   : "memory"); /* else the compiler could remove the loop */
}

/* A turn reads and writes one cache line. */
static void stream(Work* work, uint64_t turns) {
  for (uint64_t turn = 0; turn < turns; ++turn) {
    double* const line = work->array + work->next;
    for (int i = 0; i < line_doubles; ++i) line[i] += 1;
    work->next = (work->next + line_doubles) % array_doubles;
  }
  __asm__ volatile("" ::"r"(work->array) : "memory");
}

/* For how long this thread has had a core. */
static uint64_t nanoseconds_of_thread(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void work_run(Work* work, WorkLoop loop, uint64_t turns, const BenchClock* clock) {
  const uint64_t began = bench_nanoseconds(), had = nanoseconds_of_thread();
  if (loop == WORK_ARITHMETIC) compute(work, turns);
  if (loop == WORK_MEMORY) stream(work, turns);
  const uint64_t own = nanoseconds_of_thread() - had, passed = bench_nanoseconds() - began;
  work->met = (WorkMet){.others = passed > own ? passed - own : 0, .ended = bench_now(clock)};
}

void work_beside(Work* work, const Computation* beside, const BenchClock* clock) {
  if (beside->loop != WORK_NONE) work_run(work, beside->loop, beside->turns, clock);
}

void work_measure(Work* work, WorkLoop loop, const BenchClock* clock) {
  enum { batches = 41, turns = 5000 };
  uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < batches; ++batch) {
    const uint64_t began = bench_now(clock);
    work_run(work, loop, turns, clock);
    const uint64_t ticks = bench_now(clock) - began;
    if (ticks < least) least = ticks; /* whatever disturbs a batch lengthens it */
  }
  work->turns_each_tick[loop] = (double)turns / (double)(least > 0 ? least : 1);
}

uint64_t work_turns(const Work* work, WorkLoop loop, double microseconds, const BenchClock* clock) {
  const double ticks = microseconds * 1e-6 * clock->ticks_per_second;
  return (uint64_t)(ticks * work->turns_each_tick[loop] + 0.5);
}

bool stream_open(Stream* stream, size_t bytes) {
  *stream = (Stream){.count = bytes / sizeof(uint64_t)};
  if (bytes > 0) stream->words = zeroed(bytes);
  return bytes == 0 || stream->words != NULL;
}

void stream_close(Stream* stream) { free(stream->words); }

void stream_over(const Stream* stream) {
  for (size_t i = 0; i < stream->count; ++i) ++stream->words[i];
  __asm__ volatile("" ::"r"(stream->words)
                   : "memory"); /* else the compiler could remove the loop */
}
