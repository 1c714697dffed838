#include "base/short_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

namespace tutti {
namespace {

using Short = ShortVector<int, 2>;

Short counted(int count) {
  Short values;
  for (int i = 0; i < count; ++i) values.push_back(i);
  return values;
}

void expect_counted(const Short& values, int count) {
  ASSERT_EQ(values.size(), static_cast<size_t>(count));
  EXPECT_EQ(values.empty(), count == 0);
  for (int i = 0; i < count; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i);
}

class Counts : public testing::TestWithParam<int> {};

TEST_P(Counts, AreKeptByEveryKindOfCopy) {
  const int count = GetParam();
  Short values = counted(count);
  expect_counted(values, count);
  Short copy = values;
  expect_counted(copy, count);
  Short moved = std::move(copy);
  expect_counted(moved, count);
  for (const int other : {0, 1, 2, 3, 9}) {
    Short assigned = counted(other);
    assigned = values;
    expect_counted(assigned, count);
    Short taken = counted(other);
    taken = std::move(assigned);
    expect_counted(taken, count);
  }
  std::vector<int> same(static_cast<size_t>(count));
  std::iota(same.begin(), same.end(), 0);
  EXPECT_EQ(Short(same), values);
}

TEST_P(Counts, GrowAndShrink) {
  const int count = GetParam();
  Short values = counted(count);
  values.push_back(count);
  expect_counted(values, count + 1);
  EXPECT_EQ(values.back(), count);
  EXPECT_FALSE(values == counted(count));
  values.pop_back();
  EXPECT_EQ(values, counted(count));
  values.resize(static_cast<size_t>(count) + 3);
  EXPECT_EQ(values.back(), 0);
  values.resize(static_cast<size_t>(count));
  expect_counted(values, count);
  values.clear();
  expect_counted(values, 0);
}

INSTANTIATE_TEST_SUITE_P(Short, Counts, testing::Values(0, 1, 2, 3, 4, 5, 100));

TEST(ShortVector, HasTheValuesOfAList) {
  const Short three{0, 1, 2};
  expect_counted(three, 3);
  EXPECT_EQ(three.front(), 0);
}

}  // namespace
}  // namespace tutti
