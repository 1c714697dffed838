// What the kernels' tests compare with: every operation on one element, written as plainly as it
// can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "kernels/kernels.h"

namespace tutti::kernels {

// Whether MPI 5.0, section 6.9.2 and 6.9.4, defines the operation on the type.
bool is_defined(Type type, Op op);

// *dst = *a op *b for one element. Leaves dst's padding as it is.
void reduce_one(Type type, Op op, void* dst, const void* a, const void* b);

// An element that makes trouble often: NaNs of both signs and several payloads, zeros and
// infinities of both signs, the smallest and largest numbers, equal values, truth values other than
// one.
void fill_one(Type type, void* element, std::mt19937_64& random);

// sizeof the C type.
size_t size_of(Type type);

}  // namespace tutti::kernels
