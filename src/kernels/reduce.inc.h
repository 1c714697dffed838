// The reduction kernels: one source for all instruction sets.
//
// Each isa_*.cpp includes this file and is compiled with its own flags; the compiler vectorises the
// plain loops. Everything has internal linkage (operations.inc.h says why). An element's result
// depends on its two operands only, never on its place in the vector or on the instruction set: no
// contraction to fused multiply-add, no reassociation, max and min by one comparison.
// Pure functions, for any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/operations.inc.h"
#include "kernels/table.h"

namespace tutti::kernels {
namespace {

template <class T, class Operation>
void reduce(void* dst, const void* a, const void* b, size_t count) {
  using Element = typename Loose<T>::type;
  Element* to = static_cast<Element*>(dst);
  const Element* x = static_cast<const Element*>(a);
  const Element* y = static_cast<const Element*>(b);
  // Calls with one element are the most frequent by far, and their time is all overhead.
  if (count == 1) {
    if constexpr (requires { Operation::template alone<T>(*x, *y); })
      *to = Operation::template alone<T>(*x, *y);
    else
      *to = Operation::template apply<T>(*x, *y);
    return;
  }
  TUTTI_ELEMENTS_ARE_INDEPENDENT
  for (size_t i = 0; i < count; ++i) to[i] = Operation::template apply<T>(x[i], y[i]);
}

// A sum of complex numbers is a sum of twice as many reals.
template <class T>
void complex_sum(void* dst, const void* a, const void* b, size_t count) {
  reduce<T, FloatSum>(dst, a, b, 2 * count);
}

// The value is that of Operation, the index is that of the operand with this value; if the values
// are equal, it is the lower index. Members are stored one by one, so the padding of dst is not
// changed.
template <class Value, class Index, class Operation>
void reduce_pairs(void* dst, const void* a, const void* b, size_t count) {
  struct Pair {
    Value value;
    Index index;
  };
  using LooseValue = typename Loose<Value>::type;
  using LooseIndex = typename Loose<Index>::type;
  auto* to = static_cast<unsigned char*>(dst);
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  TUTTI_ELEMENTS_ARE_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * sizeof(Pair);
    const size_t index_at = at + offsetof(Pair, index);
    const Value x_value = *reinterpret_cast<const LooseValue*>(x + at);
    const Value y_value = *reinterpret_cast<const LooseValue*>(y + at);
    const Index x_index = *reinterpret_cast<const LooseIndex*>(x + index_at);
    const Index y_index = *reinterpret_cast<const LooseIndex*>(y + index_at);
    const Value value = Operation::template apply<Value>(x_value, y_value);
    const Index lower = x_index < y_index ? x_index : y_index;
    const bool x_wins = Operation::template wins<Value>(x_value, y_value);
    const Index winner = x_wins ? x_index : y_index;
    const Index index = x_value == y_value ? lower : winner;
    *reinterpret_cast<LooseValue*>(to + at) = value;
    *reinterpret_cast<LooseIndex*>(to + index_at) = index;
  }
}

struct MaximumLocation : Maximum {
  template <class T>
  static bool wins(T x, T y) {
    return x > y;
  }
};
struct MinimumLocation : Minimum {
  template <class T>
  static bool wins(T x, T y) {
    return x < y;
  }
};

// The rest defines which operations serve which types: MPI 5.0, section 6.9.2.

constexpr Reduce& at(Reductions& table, Type type, Op op) {
  return table.entry[static_cast<size_t>(type)][static_cast<size_t>(op)];
}

template <class Unsigned>
constexpr void define_logical(Reductions& table, Type type) {
  at(table, type, Op::land) = reduce<Unsigned, LogicalAnd>;
  at(table, type, Op::lor) = reduce<Unsigned, LogicalOr>;
  at(table, type, Op::lxor) = reduce<Unsigned, LogicalXor>;
}

template <class Unsigned>
constexpr void define_bitwise(Reductions& table, Type type) {
  at(table, type, Op::band) = reduce<Unsigned, BitAnd>;
  at(table, type, Op::bor) = reduce<Unsigned, BitOr>;
  at(table, type, Op::bxor) = reduce<Unsigned, BitXor>;
}

template <class T>
constexpr void define_order(Reductions& table, Type type) {
  at(table, type, Op::max) = reduce<T, Maximum>;
  at(table, type, Op::min) = reduce<T, Minimum>;
}

template <class Unsigned>
constexpr void define_integer(Reductions& table, Type type) {
  at(table, type, Op::sum) = reduce<Unsigned, IntegerSum>;
  at(table, type, Op::prod) = reduce<Unsigned, IntegerProduct>;
  define_logical<Unsigned>(table, type);
  define_bitwise<Unsigned>(table, type);
}

template <class Signed, class Unsigned>
constexpr void define_integers(Reductions& table, Type signed_type, Type unsigned_type) {
  define_integer<Unsigned>(table, signed_type);
  define_order<Signed>(table, signed_type);
  define_integer<Unsigned>(table, unsigned_type);
  define_order<Unsigned>(table, unsigned_type);
}

template <class T>
constexpr void define_float(Reductions& table, Type real, Type complex) {
  at(table, real, Op::sum) = reduce<T, FloatSum>;
  at(table, real, Op::prod) = reduce<T, FloatProduct>;
  define_order<T>(table, real);
  at(table, complex, Op::sum) = complex_sum<T>;
  at(table, complex, Op::prod) = complex_product<T>;
}

template <class Value, class Index>
constexpr void define_pair(Reductions& table, Type type) {
  at(table, type, Op::maxloc) = reduce_pairs<Value, Index, MaximumLocation>;
  at(table, type, Op::minloc) = reduce_pairs<Value, Index, MinimumLocation>;
}

constexpr Reductions make_reductions() {
  Reductions table{};
  define_integers<int8_t, uint8_t>(table, Type::int8, Type::uint8);
  define_integers<int16_t, uint16_t>(table, Type::int16, Type::uint16);
  define_integers<int32_t, uint32_t>(table, Type::int32, Type::uint32);
  define_integers<int64_t, uint64_t>(table, Type::int64, Type::uint64);
  define_float<float>(table, Type::float32, Type::complex64);
  define_float<double>(table, Type::float64, Type::complex128);
  define_float<long double>(table, Type::float80, Type::complex160);
  define_logical<uint8_t>(table, Type::bool8);
  define_logical<uint8_t>(table, Type::logical8);
  define_logical<uint16_t>(table, Type::logical16);
  define_logical<uint32_t>(table, Type::logical32);
  define_logical<uint64_t>(table, Type::logical64);
  define_bitwise<uint8_t>(table, Type::byte);
  define_pair<float, int>(table, Type::float32_int);
  define_pair<double, int>(table, Type::float64_int);
  define_pair<int64_t, int>(table, Type::int64_int);
  define_pair<int32_t, int>(table, Type::int32_int);
  define_pair<int16_t, int>(table, Type::int16_int);
  define_pair<long double, int>(table, Type::float80_int);
  define_pair<float, float>(table, Type::float32_float32);
  define_pair<double, double>(table, Type::float64_float64);
  return table;
}

}  // namespace
}  // namespace tutti::kernels
