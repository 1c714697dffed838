#include "order.h"

/* SplitMix64 (Steele, Lea, Flood 2014), which is equally good for all seeds. */
static uint64_t next(uint64_t* state) {
  uint64_t value = *state += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* The upper half times the bound, shifted, instead of a remainder; its bias is 2^-32 of the
 * bound. */
static int below(uint64_t* state, int bound) {
  return (int)(((next(state) >> 32) * (uint64_t)bound) >> 32);
}

void bench_order(int* order, int kinds, int rounds, uint64_t seed) {
  uint64_t state = seed;
  for (int round = 0; round < rounds; ++round, order += kinds) {
    for (int kind = 0; kind < kinds; ++kind) {
      const int place = below(&state, kind + 1);
      order[kind] = order[place];
      order[place] = kind;
    }
  }
}
