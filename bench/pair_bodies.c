#define _GNU_SOURCE
#include "pair_bodies.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

double pair_seconds(const Pair* pair, uint64_t ticks) {
  return (double)ticks / pair->clock.ticks_per_second;
}

static int ascending(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

double pair_median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

char* pair_touched(size_t bytes, int value) {
  void* memory;
  if (posix_memalign(&memory, 4096, bytes) != 0) exit(1);
  memset(memory, value, bytes);
  return memory;
}

/* The least of several batches, because other programs get the core, too. */
void pair_yield_hand_over(Pair* pair) {
  enum { batches = 40, rounds = 100 };
  atomic_uint* turn = &pair->shared->line[0].value;
  pair_meet(pair);
  double least = HUGE_VAL;
  for (int batch = 0; batch < batches; ++batch) {
    const uint64_t began = bench_now(&pair->clock);
    for (unsigned i = 0; i < rounds; ++i) {
      while (atomic_load_explicit(turn, memory_order_acquire) % 2 != (unsigned)pair->self)
        sched_yield();
      atomic_store_explicit(turn, atomic_load_explicit(turn, memory_order_acquire) + 1,
                            memory_order_release);
    }
    const double seconds = pair_seconds(pair, bench_now(&pair->clock) - began);
    if (seconds < least) least = seconds;
  }
  pair->shared->result[pair->self] = least / (2 * rounds);
}

static void add(double* restrict sum, const double* one, const double* other, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] = one[i] + other[i];
}

static bool fetch(Pair* pair, char* destination, char* own, char* shared, PairFetch how) {
  if (how == copy_of_others) return memcpy(destination, shared, pair->bytes), true;
  if (how == copy_of_own) return memcpy(destination, own, pair->bytes), true;
  if (how == sum_with_others) {
    add((double*)destination, (const double*)own, (const double*)shared,
        pair->bytes / sizeof(double));
    return true;
  }
  struct iovec local = {destination, pair->bytes}, remote = {pair->shared->address[1], pair->bytes};
  return process_vm_readv(pair->shared->process[1], &local, 1, &remote, 1, 0) ==
         (ssize_t)pair->bytes;
}

void pair_fetch(Pair* pair, char* shared, PairFetch how) {
  enum { most = 501 };
  static double taken[most];
  char *own = pair_touched(pair->bytes, 1), *destination = pair_touched(pair->bytes, 2);
  pair->shared->address[pair->self] = own;
  int rounds = most;
  if (pair->bytes > 262144) rounds = 31;
  if (pair->bytes > 4194304) rounds = 7;
  for (int i = 0; i < rounds; ++i) {
    memset(pair->self == 1 && how != cma_of_others ? shared : own, i, pair->bytes);
    pair_meet(pair);
    const uint64_t began = bench_now(&pair->clock);
    if (pair->self == 0 && !fetch(pair, destination, own, shared, how)) {
      pair->shared->error = errno;
      taken[i] = -1;
    } else {
      taken[i] = pair_seconds(pair, bench_now(&pair->clock) - began);
    }
    __asm__ volatile("" ::"r"(destination) : "memory");
    pair_meet(pair);
  }
  pair->shared->result[pair->self] = pair->shared->error ? -1 : pair_median(taken, rounds);
}
