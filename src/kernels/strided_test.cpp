#include "kernels/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "base/sanitized.h"

namespace tutti::kernels {
namespace {

// A layout beside the offset of each of its packed bytes, which the same operations build naively.
struct Pair {
  StridedLayout layout;
  std::vector<ptrdiff_t> offsets;
};

Pair block(size_t bytes) {
  Pair made{StridedLayout(bytes), {}};
  for (size_t i = 0; i < bytes; ++i) made.offsets.push_back(static_cast<ptrdiff_t>(i));
  return made;
}

void append(Pair& pair, const Pair& next, ptrdiff_t offset) {
  ASSERT_TRUE(pair.layout.append(next.layout, offset));
  for (const ptrdiff_t at : next.offsets) pair.offsets.push_back(at + offset);
}

void repeat(Pair& pair, size_t count, ptrdiff_t stride) {
  ASSERT_TRUE(pair.layout.repeat(count, stride));
  const std::vector<ptrdiff_t> once = pair.offsets;
  pair.offsets.clear();
  for (size_t i = 0; i < count; ++i)
    for (const ptrdiff_t at : once) pair.offsets.push_back(at + static_cast<ptrdiff_t>(i) * stride);
}

// Gathers and scatters `count` elements and compares all of memory with the naive result. Scatter
// is only defined if no byte is written twice.
void check(const Pair& pair, size_t count, ptrdiff_t extent) {
  ASSERT_EQ(pair.layout.bytes(), pair.offsets.size());
  Pair all = pair;
  all.layout = {};  // the elements are written out in `offsets` only
  repeat(all, count, extent);
  if (all.offsets.empty()) return;
  const auto [low, high] = std::minmax_element(all.offsets.begin(), all.offsets.end());
  const ptrdiff_t first = *low;
  std::vector<std::byte> memory(static_cast<size_t>(*high - first) + 1);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::byte>(i * 131 + (i >> 8) * 7 + 1);
  const auto place = [&](ptrdiff_t offset) { return static_cast<size_t>(offset - first); };

  constexpr std::byte guard{0xa5};
  std::vector<std::byte> packed(all.offsets.size() + 64, guard), expected = packed;
  for (size_t i = 0; i < all.offsets.size(); ++i) expected[i] = memory[place(all.offsets[i])];
  pair.layout.gather(packed.data(), memory.data() - first, count, extent);
  ASSERT_EQ(packed, expected);

  std::vector<ptrdiff_t> sorted = all.offsets;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return;
  std::vector<std::byte> written(memory.size(), guard), expected_written = written;
  for (size_t i = 0; i < all.offsets.size(); ++i)
    expected_written[place(all.offsets[i])] = packed[i];
  pair.layout.scatter(packed.data(), written.data() - first, count, extent);
  ASSERT_EQ(written, expected_written);
}

TEST(Strided, EveryBlockSizeAndCount) {
  for (size_t bytes = 1; bytes <= 70; ++bytes)
    for (const size_t count : {1, 2, 3, 4, 5, 7, 8, 13})
      for (const ptrdiff_t gap : {0, 1, 5, 64}) {
        Pair pair = block(bytes);
        const auto stride = static_cast<ptrdiff_t>(bytes) + gap;
        repeat(pair, count, stride);
        ASSERT_NO_FATAL_FAILURE(check(pair, 1, 0)) << bytes << " bytes, gap " << gap;
        ASSERT_NO_FATAL_FAILURE(check(pair, 3, static_cast<ptrdiff_t>(count) * stride));
        ASSERT_NO_FATAL_FAILURE(check(pair, 2, -static_cast<ptrdiff_t>(count) * stride - 3));
      }
}

TEST(Strided, LongBlocks) {
  for (const size_t bytes : {2000, 2048, 5000, 70000}) {
    Pair pair = block(bytes);
    repeat(pair, 3, static_cast<ptrdiff_t>(bytes) + 17);
    ASSERT_NO_FATAL_FAILURE(check(pair, 2, static_cast<ptrdiff_t>(4 * bytes)));
  }
}

// The pieces of a 3-D array of doubles.
TEST(Strided, FacesOfACubeAreFewBlocks) {
  const auto sub = [](size_t x, size_t y, size_t z) {
    Pair pair = block(8);
    repeat(pair, z, 8);
    repeat(pair, y, 80);
    repeat(pair, x, 800);
    return pair;
  };
  EXPECT_TRUE(sub(10, 10, 10).layout.is_block());
  EXPECT_TRUE(sub(1, 10, 10).layout.is_block());
  for (const auto& [x, y, z] : {std::array<size_t, 3>{1, 9, 7}, {6, 1, 8}, {9, 9, 1}, {10, 10, 1}})
    ASSERT_NO_FATAL_FAILURE(check(sub(x, y, z), 1, 8000));
}

TEST(Strided, AdjacentPiecesAndRowsAreMerged) {
  Pair pair = block(4);
  append(pair, block(4), 4);
  EXPECT_TRUE(pair.layout.is_block());
  for (const ptrdiff_t offset : {20, 40, 60}) append(pair, block(8), offset);
  EXPECT_EQ(pair.layout.pieces(), 1u);  // a row of four
  append(pair, block(8), 90);
  append(pair, block(8), 94);
  EXPECT_EQ(pair.layout.pieces(), 2u);  // and one of two
  ASSERT_NO_FATAL_FAILURE(check(pair, 3, 200));
}

TEST(Strided, NoBytes) {
  Pair pair = block(0);
  append(pair, block(0), 100);
  repeat(pair, 7, 3);
  EXPECT_EQ(pair.layout.bytes(), 0u);
  pair.layout.gather(nullptr, nullptr, 5, 1);
  Pair gone = block(4);
  repeat(gone, 0, 8);
  EXPECT_EQ(gone.layout.bytes(), 0u);
}

TEST(Strided, LimitsAreReported) {
  StridedLayout deep(1);
  ptrdiff_t stride = 3;
  for (size_t i = 0; i < StridedLayout::most_levels; ++i, stride *= 3)
    EXPECT_TRUE(deep.repeat(2, stride));
  EXPECT_FALSE(deep.repeat(2, stride));

  StridedLayout irregular;
  bool fits = true;
  ptrdiff_t at = 0;
  for (size_t i = 0; i < StridedLayout::most_pieces + 1 && fits; ++i, at += 100)
    fits = irregular.append(StridedLayout(1 + i % 3), at);
  EXPECT_FALSE(fits);
}

// Blocks that are repeated and appended at random, with strides of both signs.
Pair random_pair(std::mt19937& random, int depth) {
  const auto up_to = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  static constexpr size_t sizes[] = {1, 2, 3, 4, 5, 8, 8, 12, 16, 20, 24, 32, 49};
  if (depth == 0) return block(sizes[random() % std::size(sizes)]);
  Pair pair = random_pair(random, depth - 1);
  if (up_to(2) == 0) {
    const int more = up_to(4);
    for (int i = 0; i < more; ++i)
      append(pair, random_pair(random, up_to(depth - 1)), up_to(3000) - 1500);
    return pair;
  }
  const ptrdiff_t dense = static_cast<ptrdiff_t>(pair.offsets.size());
  const ptrdiff_t strides[] = {dense, -dense, dense + up_to(40), 8 * (up_to(500) - 250)};
  repeat(pair, static_cast<size_t>(up_to(5)), strides[up_to(3)]);
  return pair;
}

TEST(Strided, RandomLayouts) {
  std::mt19937 random(20);
  for (int i = 0; i < (looks_at_memory || looks_for_races ? 200 : 3000); ++i) {
    const Pair pair = random_pair(random, 1 + i % 5);
    if (pair.offsets.size() > 100000) continue;
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(check(pair, 1, 0));
    ASSERT_NO_FATAL_FAILURE(check(pair, 3, static_cast<ptrdiff_t>(random() % 8000) - 4000));
    ASSERT_NO_FATAL_FAILURE(check(pair, 4, static_cast<ptrdiff_t>(pair.offsets.size())));
  }
}

}  // namespace
}  // namespace tutti::kernels
