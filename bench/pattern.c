#include "pattern.h"

/* Twelve bits of an index and a number, mixed by odd multipliers: neighbours differ, and no shift by a power of two
 * maps the pattern onto itself. Two numbers in sequence differ at every index. */
static inline uint32_t mixed(uint32_t index, uint32_t number) {
  return ((index * 2654435761u) ^ ((number + 1) * 2246822519u)) >> 20;
}

double pattern_weight(int rank) { return 1.0 + (double)(((uint32_t)rank * 2654435761u) >> 22); }

double pattern_weight_sum(int ranks) {
  double sum = 0;
  for (int each = 0; each < ranks; ++each) sum += pattern_weight(each);
  return sum;
}

PatternPart pattern_part(size_t part, double factor) { return (PatternPart){factor, 4096.0 * (double)part * factor}; }

double pattern_value(size_t index, uint32_t number, PatternPart part) {
  return (double)(int32_t)(mixed((uint32_t)index, number) + 1) * part.factor + part.raise;
}

void pattern_fill(double* buffer, size_t count, uint32_t number, PatternPart part) {
  for (size_t i = 0; i < count; ++i) buffer[i] = pattern_value(i, number, part);
}

size_t pattern_first_wrong(const double* buffer, size_t count, uint32_t number, PatternPart part) {
  /* A block at a time without a branch inside, which the compiler can then vectorise. */
  enum { block = 512 };
  for (size_t first = 0; first < count; first += block) {
    const size_t end = first + block < count ? first + block : count;
    unsigned wrong = 0;
    for (size_t i = first; i < end; ++i) wrong |= buffer[i] != pattern_value(i, number, part);
    if (!wrong) continue;
    for (size_t i = first; i < end; ++i) {
      if (buffer[i] != pattern_value(i, number, part)) return i;
    }
  }
  return count;
}
