// Copy and reduce: the only code that touches the payload of a collective.
//
// One source (reduce.inc.h, copy.inc.h) is compiled once for each instruction set; the best one
// that this processor runs is chosen when the library is loaded (TUTTI_ISA overrides, for tests).
// Results are the same bits on all of them, NaNs and signs of zeros included. Kernels are pure
// functions of their arguments, thread-safe and allocate nothing. A release store publishes what
// they wrote: they use plain stores, or fence those that are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::kernels {

// Element types by representation; the MPI face maps handles (MPI_INT, MPI_INTEGER, ...) onto them.
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

// dst[i] = a[i] op b[i] for i in [0, count). dst may be a or b themselves (same address), never a
// shifted overlap. Any alignment will do. One double takes some 10 instructions. Integers wrap.
// Logical results are 0 and 1. Of equal values max and min give b's (zeros of two signs), and b
// also where either is a NaN; of two NaNs sum and prod keep a's. Complex products are Fortran's,
// not C's: infinities that become NaNs stay NaNs. Padding in dst stays as it is.
using Reduce = void (*)(void* dst, const void* a, const void* b, size_t count);

// Bytes of one element (its extent: pairs have C padding).
size_t size(Type type);

// The kernel for an operation on a type, or nullptr where MPI does not define it (MPI 5.0,
// section 6.9.2) or where the representation has no kernel (the caller then uses MPI_Reduce_local).
Reduce find_reduce(Type type, Op op);

// The name of the instruction set in use: "avx512", "avx2", "baseline".
const char* isa();

// Copies with stores that go past the cache, for data that another core, not this one, will read.
// Any alignment will do. It pays where writing lines that another core has read is slow
// (exec/slot_stores.h).
void copy_through(void* dst, const void* src, size_t bytes);

// Copies what another core has written and its cache may hold no more. Any alignment will do; the
// regions are disjoint.
void copy_from_other(void* dst, const void* src, size_t bytes);

// Copies of more than 48 bytes; call copy.
void copy_long(void* dst, const void* src, size_t bytes);

// Copies what another core will read soon: plain stores, so that the data stays in cache. The
// regions are the same or disjoint. Up to 48 bytes (what a line holds) it is inline and branches by
// size alone, some 10 instructions: every load comes before the first store, and two overlapping
// loads serve all sizes between them.
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
