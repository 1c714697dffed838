// Tests the kinds of calls that tutti-bench measures, the order in which they alternate, and the
// patterns of their elements.
extern "C" {
#include "kinds.h"
#include "order.h"
#include "pattern.h"
}

#include <cstddef>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

struct Parsed {
  bool good;
  std::vector<std::string> words;
  std::string message;
};

Parsed parsed(const char* words, int ranks) {
  BenchKinds kinds{};
  char message[256] = "";
  Parsed result{kinds_parse(&kinds, words, ranks, message), {}, message};
  for (int i = 0; i < kinds.count; ++i) {
    char word[BENCH_KIND_WORD];
    kind_word(&kinds.kinds[i], word);
    result.words.emplace_back(word);
  }
  std::free(kinds.kinds);
  return result;
}

std::vector<int> order(int kinds, int rounds, std::uint64_t seed) {
  std::vector<int> result(static_cast<std::size_t>(kinds) * static_cast<std::size_t>(rounds));
  bench_order(result.data(), kinds, rounds, seed);
  return result;
}

TEST(Kinds, AreReadAndWrittenInOneForm) {
  const Parsed list = parsed(
      "allreduce:4:uint32:dup,bcast:4096:1,bcast:4K:double,barrier,scan:1M,barrier:dup,"
      "gather:8:persistent:2,barrier:nonblocking:dup,alltoallw:8:blocking,gatherv:8:heavy:dup,"
      "alltoallv:8:ramp",
      4);
  ASSERT_TRUE(list.good) << list.message;
  EXPECT_EQ(list.words,
            (std::vector<std::string>{"allreduce:4:uint32:dup", "bcast:4K:1", "bcast:4K:0",
                                      "barrier", "scan:1M", "barrier:dup", "gather:8:2:persistent",
                                      "barrier:dup:nonblocking", "alltoallw:8",
                                      "gatherv:8:0:dup:heavy", "alltoallv:8"}));
  for (const std::string& word : list.words)
    EXPECT_EQ(parsed(word.c_str(), 4).words, std::vector<std::string>{word});
}

TEST(Kinds, BlockingOnesAreRepeatedInEachForm) {
  BenchKinds kinds{};
  char message[256];
  ASSERT_TRUE(kinds_parse(&kinds, "barrier,bcast:8:nonblocking,bcast:8", 4, message));
  const WordList forms{{BENCH_BLOCKING, BENCH_NONBLOCKING}, 2};
  ASSERT_TRUE(kinds_in_forms(&kinds, &forms));
  std::vector<std::string> words;
  for (int i = 0; i < kinds.count; ++i) {
    char word[BENCH_KIND_WORD];
    kind_word(&kinds.kinds[i], word);
    words.emplace_back(word);
  }
  std::free(kinds.kinds);
  EXPECT_EQ(words, (std::vector<std::string>{"barrier", "barrier:nonblocking",
                                             "bcast:8:0:nonblocking", "bcast:8:0"}));
}

TEST(Kinds, ARootBeyondTheLastRankCountsOnFromTheFirstAndEachKindIsThereOnce) {
  EXPECT_EQ(parsed("bcast:8:0,bcast:8:1,bcast:8:2", 2).words,
            (std::vector<std::string>{"bcast:8:0", "bcast:8:1"}));
}

TEST(Kinds, ProgramsStandsForEighteenKindsOnTwoRanksAndMore) {
  for (const int ranks : {2, 3, 64}) {
    const Parsed list = parsed("programs", ranks);
    EXPECT_EQ(list.words.size(), 18u) << ranks;
    EXPECT_EQ(std::count_if(list.words.begin(), list.words.end(),
                            [](const std::string& word) { return word.find("dup") != word.npos; }),
              1);
    std::map<std::string, int> roots;
    for (const std::string& word : list.words)
      if (word.starts_with("bcast")) ++roots[word.substr(word.rfind(':'))];
    EXPECT_EQ(roots.size(), ranks == 2 ? 2u : 3u);
  }
}

TEST(Kinds, WhatIsNoKindIsRefusedByName) {
  for (const char* word :
       {"", "alltoallx:8", "bcast:8:blocked", "bcast", "bcast:", "bcast:0", "bcast:8:", "bcast:8:x",
        "bcast:12", "allreduce:8:1", "bcast:6:uint32", "bcast:2048M", "bcast:99999999999",
        "barrier:8", "bcast:8:-1", "bcast:4k", "gather:8:heavy", "gatherv:8:long"}) {
    const Parsed list = parsed(word, 2);
    EXPECT_FALSE(list.good) << word;
    EXPECT_NE(list.message.find("'" + std::string(word) + "'"), std::string::npos) << list.message;
    EXPECT_FALSE(parsed(("scan:8," + std::string(word)).c_str(), 2).good) << word;
  }
}

TEST(Order, HasEachKindOnceInEveryRound) {
  const int kinds = 18, rounds = 50;
  const std::vector<int> all = order(kinds, rounds, 7);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int> one(all.begin() + round * kinds, all.begin() + (round + 1) * kinds);
    std::sort(one.begin(), one.end());
    for (int kind = 0; kind < kinds; ++kind)
      ASSERT_EQ(one[static_cast<std::size_t>(kind)], kind) << round;
  }
}

TEST(Order, FollowsFromTheSeedAndNothingElse) {
  EXPECT_EQ(order(18, 20, 3), order(18, 20, 3));
  EXPECT_NE(order(18, 20, 3), order(18, 20, 4));
  EXPECT_NE(order(18, 20, 0), order(18, 20, 1));
  const std::vector<int> longer = order(18, 30, 3), shorter = order(18, 20, 3);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  EXPECT_EQ(order(1, 3, 9), (std::vector<int>{0, 0, 0}));
}

TEST(Order, EveryKindFollowsEveryOther) {
  const int kinds = 6;
  const std::vector<int> all = order(kinds, 1000, 1);
  std::map<std::pair<int, int>, int> seen;
  for (std::size_t i = 1; i < all.size(); ++i) ++seen[{all[i - 1], all[i]}];
  for (int one = 0; one < kinds; ++one)
    for (int other = 0; other < kinds; ++other)
      EXPECT_TRUE(one == other || seen[std::make_pair(one, other)] > 100) << one << ' ' << other;
}

TEST(Pattern, IntegersHoldTheRemaindersOfWhatDoublesHold) {
  const PatternPart part = pattern_part(5000, pattern_weight(3));
  std::vector<std::uint32_t> integers(700);
  std::vector<double> doubles(700);
  pattern_fill(integers.data(), PATTERN_UINT32, integers.size(), 9, part);
  pattern_fill(doubles.data(), PATTERN_DOUBLE, doubles.size(), 9, part);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    ASSERT_EQ(integers[i], static_cast<std::uint32_t>(static_cast<std::uint64_t>(doubles[i])));
    ASSERT_EQ(pattern_value(i, PATTERN_UINT32, 9, part), integers[i]);
  }
  EXPECT_EQ(pattern_first_wrong(integers.data(), PATTERN_UINT32, integers.size(), 9, part),
            integers.size());
  integers[600] += 1;
  EXPECT_EQ(pattern_first_wrong(integers.data(), PATTERN_UINT32, integers.size(), 9, part), 600u);
}

TEST(Pattern, SumsOfIntegersWrapToThePatternOfTheSumOfWeights) {
  const int ranks = 2000;
  std::vector<std::uint32_t> sum(40), mine(40);
  for (int rank = 0; rank < ranks; ++rank) {
    pattern_fill(mine.data(), PATTERN_UINT32, mine.size(), 4,
                 pattern_part(1, pattern_weight(rank)));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mine[i];
  }
  EXPECT_EQ(pattern_first_wrong(sum.data(), PATTERN_UINT32, sum.size(), 4,
                                pattern_part(1, pattern_weight_sum(ranks))),
            sum.size());
}

}  // namespace
