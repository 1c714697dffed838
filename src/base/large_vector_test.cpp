#include "base/large_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace tutti {
namespace {

constexpr size_t piece_bytes = 3 * LargePieces::kept;

TEST(LargeVector, TakesPiecesAgainWhileWorkIsUnderWay) {
  const LargePieces::Work work;
  const void* first = nullptr;
  {
    LargeVector<char> vector(piece_bytes, 'x');
    first = vector.data();
  }
  EXPECT_GE(LargePieces::free_bytes(), piece_bytes);
  const LargeVector<char> again(piece_bytes, 'y');
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(std::count(again.begin(), again.end(), 'y'), static_cast<long>(piece_bytes));
}

TEST(LargeVector, GivesMemoryBackAfterWork) {
  {
    const LargePieces::Work outer;
    {
      const LargePieces::Work inner;
      LargeVector<char>(piece_bytes, 'x').clear();
    }
    EXPECT_GT(LargePieces::free_bytes(), LargePieces::kept);
  }
  EXPECT_LE(LargePieces::free_bytes(), LargePieces::kept);
  LargeVector<char>(piece_bytes, 'x').clear();  // without work
  EXPECT_LE(LargePieces::free_bytes(), LargePieces::kept);
}

TEST(LargeVector, KeepsALittleForTheNextWork) {
  const LargePieces::Work work;
  LargeVector<char>(LargePieces::least, 'x').clear();
  const size_t before = LargePieces::free_bytes();
  ASSERT_GE(before, LargePieces::least);
  const LargeVector<char> again(LargePieces::least, 'y');
  EXPECT_EQ(LargePieces::free_bytes(), before - LargePieces::least);
}

TEST(LargeVector, ServesThreads) {
  const auto fill = [](char value) {
    const LargePieces::Work work;
    for (int round = 0; round < 50; ++round) {
      LargeVector<char> vector(LargePieces::least, value);
      vector.resize(4 * LargePieces::least, value);
      ASSERT_EQ(std::count(vector.begin(), vector.end(), value),
                static_cast<long>(4 * LargePieces::least));
    }
  };
  std::thread other(fill, 'a');
  fill('b');
  other.join();
}

}  // namespace
}  // namespace tutti
