// Copy and reduce: the only code that touches the payload of a collective.
//
// One source (reduce.inc.h, copy.inc.h) is compiled once for each instruction set. When the library
// is loaded it chooses the best one that this processor can run (TUTTI_ISA overrides this, for
// tests). Results have the same bits on all of them, including NaNs and the signs of zeros. Kernels
// are pure functions of their arguments: any thread may call them, and they allocate nothing. A
// release store publishes all that they have written: they use plain stores, or fence other stores.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::kernels {

// Element types by representation; the room mpi maps handles (MPI_INT, MPI_INTEGER, ...) onto them.
enum class Type : uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float80,  // C float, double, long double
  complex64,
  complex128,
  complex160,  // two of the above; named by their bits
  bool8,       // C _Bool and C++ bool: logical operations only
  logical8,
  logical16,
  logical32,
  logical64,  // Fortran LOGICAL of 1, 2, 4, 8 bytes: logical operations only
  byte,       // MPI_BYTE: bitwise operations only
  // value-index pairs, laid out as the C structs { value; int index; } and the Fortran pairs
  float32_int,
  float64_int,
  int64_int,
  int32_int,
  int16_int,
  float80_int,
  float32_float32,
  float64_float64,
  count_
};

enum class Op : uint8_t {
  sum,
  prod,
  max,
  min,
  land,
  lor,
  lxor,
  band,
  bor,
  bxor,
  maxloc,
  minloc,
  count_
};

// dst[i] = a[i] op b[i] for i in [0, count). dst may be the same address as a or b, but no other
// overlap is allowed. No alignment is needed. One double takes some 10 instructions. Integers wrap.
// Logical results are 0 and 1. max and min give b if the values are equal (zeros of two signs) and
// if either is a NaN. If both are NaNs, sum and prod give a. Complex products are Fortran's, not
// C's: infinities that become NaNs stay NaNs. Padding in dst is not changed.
using Reduce = void (*)(void* dst, const void* a, const void* b, size_t count);

// dst[i] = (sources[0][i] op sources[1][i] op ... ) / divisor, from the left. Elements of 16 bits
// are combined and divided in float and rounded once. A divisor of 1 changes nothing. dst may be
// any of the sources. No alignment is needed.
using ReduceAll = void (*)(void* dst, const void* const* sources, int count, size_t elements,
                           double divisor);

// The types that are reduced from all sources at once.
enum class WholeType : uint8_t { bfloat16, float16, float32, float64, count_ };

// The kernel for sum, prod, max or min; nullptr for another operation.
ReduceAll find_reduce_all(WholeType type, Op op);
size_t size(WholeType type);

// Bytes of one element (its extent: pairs have C padding).
size_t size(Type type);

// The kernel for an operation on a type; nullptr if MPI does not define the operation (MPI 5.0,
// section 6.9.2) or no kernel exists (the caller then uses MPI_Reduce_local).
Reduce find_reduce(Type type, Op op);

// The name of the instruction set in use: "avx512", "avx2", "baseline".
const char* isa();

// Copies with stores that bypass the cache, for data that another core, not this one, will read. No
// alignment is needed. It is faster where writing lines that another core has read is slow
// (exec/slot_stores.h). The regions are disjoint.
void copy_through(void* dst, const void* src, size_t bytes);

// Copies data that another core has written and that may have left its cache. No alignment is
// needed; the regions are disjoint.
void copy_from_other(void* dst, const void* src, size_t bytes);

// The part of copy for more than 48 bytes; call copy instead.
void copy_long(void* dst, const void* src, size_t bytes);

// Copies data that another core will read soon, with plain stores, so that it stays in cache. The
// regions are the same or disjoint. Up to 48 bytes (the payload of a line) it is inline and
// branches on the size only, some 10 instructions: all loads come before the first store, and a
// pair of loads that may overlap serves a range of sizes.
[[gnu::always_inline]] inline void copy(void* dst, const void* src, size_t bytes) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  const auto move_ends = [&]<class Piece>(Piece first, Piece last) __attribute__((always_inline)) {
    __builtin_memcpy(&first, from, sizeof(Piece));
    __builtin_memcpy(&last, from + bytes - sizeof(Piece), sizeof(Piece));
    __builtin_memcpy(to, &first, sizeof(Piece));
    __builtin_memcpy(to + bytes - sizeof(Piece), &last, sizeof(Piece));
  };
  struct Sixteen {
    uint64_t half[2];
  };
  if (bytes == 8) {  // one double: the most frequent by far
    __builtin_memcpy(to, from, 8);
  } else if (bytes > 48) {
    copy_long(dst, src, bytes);
  } else if (bytes > 32) {
    Sixteen middle;
    __builtin_memcpy(&middle, from + 16, 16);
    move_ends(Sixteen{}, Sixteen{});
    __builtin_memcpy(to + 16, &middle, 16);
  } else if (bytes >= 16) {
    move_ends(Sixteen{}, Sixteen{});
  } else if (bytes > 8) {
    move_ends(uint64_t{}, uint64_t{});
  } else if (bytes >= 4) {
    move_ends(uint32_t{}, uint32_t{});
  } else if (bytes >= 2) {
    move_ends(uint16_t{}, uint16_t{});
  } else if (bytes == 1) {
    *to = *from;
  }
}

}  // namespace tutti::kernels
