/* What the ranks put into their buffers and what a collective must make of it.
 *
 * An element is a count of up to 4096 that depends on its index and on the operation's running
 * number, raised by 4096 for each part before its own, times a factor. Parts have numbers, so that
 * one in another's place is wrong in every element; what is reduced has a factor for each rank, so
 * that a result that lacks or doubles a rank is wrong; and what an operation leaves of the one
 * before it is wrong in every element too. All values are whole numbers below 2^46 for up to 4096
 * ranks, whose sums are exact in a double in any order; an unsigned integer of 32 bits holds their
 * remainder by 2^32, whose sums are exact as well. Pure functions. */
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

/* A rank's factor, from 1 to 1024, and the sum of those of ranks 0 to `ranks` - 1. */
double pattern_weight(int rank);
double pattern_weight_sum(int ranks);

void pattern_fill(void* buffer, PatternElement element, size_t count, uint32_t number,
                  PatternPart part);

/* What an element must be, and what it is. */
double pattern_value(size_t index, PatternElement element, uint32_t number, PatternPart part);
double pattern_found(const void* buffer, PatternElement element, size_t index);

/* The first index at which `buffer` does not hold that, or `count`. */
size_t pattern_first_wrong(const void* buffer, PatternElement element, size_t count,
                           uint32_t number, PatternPart part);

#endif
