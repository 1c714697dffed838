// Folds: all elements of a vector become one.
//
// One source (fold.inc.h) is compiled once for each instruction set, like the kernels of kernels.h,
// and the same choice (TUTTI_ISA) decides which is used. Folds are pure functions of their
// arguments: any thread may call them, and they allocate nothing.
//
// The order of combination is the same on every machine and with every instruction set. It depends
// on nothing but the number of elements. With L = fold_lanes(type), lane j takes the elements j,
// j + L, j + 2L, ... from the left. Then, for h = L / 2, L / 4, ..., 1, each lane j < h takes lane
// j + h from the right, if that lane has elements. So results have the same bits everywhere: of
// integers those of any other order, of floating-point numbers those of this order. A result that
// is a NaN has the bits of the plain quiet NaN.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace tutti::kernels {

// *dst = in[0] op in[1] op ... op in[count - 1], in the order above. If count is 0, *dst is the
// neutral element: 0 of a sum (-0.0 of floating-point numbers, which changes no other number), 1 of
// a product, the lowest number for max and the highest for min (infinities of floating-point
// numbers), all ones for band, 1 for land, 0 for the other logical and bitwise operations. Logical
// results are 0 and 1, those of a single element too. No alignment is needed; dst may be any
// element of `in`. Padding in dst is not changed.
using Fold = void (*)(void* dst, const void* in, size_t count);

// The fold for an operation on a type: integers, floating-point and complex numbers of the numeric
// types of C, where find_reduce has a kernel. nullptr for anything else.
Fold find_fold(Type type, Op op);

// L above: as many elements as are in 256 bytes, but 4 of long double and 2 of its complex numbers.
// 0 if the type has no folds.
size_t fold_lanes(Type type);

}  // namespace tutti::kernels
