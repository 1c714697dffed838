#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "kernels/test_reference.h"
#include "kernels/table.h"

namespace tutti::kernels {
namespace {

constexpr size_t guard = 64;
constexpr unsigned char untouched = 0xa5;

enum class Alias { none, a, b, both };

struct Case {
  Type type;
  Op op;
  size_t count;
  size_t offset;  // bytes from an aligned address, different for the three buffers
  Alias alias;
};

using Bytes = std::vector<unsigned char>;

Bytes filled(Type type, size_t offset, size_t count, std::mt19937_64& random) {
  Bytes bytes(guard + offset + count * size(type) + guard, untouched);
  for (size_t i = 0; i < count; ++i)
    fill_one(type, bytes.data() + guard + offset + i * size(type), random);
  return bytes;
}

// Runs a kernel and the reference and compares all of dst: results, padding and the guards around
// them.
void check(Reduce kernel, const Case& c, std::mt19937_64& random) {
  const size_t extent = size(c.type);
  const size_t a_offset = c.offset, b_offset = 2 * c.offset, dst_offset = 3 * c.offset;
  Bytes a = filled(c.type, a_offset, c.count, random);
  Bytes b = filled(c.type, b_offset, c.count, random);
  Bytes separate = filled(c.type, dst_offset, c.count, random);
  unsigned char* a_data = a.data() + guard + a_offset;
  unsigned char* b_data = c.alias == Alias::both ? a_data : b.data() + guard + b_offset;
  Bytes& aliased = c.alias == Alias::b ? b : a;
  Bytes& dst = c.alias == Alias::none ? separate : aliased;
  unsigned char* dst_data = c.alias == Alias::b ? b_data : a_data;
  if (c.alias == Alias::none) dst_data = separate.data() + guard + dst_offset;
  Bytes expected = dst;
  for (size_t i = 0; i < c.count; ++i)
    reduce_one(c.type, c.op, expected.data() + (dst_data - dst.data()) + i * extent,
               a_data + i * extent, b_data + i * extent);
  kernel(dst_data, a_data, b_data, c.count);
  size_t first = 0;
  while (first < dst.size() && dst[first] == expected[first]) ++first;
  ASSERT_EQ(first, dst.size()) << "byte " << static_cast<ptrdiff_t>(first) - (dst_data - dst.data())
                               << " of dst; count " << c.count << ", offset " << c.offset
                               << ", alias " << static_cast<int>(c.alias);
}

void check_counts_and_places(Reduce kernel, Type type, Op op) {
  std::mt19937_64 random(static_cast<unsigned>(type) * 100 + static_cast<unsigned>(op));
  for (size_t count = 0; count <= 67; ++count)
    for (size_t offset : {size_t{0}, size(type), size_t{1}})
      for (Alias alias : {Alias::none, Alias::a, Alias::b, Alias::both})
        ASSERT_NO_FATAL_FAILURE(check(kernel, {type, op, count, offset, alias}, random));
  for (size_t count : {255, 1000, 4099})
    for (Alias alias : {Alias::none, Alias::a, Alias::b})
      ASSERT_NO_FATAL_FAILURE(check(kernel, {type, op, count, size(type), alias}, random));
}

class EveryKernel : public testing::TestWithParam<const char*> {};

TEST_P(EveryKernel, GivesTheReferencesBits) {
  if (looks_for_races) GTEST_SKIP() << "it has one thread";
  const Variant* variant = find_variant(GetParam());
  if (variant == nullptr) GTEST_SKIP() << "not on this processor";
  for (size_t type = 0; type < type_count; ++type)
    for (size_t op = 0; op < op_count; ++op) {
      const Reduce kernel = variant->table->reductions.entry[type][op];
      if (kernel == nullptr) continue;
      SCOPED_TRACE("type " + std::to_string(type) + " op " + std::to_string(op));
      ASSERT_NO_FATAL_FAILURE(
          check_counts_and_places(kernel, static_cast<Type>(type), static_cast<Op>(op)));
    }
}

TEST_P(EveryKernel, IsThereWhereMpiDefinesItAndOnlyThere) {
  const Variant* variant = find_variant(GetParam());
  if (variant == nullptr) GTEST_SKIP() << "not on this processor";
  for (size_t type = 0; type < type_count; ++type)
    for (size_t op = 0; op < op_count; ++op)
      EXPECT_EQ(variant->table->reductions.entry[type][op] != nullptr,
                is_defined(static_cast<Type>(type), static_cast<Op>(op)))
          << "type " << type << " op " << op;
}

INSTANTIATE_TEST_SUITE_P(Variants, EveryKernel, testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Reduce, SizesAreThoseOfTheCTypes) {
  for (size_t type = 0; type < type_count; ++type)
    EXPECT_EQ(size(static_cast<Type>(type)), size_of(static_cast<Type>(type))) << "type " << type;
  EXPECT_EQ(size(Type::count_), 0u);
}

TEST(Reduce, OutOfRangeHasNoKernel) {
  EXPECT_EQ(find_reduce(Type::count_, Op::sum), nullptr);
  EXPECT_EQ(find_reduce(Type::int32, Op::count_), nullptr);
}

// The reference and the kernels could have the same mistake, so these results are written by hand.
template <class T>
T result(Type type, Op op, T x, T y) {
  T dst{};
  find_reduce(type, op)(&dst, &x, &y, 1);
  return dst;
}

TEST(Reduce, ResultsByHand) {
  EXPECT_EQ(result<int8_t>(Type::int8, Op::sum, 127, 1), -128);
  EXPECT_EQ(result<uint16_t>(Type::uint16, Op::prod, 65535, 65535), 1);
  EXPECT_EQ(result<int64_t>(Type::int64, Op::max, -1, 1), 1);
  EXPECT_EQ(result<uint64_t>(Type::uint64, Op::max, ~uint64_t{0}, 1), ~uint64_t{0});
  EXPECT_EQ(result<int32_t>(Type::int32, Op::land, 2, 4), 1);
  EXPECT_EQ(result<int32_t>(Type::int32, Op::band, 2, 4), 0);
  EXPECT_EQ(result<int32_t>(Type::int32, Op::lxor, 2, 4), 0);
  EXPECT_EQ(result<int32_t>(Type::logical32, Op::lor, 0, -1), 1);
  EXPECT_EQ(result<uint8_t>(Type::byte, Op::bxor, 0xf0, 0xff), 0x0f);
  EXPECT_EQ(result<double>(Type::float64, Op::sum, 1.5, 2.25), 3.75);
  EXPECT_EQ(result<long double>(Type::float80, Op::min, 1.0L, -1.0L), -1.0L);
}

TEST(Reduce, ComplexProductByHand) {
  const double x[2] = {1, 2}, y[2] = {3, 4};
  double dst[2];
  find_reduce(Type::complex128, Op::prod)(dst, x, y, 1);
  EXPECT_EQ(dst[0], -5);
  EXPECT_EQ(dst[1], 10);
}

TEST(Reduce, LocationsByHand) {
  struct Located {
    double value;
    int index;
  };
  const Located x[3] = {{1, 7}, {2, 9}, {5, 0}}, y[3] = {{1, 3}, {3, 12}, {4, 1}};
  Located dst[3];
  find_reduce(Type::float64_int, Op::maxloc)(dst, x, y, 3);
  EXPECT_EQ(dst[0].index, 3);
  EXPECT_EQ(dst[1].index, 12);
  EXPECT_EQ(dst[2].index, 0);
  EXPECT_EQ(dst[1].value, 3);
  find_reduce(Type::float64_int, Op::minloc)(dst, x, y, 3);
  EXPECT_EQ(dst[0].index, 3);
  EXPECT_EQ(dst[1].index, 9);
  EXPECT_EQ(dst[2].index, 1);
  EXPECT_EQ(dst[2].value, 4);
}

}  // namespace
}  // namespace tutti::kernels
