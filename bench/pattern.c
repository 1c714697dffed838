#include "pattern.h"

const char* const pattern_element_names[PATTERN_ELEMENTS] = {[PATTERN_DOUBLE] = "double",
                                                             [PATTERN_UINT32] = "uint32"};
const size_t pattern_element_bytes[PATTERN_ELEMENTS] = {[PATTERN_DOUBLE] = sizeof(double),
                                                        [PATTERN_UINT32] = sizeof(uint32_t)};

/* Twelve bits of an index and a number, mixed by odd multipliers: neighbours differ, and no shift
 * by a power of two maps the pattern onto itself. Two numbers in sequence differ at every index. */
static inline uint32_t mixed(uint32_t index, uint32_t number) {
  return ((index * 2654435761u) ^ ((number + 1) * 2246822519u)) >> 20;
}

double pattern_weight(int rank) { return 1.0 + (double)(((uint32_t)rank * 2654435761u) >> 22); }

double pattern_weight_sum(int ranks) {
  double sum = 0;
  for (int each = 0; each < ranks; ++each) sum += pattern_weight(each);
  return sum;
}

PatternPart pattern_part(size_t part, double factor) {
  return (PatternPart){factor, 4096.0 * (double)part * factor};
}

static inline double double_value(size_t index, uint32_t number, PatternPart part) {
  return (double)(int32_t)(mixed((uint32_t)index, number) + 1) * part.factor + part.raise;
}

static inline uint32_t remainder_of(double value) { return (uint32_t)(uint64_t)value; }

/* The value modulo 2^32, computed in whole numbers, because compilers vectorize these. */
static inline uint32_t uint32_value(size_t index, uint32_t number, uint32_t factor,
                                    uint32_t raise) {
  return (mixed((uint32_t)index, number) + 1) * factor + raise;
}

double pattern_value(size_t index, PatternElement element, uint32_t number, PatternPart part) {
  const double value = double_value(index, number, part);
  return element == PATTERN_DOUBLE ? value : (double)remainder_of(value);
}

double pattern_found(const void* buffer, PatternElement element, size_t index) {
  return element == PATTERN_DOUBLE ? ((const double*)buffer)[index]
                                   : (double)((const uint32_t*)buffer)[index];
}

void pattern_fill(void* buffer, PatternElement element, size_t count, uint32_t number,
                  PatternPart part) {
  if (element == PATTERN_DOUBLE) {
    double* const doubles = buffer;
    for (size_t i = 0; i < count; ++i) doubles[i] = double_value(i, number, part);
    return;
  }
  uint32_t* const integers = buffer;
  const uint32_t factor = remainder_of(part.factor), raise = remainder_of(part.raise);
  for (size_t i = 0; i < count; ++i) integers[i] = uint32_value(i, number, factor, raise);
}

/* True if any element from `first` to `end` - 1 is wrong. The loop has no branch, so that compilers
 * vectorize it. */
static unsigned any_wrong(const void* buffer, PatternElement element, size_t first, size_t end,
                          uint32_t number, PatternPart part) {
  unsigned wrong = 0;
  if (element == PATTERN_DOUBLE) {
    const double* const doubles = buffer;
    for (size_t i = first; i < end; ++i) wrong |= doubles[i] != double_value(i, number, part);
    return wrong;
  }
  const uint32_t* const integers = buffer;
  const uint32_t factor = remainder_of(part.factor), raise = remainder_of(part.raise);
  for (size_t i = first; i < end; ++i)
    wrong |= integers[i] != uint32_value(i, number, factor, raise);
  return wrong;
}

size_t pattern_first_wrong(const void* buffer, PatternElement element, size_t count,
                           uint32_t number, PatternPart part) {
  enum { block = 512 };
  for (size_t first = 0; first < count; first += block) {
    const size_t end = first + block < count ? first + block : count;
    if (!any_wrong(buffer, element, first, end, number, part)) continue;
    for (size_t i = first; i < end; ++i) {
      if (pattern_found(buffer, element, i) != pattern_value(i, element, number, part)) return i;
    }
  }
  return count;
}
