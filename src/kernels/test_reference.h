// The reference that the kernels' tests compare with: every operation on one element, written as
// plainly as possible. Pure functions, for any thread (each with its own `random`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "kernels/kernels.h"

namespace tutti::kernels {

// True if MPI 5.0, sections 6.9.2 and 6.9.4, defines the operation on the type.
bool is_defined(Type type, Op op);

// *dst = *a op *b for one element. Does not change the padding of dst.
void reduce_one(Type type, Op op, void* dst, const void* a, const void* b);

// Writes a random element, often a special case: NaNs of both signs and several payloads, zeros and
// infinities of both signs, the smallest and largest numbers, equal values, truth values other than
// one.
void fill_one(Type type, void* element, std::mt19937_64& random);

// sizeof the C type.
size_t size_of(Type type);

}  // namespace tutti::kernels
