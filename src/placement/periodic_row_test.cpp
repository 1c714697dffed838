#include "placement/periodic_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

namespace tutti::placement {
namespace {

constexpr size_t most = 1 << 20;

std::vector<int32_t> row_of(int32_t ranks, const std::function<int32_t(int32_t)>& number) {
  std::vector<int32_t> row;
  for (int32_t rank = 0; rank < ranks; ++rank) row.push_back(number(rank));
  return row;
}

// Checks a row against the numbers that it was made of.
void check_row(const std::vector<int32_t>& numbers) {
  const PeriodicRow row(numbers);
  ASSERT_EQ(row.size(), numbers.size());
  ASSERT_EQ(row.values(), numbers) << row.text();
  for (size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(row[i], numbers[i]) << i << " of " << row.text();
  const std::optional<PeriodicRow> again = PeriodicRow::read(row.text(), most);
  ASSERT_TRUE(again) << row.text();
  ASSERT_EQ(*again, row) << row.text();
  ASSERT_EQ(again->text(), row.text());
}

TEST(PeriodicRow, ShortRowsAreWrittenOut) {
  EXPECT_EQ(PeriodicRow().text(), "");
  EXPECT_TRUE(PeriodicRow().empty());
  EXPECT_TRUE(PeriodicRow().values().empty());
  EXPECT_EQ(PeriodicRow({7}).text(), "7");
  EXPECT_EQ(PeriodicRow({0, 0, 0, 0, 1, 1, 1, 1}).text(), "0,0,0,0,1,1,1,1");
  EXPECT_EQ(PeriodicRow(std::vector<int32_t>(32, -3)).text().substr(0, 6), "-3,-3,");
  EXPECT_EQ(PeriodicRow({0, 1}), PeriodicRow({0, 1}));
  EXPECT_FALSE(PeriodicRow({0, 1}) == PeriodicRow({0, 2}));
  EXPECT_FALSE(PeriodicRow({0, 0}) == PeriodicRow({0}));
}

TEST(PeriodicRow, RegularRowsKeepOnePeriod) {
  EXPECT_EQ(PeriodicRow(std::vector<int32_t>(33, 5)).text(), "(5)*33");
  EXPECT_EQ(PeriodicRow(row_of(4096, [](int32_t rank) { return rank / 8; })).text(),
            "(0,0,0,0,0,0,0,0)*4096+1");
  EXPECT_EQ(PeriodicRow(row_of(4096, [](int32_t rank) { return rank / 128; })).text(),
            "((0)*128)*4096+1");
  EXPECT_EQ(PeriodicRow(row_of(4096, [](int32_t rank) { return rank % 512; })).text(),
            "((0)*512+1)*4096");
  EXPECT_EQ(PeriodicRow(row_of(4096, [](int32_t rank) { return -rank; })).text(), "(0)*4096-1");
  // The last node has fewer ranks, or the first.
  EXPECT_EQ(PeriodicRow(row_of(4093, [](int32_t rank) { return rank / 8; })).text(),
            "(0,0,0,0,0,0,0,0)*4093+1");
  EXPECT_EQ(PeriodicRow(row_of(4092, [](int32_t rank) { return (rank + 4) / 8; })).text(),
            "(0,0,0,0,1,1,1,1)*4092+1");
}

TEST(PeriodicRow, RegularRowsTakeAsMuchMemoryAsOneNode) {
  for (const int32_t cores : {2, 8, 24, 64}) {
    // Up to twice 32 numbers may be kept as they are.
    const size_t bound = 280 + 4 * static_cast<size_t>(cores);
    for (const int32_t ranks : {64, 256, 1024, 4096, 8192}) {
      const int32_t nodes = std::max(ranks / cores, 1);
      const std::vector<std::function<int32_t(int32_t)>> ways = {
          [&](int32_t rank) { return rank / cores; },          // node after node
          [&](int32_t rank) { return rank / cores * cores; },  // a node's number is its first rank
          [&](int32_t rank) { return rank % nodes; },          // each on the next node
          [&](int32_t rank) { return rank * 2 / cores; },      // halves of nodes
          [&](int32_t rank) {                                  // halves, each on the next node
            return rank % nodes + rank / nodes * 2 / cores * nodes;
          },
          [&](int32_t rank) { return rank / cores * 2 + rank % 2; },  // dealt to halves
      };
      for (const auto& way : ways) {
        const std::vector<int32_t> numbers = row_of(ranks, way);
        check_row(numbers);
        EXPECT_LE(PeriodicRow(numbers).bytes(), bound)
            << ranks << " ranks: " << PeriodicRow(numbers).text();
      }
    }
  }
}

TEST(PeriodicRow, OtherRowsKeepAllNumbers) {
  std::mt19937 random(7);
  std::vector<int32_t> numbers;
  for (int i = 0; i < 4096; ++i) numbers.push_back(static_cast<int32_t>(random()));
  check_row(numbers);
  EXPECT_EQ(PeriodicRow(numbers).bytes(), numbers.size() * sizeof(int32_t));
  // One node in the middle has a rank fewer.
  std::vector<int32_t> odd = row_of(4096, [](int32_t rank) { return rank / 8; });
  odd.erase(odd.begin() + 2048);
  check_row(odd);
  EXPECT_EQ(PeriodicRow(odd).bytes(), odd.size() * sizeof(int32_t));
}

TEST(PeriodicRow, ExtremesWrap) {
  constexpr int32_t low = std::numeric_limits<int32_t>::min(),
                    high = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(i % 2 == 0 ? low : high);
  check_row(numbers);
  numbers = row_of(100, [](int32_t i) {
    return static_cast<int32_t>(uint32_t{0x40000000} * static_cast<uint32_t>(i));
  });
  check_row(numbers);
}

// A row that repeats a short row or, up to `depth` times, a row that is made in the same way. Every
// third row is then changed in one place.
std::vector<int32_t> random_row(std::mt19937& random, int depth) {
  const auto below = [&](uint32_t bound) { return static_cast<int32_t>(random() % bound); };
  std::vector<int32_t> row{below(5)};
  if (depth > 0) row = random_row(random, depth - 1);
  for (int32_t more = below(8); depth == 0 && more > 0; --more) row.push_back(below(4));
  const size_t period = row.size(),
               length = period * static_cast<size_t>(1 + below(12)) + random() % period;
  const int32_t step = below(4) - 1;
  while (row.size() < length) row.push_back(row[row.size() - period] + step);
  if (below(3) == 0) row[random() % row.size()] += 1 + below(3);
  return row;
}

TEST(PeriodicRow, RandomRowsComeBack) {
  std::mt19937 random(42);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int32_t> numbers = random_row(random, i % 3);
    check_row(numbers);
    // If a number differs, the row and its text differ.
    std::vector<int32_t> other = numbers;
    other[random() % other.size()] += 1;
    EXPECT_NE(PeriodicRow(other).text(), PeriodicRow(numbers).text());
    if (HasFatalFailure()) return;
  }
}

TEST(PeriodicRow, ReadsWhatPeopleWrite) {
  const auto values = [](std::string_view text) {
    return PeriodicRow::read(text, most).value().values();
  };
  EXPECT_EQ(values("1,2,-3"), (std::vector<int32_t>{1, 2, -3}));
  EXPECT_EQ(values("(1,2)*5+10"), (std::vector<int32_t>{1, 2, 11, 12, 21}));
  EXPECT_EQ(values("((0,5)*3-1)*6"), (std::vector<int32_t>{0, 5, -1, 0, 5, -1}));
  EXPECT_EQ(values("(4,5)*2"), (std::vector<int32_t>{4, 5}));
  EXPECT_TRUE(values("").empty());
  for (const char* broken : {",",           "1,",
                             ",1",          "1,,2",
                             "(",           "()",
                             "()*3",        "(1)",
                             "(1)*",        "(1)*+1",
                             "(1)*3+",      "(1)*3+-1",
                             "(1)*3-",      "(1,2)*1",
                             "1 ",          " 1",
                             "1x",          "(1)*-3",
                             "(1)3",        "1)",
                             "99999999999", "(1)*99999999999",
                             "(1)*2000000", "0x1",
                             "+1"}) {
    EXPECT_FALSE(PeriodicRow::read(broken, most)) << broken;
  }
  EXPECT_FALSE(PeriodicRow::read("1,2,3", 2));
  EXPECT_FALSE(PeriodicRow::read("((1)*1000)*1000000,1", most));
  EXPECT_FALSE(PeriodicRow::read(std::string(100, '('), most));
}

TEST(PeriodicRow, NoTextReadsOutOfBounds) {
  std::mt19937 random(3);
  const std::string letters = "(()))*+-,,0123456789";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? "((0,0,1)*12+2)*40-1" : "";
    for (int more = 0; more < 8; ++more) {
      const auto at = static_cast<std::ptrdiff_t>(random() % (text.size() + 1));
      text.insert(text.begin() + at, letters[random() % letters.size()]);
    }
    if (const std::optional<PeriodicRow> read = PeriodicRow::read(text, 5000))
      check_row(read->values());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tutti::placement
