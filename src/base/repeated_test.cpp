#include "base/repeated.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

namespace tutti {
namespace {

constexpr size_t most = 1 << 20;

std::vector<int32_t> row_of(int32_t ranks, const std::function<int32_t(int32_t)>& number) {
  std::vector<int32_t> row;
  for (int32_t rank = 0; rank < ranks; ++rank) row.push_back(number(rank));
  return row;
}

// Holds a row against the numbers that it was made of.
void hold(const std::vector<int32_t>& numbers) {
  const Repeated row(numbers);
  ASSERT_EQ(row.size(), numbers.size());
  ASSERT_EQ(row.values(), numbers) << row.text();
  for (size_t i = 0; i < numbers.size(); ++i)
    ASSERT_EQ(row[i], numbers[i]) << i << " of " << row.text();
  const std::optional<Repeated> again = Repeated::read(row.text(), most);
  ASSERT_TRUE(again) << row.text();
  ASSERT_EQ(*again, row) << row.text();
  ASSERT_EQ(again->text(), row.text());
}

TEST(Repeated, ShortRowsStandAsTheyAre) {
  EXPECT_EQ(Repeated().text(), "");
  EXPECT_TRUE(Repeated().empty());
  EXPECT_TRUE(Repeated().values().empty());
  EXPECT_EQ(Repeated({7}).text(), "7");
  EXPECT_EQ(Repeated({0, 0, 0, 0, 1, 1, 1, 1}).text(), "0,0,0,0,1,1,1,1");
  EXPECT_EQ(Repeated(std::vector<int32_t>(32, -3)).text().substr(0, 6), "-3,-3,");
  EXPECT_EQ(Repeated({0, 1}), Repeated({0, 1}));
  EXPECT_FALSE(Repeated({0, 1}) == Repeated({0, 2}));
  EXPECT_FALSE(Repeated({0, 0}) == Repeated({0}));
}

TEST(Repeated, WhereRanksLie) {
  EXPECT_EQ(Repeated(std::vector<int32_t>(33, 5)).text(), "(5)*33");
  EXPECT_EQ(Repeated(row_of(4096, [](int32_t rank) { return rank / 8; })).text(),
            "(0,0,0,0,0,0,0,0)*4096+1");
  EXPECT_EQ(Repeated(row_of(4096, [](int32_t rank) { return rank / 128; })).text(),
            "((0)*128)*4096+1");
  EXPECT_EQ(Repeated(row_of(4096, [](int32_t rank) { return rank % 512; })).text(),
            "((0)*512+1)*4096");
  EXPECT_EQ(Repeated(row_of(4096, [](int32_t rank) { return -rank; })).text(), "(0)*4096-1");
  // The last node has fewer, and so has the first.
  EXPECT_EQ(Repeated(row_of(4093, [](int32_t rank) { return rank / 8; })).text(),
            "(0,0,0,0,0,0,0,0)*4093+1");
  EXPECT_EQ(Repeated(row_of(4092, [](int32_t rank) { return (rank + 4) / 8; })).text(),
            "(0,0,0,0,1,1,1,1)*4092+1");
}

// What a rank keeps does not grow with the ranks, whichever way they lie; a node that differs is a
// piece more.
TEST(Repeated, TakesWhatOneNodeDoes) {
  for (const int32_t cores : {2, 8, 24, 64}) {
    // Up to twice 32 numbers may stand as they are.
    const size_t bound = 280 + 4 * static_cast<size_t>(cores);
    for (const int32_t ranks : {64, 256, 1024, 4096, 8192}) {
      const int32_t nodes = std::max(ranks / cores, 1);
      const std::vector<std::function<int32_t(int32_t)>> ways = {
          [&](int32_t rank) { return rank / cores; },          // node after node
          [&](int32_t rank) { return rank / cores * cores; },  // by its first rank
          [&](int32_t rank) { return rank % nodes; },          // on the next node each
          [&](int32_t rank) { return rank * 2 / cores; },      // halves of nodes
          [&](int32_t rank) {
            return rank % nodes + rank / nodes * 2 / cores * nodes;
          },                                                          // and on the next node each
          [&](int32_t rank) { return rank / cores * 2 + rank % 2; },  // dealt out to halves
          [&](int32_t rank) { return rank < ranks / 3 ? rank / cores : rank % nodes; },
      };
      for (const auto& way : ways) {
        const std::vector<int32_t> numbers = row_of(ranks, way);
        hold(numbers);
        EXPECT_LE(Repeated(numbers).bytes(), bound)
            << ranks << " ranks: " << Repeated(numbers).text();
      }
      std::vector<int32_t> odd = row_of(ranks, [&](int32_t rank) { return rank / cores; });
      odd.erase(odd.begin() + ranks / 2);
      hold(odd);
      EXPECT_LE(Repeated(odd).bytes(), 3 * bound) << Repeated(odd).text();
      odd.insert(odd.begin(), {-7, 90, -7});
      hold(odd);
      EXPECT_LE(Repeated(odd).bytes(), 4 * bound) << Repeated(odd).text();
    }
  }
}

TEST(Repeated, NumbersThatDoNotRepeatAreKept) {
  std::mt19937 random(7);
  std::vector<int32_t> numbers;
  for (int i = 0; i < 4096; ++i) numbers.push_back(static_cast<int32_t>(random()));
  hold(numbers);
  EXPECT_LE(Repeated(numbers).bytes(), numbers.size() * 4 + 64);
  // Every node another size: a piece each, which is still fewer bytes than numbers have.
  std::vector<int32_t> sizes;
  for (int32_t node = 0; node < 40; ++node)
    sizes.insert(sizes.end(), static_cast<size_t>(40 + random() % 40), node);
  hold(sizes);
  EXPECT_LE(Repeated(sizes).bytes(), sizes.size() * 2);
}

TEST(Repeated, ExtremesWrap) {
  constexpr int32_t low = std::numeric_limits<int32_t>::min(),
                    high = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(i % 2 == 0 ? low : high);
  hold(numbers);
  numbers = row_of(100, [](int32_t i) {
    return static_cast<int32_t>(uint32_t{0x40000000} * static_cast<uint32_t>(i));
  });
  hold(numbers);
}

// Rows put together from what repeats and what does not, up to heads of heads.
std::vector<int32_t> random_row(std::mt19937& random, int depth) {
  const auto below = [&](uint32_t bound) { return static_cast<int32_t>(random() % bound); };
  std::vector<int32_t> row;
  for (int32_t piece = 0, pieces = 1 + below(3); piece < pieces; ++piece) {
    std::vector<int32_t> head{below(5)};
    if (depth > 0 && below(3) > 0) head = random_row(random, depth - 1);
    for (int32_t more = below(8); depth == 0 && more > 0; --more) head.push_back(below(4));
    const size_t start = row.size(),
                 length = head.size() * static_cast<size_t>(1 + below(12)) + random() % head.size();
    const int32_t step = below(4) - 1;
    row.insert(row.end(), head.begin(), head.end());
    for (size_t at = start; row.size() < start + length; ++at) row.push_back(row[at] + step);
  }
  return row;
}

TEST(Repeated, RandomRowsComeBack) {
  std::mt19937 random(42);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int32_t> numbers = random_row(random, i % 3);
    hold(numbers);
    // One number more is another row, and another text.
    std::vector<int32_t> other = numbers;
    other[random() % other.size()] += 1;
    EXPECT_NE(Repeated(other).text(), Repeated(numbers).text());
    if (HasFatalFailure()) return;
  }
}

TEST(Repeated, ReadsWhatPeopleWrite) {
  const auto values = [](std::string_view text) {
    return Repeated::read(text, most).value().values();
  };
  EXPECT_EQ(values("1,2,-3"), (std::vector<int32_t>{1, 2, -3}));
  EXPECT_EQ(values("(0)*3,7,(1,2)*5+10"), (std::vector<int32_t>{0, 0, 0, 7, 1, 2, 11, 12, 21}));
  EXPECT_EQ(values("((0)*2,5)*6-1"), (std::vector<int32_t>{0, 0, 5, -1, -1, 4}));
  EXPECT_EQ(values("(4,5)*2"), (std::vector<int32_t>{4, 5}));
  EXPECT_TRUE(values("").empty());
  for (const char* broken :
       {",",
        "1,",
        ",1",
        "1,,2",
        "(",
        "()",
        "()*3",
        "(1)",
        "(1)*",
        "(1)*+1",
        "(1)*3+",
        "(1)*3+-1",
        "(1)*3-",
        "(1,2)*1",
        "1 ",
        " 1",
        "1x",
        "(1)*-3",
        "(1)3",
        "1)",
        "99999999999",
        "(1)*99999999999",
        "(1)*2000000",
        "0x1",
        "+1",
        "(((((((((((((((((((1)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2)*2"}) {
    EXPECT_FALSE(Repeated::read(broken, most)) << broken;
  }
  EXPECT_FALSE(Repeated::read("1,2,3", 2));
  EXPECT_FALSE(Repeated::read("((1)*1000)*1000000,1", most - 1000000));
}

TEST(Repeated, NoTextReadsOutOfBounds) {
  std::mt19937 random(3);
  const std::string letters = "(()))*+-,,0123456789";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? "(0,0,1)*12+2,((3)*4-1)*8" : "";
    for (int more = 0; more < 8; ++more) {
      const auto at = static_cast<std::ptrdiff_t>(random() % (text.size() + 1));
      text.insert(text.begin() + at, letters[random() % letters.size()]);
    }
    if (const std::optional<Repeated> read = Repeated::read(text, 5000)) hold(read->values());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tutti
