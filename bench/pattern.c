#include "pattern.h"

/* Twelve bits of an index and a number, mixed by odd multipliers: neighbours differ, and no shift by a power of two
 * maps the pattern onto itself. */
static inline uint32_t mixed(uint32_t index, uint32_t number) {
  return ((index * 2654435761u) ^ ((number + 1) * 2246822519u)) >> 20;
}

static double weight(int rank) { return 1.0 + (double)(((uint32_t)rank * 2654435761u) >> 22); }

double pattern_factor(int rank, int ranks) {
  if (rank != PATTERN_SUM) return weight(rank);
  double sum = 0;
  for (int each = 0; each < ranks; ++each) sum += weight(each);
  return sum;
}

double pattern_value(size_t index, uint32_t number, double factor) {
  return (double)(int32_t)(mixed((uint32_t)index, number) + 1) * factor;
}

void pattern_fill(double* buffer, size_t count, uint32_t number, int rank) {
  const double factor = weight(rank);
  for (size_t i = 0; i < count; ++i) buffer[i] = pattern_value(i, number, factor);
}

size_t pattern_first_wrong(const double* buffer, size_t count, uint32_t number, double factor) {
  /* A block at a time without a branch inside, which the compiler can then vectorise. */
  enum { block = 512 };
  for (size_t first = 0; first < count; first += block) {
    const size_t end = first + block < count ? first + block : count;
    unsigned wrong = 0;
    for (size_t i = first; i < end; ++i) wrong |= buffer[i] != pattern_value(i, number, factor);
    if (!wrong) continue;
    for (size_t i = first; i < end; ++i) {
      if (buffer[i] != pattern_value(i, number, factor)) return i;
    }
  }
  return count;
}
