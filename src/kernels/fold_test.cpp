// Folds against a fold that is written as plainly as possible, by the reference of the reductions.
#include "kernels/fold.h"

#include <gtest/gtest.h>

#include <limits>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "kernels/fold_table.h"
#include "kernels/test_reference.h"

namespace tutti::kernels {
namespace {

constexpr size_t guard = 64;
constexpr unsigned char untouched = 0xa5;
using Bytes = std::vector<unsigned char>;

template <class T>
void replace_nan(unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if (value == value) return;
  value = std::numeric_limits<T>::quiet_NaN();
  std::memcpy(at, &value, sizeof(T) > 8 ? 10 : sizeof value);
}

// Does to the last element the same as a fold does.
void finish(Type type, Op op, unsigned char* element) {
  switch (type) {
    case Type::float32: return replace_nan<float>(element);
    case Type::float64: return replace_nan<double>(element);
    case Type::float80: return replace_nan<long double>(element);
    case Type::complex64:
      for (size_t part : {0, 1}) replace_nan<float>(element + part * sizeof(float));
      return;
    case Type::complex128:
      for (size_t part : {0, 1}) replace_nan<double>(element + part * sizeof(double));
      return;
    case Type::complex160:
      for (size_t part : {0, 1}) replace_nan<long double>(element + part * sizeof(long double));
      return;
    default:
      if (op == Op::land || op == Op::lor || op == Op::lxor)
        reduce_one(type, Op::lor, element, element, element);
  }
}

// The order that fold.h defines, for at least one element: the result is in place of the first.
void fold_lanes_in_order(Type type, Op op, unsigned char* elements, size_t count) {
  const size_t size = size_of(type), lanes = fold_lanes(type);
  const auto take = [&](size_t lane, size_t element) {
    reduce_one(type, op, elements + lane * size, elements + lane * size, elements + element * size);
  };
  for (size_t i = lanes; i < count; ++i) take(i % lanes, i);
  for (size_t half = lanes / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half; ++j)
      if (j + half < count) take(j, j + half);
  finish(type, op, elements);
}

struct Case {
  Type type;
  Op op;
  size_t count;
  size_t offset;  // bytes from an aligned address
};

// Compares all of dst: the result, its padding and the guards around it.
void check(Fold fold, const Case& c, std::mt19937_64& random) {
  const size_t size = size_of(c.type);
  Bytes in(guard + c.offset + c.count * size + guard, untouched);
  unsigned char* const elements = in.data() + guard + c.offset;
  for (size_t i = 0; i < c.count; ++i) fill_one(c.type, elements + i * size, random);
  Bytes dst(guard + c.offset + size + guard, untouched), expected = dst;
  unsigned char* const result = dst.data() + guard + c.offset;
  const Bytes before = in;
  fold(result, elements, c.count);
  EXPECT_EQ(in, before);
  Bytes reference = in;
  fold_lanes_in_order(c.type, c.op, reference.data() + guard + c.offset, c.count);
  // The padding of dst is its own: the reference combines into it, which leaves padding alone.
  unsigned char* const to = expected.data() + guard + c.offset;
  const unsigned char* const from = reference.data() + guard + c.offset;
  const bool is_long = c.type == Type::float80 || c.type == Type::complex160;
  const size_t number = is_long ? sizeof(long double) : size;
  const size_t stored = is_long && std::numeric_limits<long double>::digits == 64 ? 10 : number;
  for (size_t at = 0; at < size; at += number) std::memcpy(to + at, from + at, stored);
  ASSERT_EQ(dst, expected) << "count " << c.count << ", offset " << c.offset;
  fold(elements, elements, c.count);
  for (size_t at = 0; at < size; at += number)
    ASSERT_EQ(std::memcmp(elements + at, from + at, stored), 0)
        << "in place, count " << c.count << ", offset " << c.offset;
}

class EveryFold : public testing::TestWithParam<const char*> {};

TEST_P(EveryFold, GivesTheReferencesBits) {
  if (looks_for_races) GTEST_SKIP() << "it has one thread";
  const Folds* folds = find_folds(GetParam());
  if (folds == nullptr) GTEST_SKIP() << "not on this processor";
  std::mt19937_64 random(17);
  for (size_t type = 0; type < fold_types; ++type)
    for (size_t op = 0; op < op_count; ++op) {
      const Fold fold = folds->entry[type][op];
      if (fold == nullptr) continue;
      SCOPED_TRACE("type " + std::to_string(type) + " op " + std::to_string(op));
      Case c{static_cast<Type>(type), static_cast<Op>(op), 0, 0};
      for (c.count = 1; c.count <= 100; ++c.count)
        for (size_t offset : {size_t{0}, size_of(c.type), size_t{1}}) {
          c.offset = offset;
          ASSERT_NO_FATAL_FAILURE(check(fold, c, random));
        }
      for (size_t count : {255, 256, 257, 511, 512, 513, 1000, 4099}) {
        c.count = count;
        ASSERT_NO_FATAL_FAILURE(check(fold, c, random));
      }
    }
}

TEST_P(EveryFold, IsThereWhereTheReductionIs) {
  const Folds* folds = find_folds(GetParam());
  if (folds == nullptr) GTEST_SKIP() << "not on this processor";
  for (size_t type = 0; type < fold_types; ++type)
    for (size_t op = 0; op < op_count; ++op)
      EXPECT_EQ(folds->entry[type][op] != nullptr,
                is_defined(static_cast<Type>(type), static_cast<Op>(op)))
          << "type " << type << " op " << op;
}

// The neutral element changes no bit of any number that is not a NaN (of logical operations: of any
// truth value).
TEST_P(EveryFold, NothingIsTheNeutralElement) {
  const Folds* folds = find_folds(GetParam());
  if (folds == nullptr) GTEST_SKIP() << "not on this processor";
  std::mt19937_64 random(5);
  for (size_t type = 0; type < fold_types; ++type)
    for (size_t op = 0; op < op_count; ++op) {
      const Fold fold = folds->entry[type][op];
      if (fold == nullptr) continue;
      const auto as_type = static_cast<Type>(type);
      const auto as_op = static_cast<Op>(op);
      const size_t size = size_of(as_type);
      Bytes neutral(size), element(size), left(size), right(size);
      fold(neutral.data(), nullptr, 0);
      for (int repeat = 0; repeat < 200; ++repeat) {
        fill_one(as_type, element.data(), random);
        fold(element.data(), element.data(), 1);
        left = right = element;
        reduce_one(as_type, as_op, left.data(), neutral.data(), element.data());
        reduce_one(as_type, as_op, right.data(), element.data(), neutral.data());
        finish(as_type, as_op, left.data());
        finish(as_type, as_op, right.data());
        // Products of complex numbers turn infinities into NaNs and lose the signs of zeros. max
        // and min give the other operand for a NaN.
        const bool complex = as_type >= Type::complex64;
        const bool order = as_op == Op::max || as_op == Op::min;
        if ((complex && as_op == Op::prod) || (order && left != right)) continue;
        EXPECT_EQ(left, element) << "type " << type << " op " << op;
        EXPECT_EQ(right, element) << "type " << type << " op " << op;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, EveryFold, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

// The reference and the folds could have the same mistake, so these results come another way.
template <class T>
T folded(Type type, Op op, const std::vector<T>& in) {
  T dst{};
  find_fold(type, op)(&dst, in.data(), in.size());
  return dst;
}

TEST(Fold, ResultsByHand) {
  std::vector<double> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i) - 300;
  EXPECT_EQ(folded(Type::float64, Op::sum, numbers), 199500);
  EXPECT_EQ(folded(Type::float64, Op::max, numbers), 699);
  EXPECT_EQ(folded(Type::float64, Op::min, numbers), -300);
  EXPECT_EQ(folded<float>(Type::float32, Op::prod, {1, -2, 3, -4, 5}), 120);
  EXPECT_EQ(folded<int8_t>(Type::int8, Op::sum, {127, 1}), -128);
  EXPECT_EQ(folded<uint8_t>(Type::uint8, Op::max, {127, 200, 3}), 200);
  EXPECT_EQ(folded<int8_t>(Type::int8, Op::max, {127, -56, 3}), 127);
  EXPECT_EQ(folded<int32_t>(Type::int32, Op::land, {2, 4, 8}), 1);
  EXPECT_EQ(folded<int32_t>(Type::int32, Op::land, {7}), 1);
  EXPECT_EQ(folded<int32_t>(Type::int32, Op::lxor, {2, 4, 8}), 1);
  EXPECT_EQ(folded<int32_t>(Type::int32, Op::band, {6, 3}), 2);
  EXPECT_EQ(folded<long double>(Type::float80, Op::sum, {1, 2, 3, 4, 5, 6}), 21);
}

TEST(Fold, NeutralElementsByHand) {
  EXPECT_EQ(folded<int16_t>(Type::int16, Op::max, {}), INT16_MIN);
  EXPECT_EQ(folded<int16_t>(Type::int16, Op::min, {}), INT16_MAX);
  EXPECT_EQ(folded<uint64_t>(Type::uint64, Op::max, {}), 0u);
  EXPECT_EQ(folded<uint64_t>(Type::uint64, Op::band, {}), UINT64_MAX);
  EXPECT_EQ(folded<double>(Type::float64, Op::max, {}), -INFINITY);
  EXPECT_EQ(folded<float>(Type::float32, Op::prod, {}), 1);
  EXPECT_EQ(folded<double>(Type::float64, Op::sum, {}), 0);
  EXPECT_TRUE(std::signbit(folded<double>(Type::float64, Op::sum, {})));
  EXPECT_EQ(folded<uint8_t>(Type::uint8, Op::land, {}), 1);
  EXPECT_EQ(folded<uint8_t>(Type::uint8, Op::lxor, {}), 0);
}

TEST(Fold, ComplexByHand) {
  const double in[6] = {1, 2, 3, 4, 0, 1};
  double dst[2];
  find_fold(Type::complex128, Op::sum)(dst, in, 3);
  EXPECT_EQ(dst[0], 4);
  EXPECT_EQ(dst[1], 7);
  find_fold(Type::complex128, Op::prod)(dst, in, 3);  // (-5 + 10i) i
  EXPECT_EQ(dst[0], -10);
  EXPECT_EQ(dst[1], -5);
}

// Random lengths and numbers: integers as one by one, doubles within the bound of any order of
// summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, (4.4)).
TEST(Fold, RandomVectors) {
  std::mt19937_64 random(2026);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const size_t count = random() % 3000;
    std::vector<uint32_t> integers(count);
    std::vector<double> doubles(count);
    uint32_t sum = 0, product = 1, all = 0;
    long double exact = 0, magnitude = 0;
    for (size_t i = 0; i < count; ++i) {
      integers[i] = static_cast<uint32_t>(random()) | 1;
      sum += integers[i];
      product *= integers[i];
      all ^= integers[i];
      doubles[i] =
          std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 40)) *
          (random() % 2 == 0 ? 1 : -1);
      exact += doubles[i];
      magnitude += std::abs(doubles[i]);
    }
    EXPECT_EQ(folded(Type::uint32, Op::sum, integers), sum);
    EXPECT_EQ(folded(Type::uint32, Op::prod, integers), product);
    EXPECT_EQ(folded(Type::int32, Op::bxor, integers), all);
    const long double off = folded(Type::float64, Op::sum, doubles) - exact;
    EXPECT_LE(std::abs(off), 1.01L * static_cast<long double>(count) * 0x1p-53L * magnitude);
  }
}

TEST(Fold, OtherTypesHaveNone) {
  EXPECT_EQ(find_fold(Type::bool8, Op::land), nullptr);
  EXPECT_EQ(find_fold(Type::float64, Op::band), nullptr);
  EXPECT_EQ(find_fold(Type::float64, Op::count_), nullptr);
  EXPECT_EQ(find_fold(Type::count_, Op::sum), nullptr);
  EXPECT_EQ(fold_lanes(Type::bool8), 0u);
  EXPECT_EQ(fold_lanes(Type::float64), 32u);
}

}  // namespace
}  // namespace tutti::kernels
