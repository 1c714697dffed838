/* The test of addresses for allocatable.f90. */
#include "heap.h"

int lies_in_heap(const void* address) { return in_heap(address); }
