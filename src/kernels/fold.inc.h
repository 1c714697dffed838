// The folds (fold.h): one source for all instruction sets.
//
// Each isa_folds_*.cpp includes this file and is compiled with its own flags. The lanes of a row
// are held in vectors of the instruction set's width, as many as make a row; so the width changes
// no result. Enough vectors are combined independently that none waits for the one before.
// Everything has internal linkage (operations.inc.h says why). Pure functions, for any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/fold_operations.inc.h"
#include "kernels/fold_table.h"
#include "kernels/operations.inc.h"

namespace tutti::kernels {
namespace {

#if defined(__AVX2__)
constexpr size_t vector_bytes = 32;
#else
constexpr size_t vector_bytes = 16;
#endif

// A row of lanes in vectors.
template <class T>
struct Vectors {
  typedef T type __attribute__((vector_size(vector_bytes)));
  typedef T loose __attribute__((vector_size(vector_bytes), aligned(1), may_alias));
  static constexpr size_t width = vector_bytes / sizeof(T), lanes = fold_row_bytes / sizeof(T);
};
template <>
struct Vectors<long double> {  // has no vectors
  typedef long double type;
  typedef Loose<long double>::type loose;
  static constexpr size_t width = 1, lanes = fold_long_numbers;
};

template <class T>
struct Row {
  using Vector = typename Vectors<T>::type;
  using LooseVector = typename Vectors<T>::loose;
  static constexpr size_t width = Vectors<T>::width, count = Vectors<T>::lanes / width;
  Vector part[count];

  [[gnu::always_inline]] static Row load(const void* from) {
    const auto* at = static_cast<const typename Loose<T>::type*>(from);
    Row row;
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i)
      row.part[i] = *reinterpret_cast<const LooseVector*>(at + i * width);
    return row;
  }
  [[gnu::always_inline]] void store(T* to) const {
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) *reinterpret_cast<LooseVector*>(to + i * width) = part[i];
  }
  template <class Operation>
  [[gnu::always_inline]] void take(const Row& other) {
#pragma GCC unroll 16
    for (size_t i = 0; i < count; ++i) part[i] = Operation::all(part[i], other.part[i]);
  }
  // Halves the lanes until those of `left` vectors are left.
  template <size_t left, class Operation>
  [[gnu::always_inline]] void halve() {
#pragma GCC unroll 4
    for (size_t half = count / 2; half >= left; half /= 2) {
#pragma GCC unroll 8
      for (size_t i = 0; i < half; ++i) part[i] = Operation::all(part[i], part[i + half]);
    }
  }
};

// Halves `lanes` lanes, of which the first `have` have elements, until `left` are left.
template <size_t left, class T, class Operation>
void halve_lanes(T* lane, size_t lanes, size_t have) {
  for (size_t half = lanes / 2; half >= left; half /= 2) {
    for (size_t j = 0; j < half && j + half < have; ++j)
      lane[j] = Operation::template apply<T>(lane[j], lane[j + half]);
    if (have > half) have = half;
  }
}

// Folds `count` elements of T, `left` of which are one element of the caller's. There is at least
// one.
template <size_t left, class T, class Operation>
void fold_numbers(T* lane, const void* in, size_t count) {
  const auto* x = static_cast<const typename Loose<T>::type*>(in);
  constexpr size_t lanes = Vectors<T>::lanes;
  if (count < lanes) {
    for (size_t j = 0; j < count; ++j) lane[j] = x[j];
    return halve_lanes<left, T, Operation>(lane, lanes, count);
  }
  Row<T> row = Row<T>::load(x);
  size_t at = lanes;
  for (; at + lanes <= count; at += lanes) row.template take<Operation>(Row<T>::load(x + at));
  if (at < count) {
    row.store(lane);
    for (size_t j = 0; at + j < count; ++j)
      lane[j] = Operation::template apply<T>(lane[j], x[at + j]);
    row = Row<T>::load(lane);
  }
  constexpr size_t width = Row<T>::width, vectors = left > width ? left / width : 1;
  row.template halve<vectors, Operation>();
  for (size_t i = 0; i < vectors; ++i)
    *reinterpret_cast<typename Row<T>::LooseVector*>(lane + i * width) = row.part[i];
  halve_lanes<left, T, Operation>(lane, vectors * width, vectors * width);
}

template <class T, class Operation>
void fold(void* dst, const void* in, size_t count) {
  alignas(64) T lane[Vectors<T>::lanes];
  typename Loose<T>::type* to = static_cast<typename Loose<T>::type*>(dst);
  if (count == 0) {
    *to = Operation::template neutral<T>;
    return;
  }
  fold_numbers<1, T, Operation>(lane, in, count);
  *to = Operation::template finished<T>(lane[0]);
}

// The lanes of a complex sum are those of its real parts and of its imaginary parts in turn.
template <class T>
void fold_complex_sum(void* dst, const void* in, size_t count) {
  alignas(64) T lane[Vectors<T>::lanes] = {FoldFloatSum::neutral<T>, FoldFloatSum::neutral<T>};
  if (count > 0) fold_numbers<2, T, FoldFloatSum>(lane, in, 2 * count);
  typename Loose<T>::type* to = static_cast<typename Loose<T>::type*>(dst);
  to[0] = FoldFloatSum::finished(lane[0]);
  to[1] = FoldFloatSum::finished(lane[1]);
}

template <class T>
void fold_complex_product(void* dst, const void* in, size_t count) {
  constexpr size_t lanes = Vectors<T>::lanes / 2;
  const auto* x = static_cast<const typename Loose<T>::type*>(in);
  alignas(64) T lane[2 * lanes] = {1, 0};
  const size_t first = count < lanes ? count : lanes;
  for (size_t j = 0; j < 2 * first; ++j) lane[j] = x[j];
  size_t at = first;
  for (; at + lanes <= count; at += lanes) complex_product<T>(lane, lane, x + 2 * at, lanes);
  complex_product<T>(lane, lane, x + 2 * at, count - at);
  size_t have = first;
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    if (have <= half) continue;
    complex_product<T>(lane, lane, lane + 2 * half, have - half);
    have = half;
  }
  typename Loose<T>::type* to = static_cast<typename Loose<T>::type*>(dst);
  to[0] = OneNanAtTheEnd::finished(lane[0]);
  to[1] = OneNanAtTheEnd::finished(lane[1]);
}

// The rest defines which folds serve which types, as reduce.inc.h does for reductions.

constexpr Fold& at(Folds& table, Type type, Op op) {
  return table.entry[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

template <class Unsigned>
constexpr void define_unsigned(Folds& table, Type type) {
  at(table, type, Op::sum) = fold<Unsigned, FoldIntegerSum>;
  at(table, type, Op::prod) = fold<Unsigned, FoldIntegerProduct>;
  at(table, type, Op::land) = fold<Unsigned, FoldLogicalAnd>;
  at(table, type, Op::lor) = fold<Unsigned, FoldLogicalOr>;
  at(table, type, Op::lxor) = fold<Unsigned, FoldLogicalXor>;
  at(table, type, Op::band) = fold<Unsigned, FoldBitAnd>;
  at(table, type, Op::bor) = fold<Unsigned, FoldBitOr>;
  at(table, type, Op::bxor) = fold<Unsigned, FoldBitXor>;
}

template <class T, class AtTheEnd>
constexpr void define_order(Folds& table, Type type) {
  at(table, type, Op::max) = fold<T, FoldMaximum<AtTheEnd>>;
  at(table, type, Op::min) = fold<T, FoldMinimum<AtTheEnd>>;
}

template <class Signed, class Unsigned>
constexpr void define_integers(Folds& table, Type signed_type, Type unsigned_type) {
  define_unsigned<Unsigned>(table, signed_type);
  define_order<Signed, UnchangedAtTheEnd>(table, signed_type);
  define_unsigned<Unsigned>(table, unsigned_type);
  define_order<Unsigned, UnchangedAtTheEnd>(table, unsigned_type);
}

template <class T>
constexpr void define_floats(Folds& table, Type real, Type complex) {
  at(table, real, Op::sum) = fold<T, FoldFloatSum>;
  at(table, real, Op::prod) = fold<T, FoldFloatProduct>;
  define_order<T, OneNanAtTheEnd>(table, real);
  at(table, complex, Op::sum) = fold_complex_sum<T>;
  at(table, complex, Op::prod) = fold_complex_product<T>;
}

constexpr Folds make_folds() {
  Folds table{};
  define_integers<int8_t, uint8_t>(table, Type::int8, Type::uint8);
  define_integers<int16_t, uint16_t>(table, Type::int16, Type::uint16);
  define_integers<int32_t, uint32_t>(table, Type::int32, Type::uint32);
  define_integers<int64_t, uint64_t>(table, Type::int64, Type::uint64);
  define_floats<float>(table, Type::float32, Type::complex64);
  define_floats<double>(table, Type::float64, Type::complex128);
  define_floats<long double>(table, Type::float80, Type::complex160);
  return table;
}

}  // namespace
}  // namespace tutti::kernels
