// Reductions of all sources at once, for elements that are rounded once: one source for all
// instruction sets (operations.inc.h says how it is compiled).
//
// A strip of partial results stays in the first-level cache, in float for elements of 16 bits. The
// conversions are integer arithmetic and exact products, so they have the same bits on every
// processor, also where denormal floats count as zero for other code of the thread.
// Pure functions, for any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/operations.inc.h"
#include "kernels/table.h"

namespace tutti::kernels {
namespace {

inline float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The upper half of a float. Rounds to nearest, ties to even. NaNs become one NaN.
struct BFloat16 {
  using Stored = uint16_t;
  using Wide = float;
  static float widen(uint16_t stored) { return float_of(static_cast<uint32_t>(stored) << 16); }
  static uint16_t narrow(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return static_cast<uint16_t>(value != value ? 0x7fc0 : rounded);
  }
};

// IEEE's binary16: 5 bits of exponent, 10 of fraction. The two ranges of exponents are converted
// by one addition of floats each, the method of Maratyszcza's FP16 library.
struct Float16 {
  using Stored = uint16_t;
  using Wide = float;
  static float widen(uint16_t stored) {
    const uint32_t sign = static_cast<uint32_t>(stored & 0x8000) << 16, rest = stored & 0x7fff;
    // A subnormal number is a fraction of 2^-24: the float 0.5 + fraction * 2^-24, less 0.5.
    const uint32_t subnormal = bits_of(float_of(0x3f000000 | rest) - 0.5f);
    const uint32_t normal = (rest << 13) + (uint32_t{127 - 15} << 23);
    const uint32_t special = rest << 13 | 0x7f800000;
    const uint32_t finite = rest < 0x400 ? subnormal : normal;
    return float_of(sign | (rest < 0x7c00 ? finite : special));
  }
  static uint16_t narrow(float value) {
    const uint32_t bits = bits_of(value), rest = bits & 0x7fffffff;
    // A float below 2^-14 plus 0.5 has its fraction rounded to multiples of 2^-24.
    const uint32_t subnormal = bits_of(float_of(rest) + 0.5f) - 0x3f000000;
    const uint32_t normal = (rest - (uint32_t{127 - 15} << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
    const uint32_t special = rest > 0x7f800000 ? 0x7e00 : 0x7c00;
    const uint32_t finite = rest < 0x38800000 ? subnormal : normal;
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | (rest < 0x47800000 ? finite : special));
  }
};

template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static T widen(T stored) { return stored; }
  static T narrow(T value) { return value; }
};

template <class Number, class Operation>
void reduce_all(void* dst, const void* const* sources, int count, size_t elements, double divisor) {
  using Stored = typename Number::Stored;
  using Wide = typename Number::Wide;
  using Element = typename Loose<Stored>::type;
  constexpr size_t strip = 1024;
  Wide partial[strip];
  for (size_t first = 0; first < elements; first += strip) {
    const size_t n = elements - first < strip ? elements - first : strip;
    const Element* x = static_cast<const Element*>(sources[0]) + first;
    for (size_t i = 0; i < n; ++i) partial[i] = Number::widen(x[i]);
    for (int source = 1; source < count; ++source) {
      const Element* y = static_cast<const Element*>(sources[source]) + first;
      for (size_t i = 0; i < n; ++i)
        partial[i] = Operation::template apply<Wide>(partial[i], Number::widen(y[i]));
    }
    if (divisor != 1)
      for (size_t i = 0; i < n; ++i) partial[i] /= static_cast<Wide>(divisor);
    Element* to = static_cast<Element*>(dst) + first;
    for (size_t i = 0; i < n; ++i) to[i] = Number::narrow(partial[i]);
  }
}

template <class Number>
constexpr void define_all(ReductionsOfAll& table, WholeType type) {
  ReduceAll* const row = table.entry[static_cast<size_t>(type)];
  row[static_cast<size_t>(Op::sum)] = reduce_all<Number, FloatSum>;
  row[static_cast<size_t>(Op::prod)] = reduce_all<Number, FloatProduct>;
  row[static_cast<size_t>(Op::max)] = reduce_all<Number, Maximum>;
  row[static_cast<size_t>(Op::min)] = reduce_all<Number, Minimum>;
}

constexpr ReductionsOfAll make_reductions_of_all() {
  ReductionsOfAll table{};
  define_all<BFloat16>(table, WholeType::bfloat16);
  define_all<Float16>(table, WholeType::float16);
  define_all<Plain<float>>(table, WholeType::float32);
  define_all<Plain<double>>(table, WholeType::float64);
  return table;
}

}  // namespace
}  // namespace tutti::kernels
