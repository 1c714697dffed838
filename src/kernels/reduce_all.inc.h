// Reductions of all sources at once, for elements that are rounded once: one source for all
// instruction sets (operations.inc.h says how it is compiled).
//
// A strip of partial results stays in the first-level cache, in float for elements of 16 bits. The
// conversions are integer arithmetic, exact sums, or the processor's own, and all NaNs become one.
// So they have the same bits on every processor, also where denormal floats count as zero for other
// code of the thread. Pure functions, for any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

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

#ifdef __F16C__
// Numbers of 16 bits. Instructions convert eight at a time, because compilers do not vectorise
// loops over the conversions below, or not well. Processors with F16C that run this have AVX2, too.
struct InEights {
  static constexpr bool in_eights = true;
  static __m256 load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, __m256 values) { _mm256_storeu_ps(to, values); }

 protected:
  using Shorts = Loose<uint16_t>::type;
  static __m128i bits_at(const Shorts* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from));
  }
  static void put_bits(Shorts* to, __m128i bits) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), bits);
  }
};
#else
struct InEights {
  static constexpr bool in_eights = false;
};
#endif

// The upper half of a float. Rounds to nearest, ties to even. NaNs become one NaN.
struct BFloat16 : InEights {
  using Stored = uint16_t;
  using Wide = float;
  static float widen(uint16_t stored) { return float_of(static_cast<uint32_t>(stored) << 16); }
  static uint16_t narrow(float value) {
    const uint32_t bits = bits_of(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return static_cast<uint16_t>(value != value ? 0x7fc0 : rounded);
  }
#ifdef __F16C__
  using InEights::load, InEights::store;
  static __m256 load(const Shorts* from) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits_at(from)), 16));
  }
  static void store(Shorts* to, __m256 values) {
    const __m256i bits = _mm256_castps_si256(values), odd = _mm256_srli_epi32(bits, 16);
    const __m256i up =
        _mm256_add_epi32(_mm256_and_si256(odd, _mm256_set1_epi32(1)), _mm256_set1_epi32(0x7fff));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, up), 16);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    const __m256i words = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0), is_nan);
    put_bits(to,
             _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
#endif
};

// IEEE's binary16: 5 bits of exponent, 10 of fraction. The two ranges of exponents are converted
// by one addition of floats each, the method of Maratyszcza's FP16 library.
struct Float16 : InEights {
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
#ifdef __F16C__
  using InEights::load, InEights::store;
  static __m256 load(const Shorts* from) { return _mm256_cvtph_ps(bits_at(from)); }
  static void store(Shorts* to, __m256 values) {
    const __m128i sign = _mm_set1_epi16(INT16_MIN), infinity = _mm_set1_epi16(0x7c00);
    const __m128i rounded = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i is_nan = _mm_cmpgt_epi16(_mm_andnot_si128(sign, rounded), infinity);
    const __m128i of_nan = _mm_or_si128(_mm_and_si128(rounded, sign), _mm_set1_epi16(0x7e00));
    put_bits(to, _mm_blendv_epi8(rounded, of_nan, is_nan));
  }
#endif
};

template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static constexpr bool in_eights = false;
  static T widen(T stored) { return stored; }
  static T narrow(T value) { return value; }
};

template <class Number>
using Element = typename Loose<typename Number::Stored>::type;

template <class Number>
inline void widen(typename Number::Wide* to, const Element<Number>* x, size_t count) {
  size_t i = 0;
  if constexpr (Number::in_eights)
    for (; i + 8 <= count; i += 8) Number::store(to + i, Number::load(x + i));
  for (; i < count; ++i) to[i] = Number::widen(x[i]);
}

template <class Number>
inline void narrow(Element<Number>* to, const typename Number::Wide* x, size_t count) {
  size_t i = 0;
  if constexpr (Number::in_eights)
    for (; i + 8 <= count; i += 8) Number::store(to + i, Number::load(x + i));
  for (; i < count; ++i) to[i] = Number::narrow(x[i]);
}

template <class Number, class Operation>
inline void combine(typename Number::Wide* partial, const Element<Number>* x, size_t count) {
  size_t i = 0;
  if constexpr (Number::in_eights)
    for (; i + 8 <= count; i += 8)
      Number::store(partial + i, Operation::apply(Number::load(partial + i), Number::load(x + i)));
  for (; i < count; ++i) partial[i] = Operation::apply(partial[i], Number::widen(x[i]));
}

// The result of two sources, without a strip. `to` may be one of them.
template <class Number, class Operation>
inline void reduce_two(Element<Number>* to, const Element<Number>* x, const Element<Number>* y,
                       size_t count) {
  size_t i = 0;
  if constexpr (Number::in_eights)
    for (; i + 8 <= count; i += 8)
      Number::store(to + i, Operation::apply(Number::load(x + i), Number::load(y + i)));
  TUTTI_ELEMENTS_ARE_INDEPENDENT
  for (; i < count; ++i)
    to[i] = Number::narrow(Operation::apply(Number::widen(x[i]), Number::widen(y[i])));
}

template <class Number, class Operation>
void reduce_all(void* dst, const void* const* sources, int count, size_t elements, double divisor) {
  using Wide = typename Number::Wide;
  Element<Number>* const to = static_cast<Element<Number>*>(dst);
  const auto elements_of = [sources](int source) -> const Element<Number>* {
    return static_cast<const Element<Number>*>(sources[source]);
  };
  if (count == 2 && divisor == 1)
    return reduce_two<Number, Operation>(to, elements_of(0), elements_of(1), elements);
  constexpr size_t strip = 1024;
  Wide partial[strip];
  for (size_t first = 0; first < elements; first += strip) {
    const size_t n = elements - first < strip ? elements - first : strip;
    widen<Number>(partial, elements_of(0) + first, n);
    for (int source = 1; source < count; ++source)
      combine<Number, Operation>(partial, elements_of(source) + first, n);
    if (divisor != 1)
      for (size_t i = 0; i < n; ++i) partial[i] /= static_cast<Wide>(divisor);
    narrow<Number>(to + first, partial, n);
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
