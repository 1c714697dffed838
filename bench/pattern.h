/* The ranks' input and the required results of collectives.
 *
 * An element is (count + 4096 * part) * factor. The count is from 1 to 4096 and depends on the
 * element's index and the operation's number. The number of the part makes every element wrong if a
 * part is in another's place. In reductions each rank has its own factor, so that a result that
 * lacks a rank or has it twice is wrong. Elements left over from the operation before are all wrong
 * too. All values are whole numbers below 2^46 for up to 4096 ranks, so their sums are exact in a
 * double in any order. Unsigned integers of 32 bits hold the values modulo 2^32, whose sums are
 * exact as well. All functions are pure. */
#ifndef TUTTI_BENCH_PATTERN_H
#define TUTTI_BENCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

typedef enum { PATTERN_DOUBLE, PATTERN_UINT32, PATTERN_ELEMENTS } PatternElement;
extern const char* const pattern_element_names[PATTERN_ELEMENTS];
extern const size_t pattern_element_bytes[PATTERN_ELEMENTS];

typedef struct {
  double factor; /* 1 for what is only moved; a rank's weight, or the sum of several, for what is
                    reduced */
  double raise;  /* 4096 x the part's number x factor */
} PatternPart;
PatternPart pattern_part(size_t part, double factor);

/* A rank's factor, from 1 to 1024, and the sum of the factors of ranks 0 to `ranks` - 1. */
double pattern_weight(int rank);
double pattern_weight_sum(int ranks);

void pattern_fill(void* buffer, PatternElement element, size_t count, uint32_t number,
                  PatternPart part);

/* The required value of an element, and its actual value. */
double pattern_value(size_t index, PatternElement element, uint32_t number, PatternPart part);
double pattern_found(const void* buffer, PatternElement element, size_t index);

/* The first index at which `buffer` has another value; `count` if there is none. */
size_t pattern_first_wrong(const void* buffer, PatternElement element, size_t count,
                           uint32_t number, PatternPart part);

#endif
