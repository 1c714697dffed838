// Reductions of all sources at once: the conversions of short types, and the same bits by every
// instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/table.h"

namespace tutti::kernels {
namespace {

const char* const variants[] = {"baseline", "avx2", "avx512"};

// The value of a number with so many bits of exponent and fraction; infinities and NaNs too.
double value_of(uint16_t stored, int exponent_bits, int fraction_bits) {
  const int exponent = stored >> fraction_bits & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(stored & ((1 << fraction_bits) - 1), -fraction_bits);
  const double sign = (stored & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction == 0 ? sign * INFINITY : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

struct Short {
  WholeType type;
  int exponent_bits, fraction_bits;
  double value(uint16_t stored) const { return value_of(stored, exponent_bits, fraction_bits); }
};
constexpr Short shorts[] = {{WholeType::bfloat16, 8, 7}, {WholeType::float16, 5, 10}};

uint16_t combined(const Short& type, Op op, uint16_t a, uint16_t b, double divisor = 1) {
  const void* const sources[] = {&a, &b};
  uint16_t result = 0;
  find_reduce_all(type.type, op)(&result, sources, 2, 1, divisor);
  return result;
}

TEST(ReduceAll, OneSourceIsCopied) {
  for (const Short& type : shorts)
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto stored = static_cast<uint16_t>(bits);
      const void* const sources[] = {&stored};
      uint16_t result = 0;
      find_reduce_all(type.type, Op::sum)(&result, sources, 1, 1, 1);
      if (std::isnan(type.value(stored)))
        ASSERT_TRUE(std::isnan(type.value(result))) << bits;
      else
        ASSERT_EQ(result, stored) << bits;
    }
}

// The sum of two numbers is exact in double, and no other stored number is nearer to it.
TEST(ReduceAll, SumsAreRoundedToTheNearest) {
  std::mt19937 random(41);
  for (const Short& type : shorts)
    for (int i = 0; i < 200000; ++i) {
      const auto a = static_cast<uint16_t>(random());
      // The exponents are near each other, so that the sum is exact in float, too.
      const auto b = static_cast<uint16_t>((a & ~((1 << type.fraction_bits) - 1)) +
                                           (random() & 0x83ff & ((4 << type.fraction_bits) - 1)));
      const double exact = type.value(a) + type.value(b);
      const uint16_t result = combined(type, Op::sum, a, b);
      const double got = type.value(result);
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(got));
        continue;
      }
      if (std::isinf(exact) || std::isinf(got)) {
        ASSERT_EQ(std::signbit(exact), std::signbit(got));
        continue;
      }
      for (const int step : {-1, 1}) {
        const double other = type.value(static_cast<uint16_t>(result + step));
        if (std::isnan(other) || std::isinf(other)) continue;
        const double distance = std::fabs(exact - got), others = std::fabs(exact - other);
        ASSERT_LE(distance, others) << a << " + " << b;
        if (distance == others && distance > 0) {
          ASSERT_EQ(result & 1, 0) << a << " + " << b;
        }
      }
    }
}

TEST(ReduceAll, LimitsAndAverages) {
  const Short& half = shorts[1];
  EXPECT_EQ(combined(half, Op::sum, 0x7bff, 0x4c00), 0x7c00);     // 65504 + 16: infinity
  EXPECT_EQ(combined(half, Op::sum, 0x7bff, 0x4b00), 0x7bff);     // 65504 + 14
  EXPECT_EQ(combined(half, Op::sum, 0x7bff, 0x7bff, 2), 0x7bff);  // divided before it is rounded
  EXPECT_EQ(combined(half, Op::sum, 0x0001, 0x0002), 0x0003);     // subnormal numbers
  EXPECT_EQ(combined(half, Op::max, 0xbc00, 0x3800), 0x3800);
  EXPECT_EQ(combined(half, Op::min, 0xbc00, 0x3800), 0xbc00);
  EXPECT_EQ(combined(half, Op::prod, 0x4000, 0x4200), 0x4600);
  EXPECT_EQ(find_reduce_all(WholeType::float32, Op::band), nullptr);
}

// Among them are NaNs of all kinds. A divisor of 1 has a path of its own.
TEST(ReduceAll, ManyElementsHaveTheBitsOfEachAlone) {
  std::mt19937 random(11);
  std::vector<uint16_t> a(0x10000 + 3), b(a.size()), result(a.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint16_t>(i);
  for (uint16_t& element : b) element = static_cast<uint16_t>(random());
  const void* const sources[] = {a.data(), b.data()};
  for (const Short& type : shorts)
    for (const Op op : {Op::sum, Op::prod, Op::max, Op::min})
      for (const int count : {1, 2})
        for (const double divisor : {1, 3}) {
          const ReduceAll reduce = find_reduce_all(type.type, op);
          reduce(result.data(), sources, count, a.size(), divisor);
          for (size_t i = 0; i < a.size(); ++i) {
            const void* const alone[] = {&a[i], &b[i]};
            uint16_t expected = 0;
            reduce(&expected, alone, count, 1, divisor);
            ASSERT_EQ(result[i], expected)
                << a[i] << ", " << b[i] << ", op " << static_cast<int>(op);
          }
        }
}

TEST(ReduceAll, EveryInstructionSetGivesTheSameBits) {
  std::mt19937 random(7);
  constexpr size_t elements = 3000;
  for (size_t type = 0; type < whole_type_count; ++type) {
    const size_t bytes = elements * size(static_cast<WholeType>(type));
    std::vector<std::vector<unsigned char>> in(3, std::vector<unsigned char>(bytes + 1));
    for (auto& one : in)
      for (auto& byte : one) byte = static_cast<unsigned char>(random());
    // The second source is not aligned, and the third is the result.
    for (size_t op = 0; op < whole_op_count; ++op)
      for (const int count : {2, 3}) {
        std::vector<unsigned char> first;
        for (const char* const name : variants) {
          const Variant* const variant = find_variant(name);
          if (variant == nullptr) continue;
          std::vector<unsigned char> result = in[2];
          const void* const sources[] = {in[0].data(), in[1].data() + 1, result.data()};
          variant->table->reductions_of_all.entry[type][op](result.data(), sources + 3 - count,
                                                            count, elements, count == 2 ? 1 : 3);
          if (first.empty()) first = result;
          ASSERT_EQ(result, first) << name << ", type " << type << ", op " << op;
        }
      }
  }
}

}  // namespace
}  // namespace tutti::kernels
