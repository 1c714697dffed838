#include "process_costs.h"

#include "../pair_bodies.h"

static void read_by_system(Pair* pair) { pair_fetch(pair, NULL, cma_of_others); }

static double result_of(const int cores[2], size_t bytes, PairBody body) {
  static PairShared* shared;
  static BenchClock clock;
  if (shared == NULL) {
    shared = pair_shared();
    clock = bench_clock_open();
  }
  return shared != NULL && pair_run(shared, &clock, cores, bytes, body) ? shared->result[0] : -1;
}

double process_yield(int core) {
  const int cores[2] = {core, core};
  return result_of(cores, 0, pair_yield_hand_over);
}

double process_system_copy(int core, int other, size_t bytes) {
  const int cores[2] = {core, other};
  return result_of(cores, bytes, read_by_system);
}
