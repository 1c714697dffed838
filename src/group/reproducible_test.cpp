// Tests TUTTI_REPRODUCIBLE: the results have the same bits in every run (run) and on every
// placement of the ranks (placement).
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "group/test_functions.h"
#include "group/test_ranks.h"

namespace tutti::group::test {
namespace {

using plan::Collective;

// The values have many magnitudes, so that almost every order of adding them gives other bits.
double value(int rank, size_t i) {
  std::minstd_rand random(
      static_cast<unsigned>(rank * 7919 + 104729 * static_cast<int>(i % 977) + 1));
  random.discard(3);
  return std::ldexp(static_cast<double>(random()) - 1e9, static_cast<int>(random() % 60) - 30);
}

std::vector<double> data_of(int rank, size_t count) {
  std::vector<double> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = value(rank, i);
  return data;
}

std::vector<double> left_fold(int ranks, size_t count) {
  std::vector<double> sum = data_of(0, count);
  for (int rank = 1; rank < ranks; ++rank)
    for (size_t i = 0; i < count; ++i) sum[i] += value(rank, i);
  return sum;
}

bool same_bits(const std::vector<double>& one, const std::vector<double>& other) {
  return one.size() == other.size() &&
         std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
}

const size_t counts[] = {1, 6, 7, 100, 256, 257, 2100, 5000, 20000};

// Compares allreduce and reduce of every count with a left fold in one loop.
void expect_left_folds(int ranks, const select::Overrides& overrides, bool oversubscribed) {
  with_groups(
      ranks, overrides, {},
      [](Group& group) {
        for (size_t count : counts) {
          const std::vector<double> expected = left_fold(group.ranks(), count);
          const std::vector<double> in = data_of(group.rank(), count);
          std::vector<double> out(count);
          ASSERT_EQ(allreduce(group, in.data(), out.data(), count, sum_of_doubles()), Code::ok)
              << group.failure();
          EXPECT_TRUE(same_bits(out, expected))
              << count << " by " << group.algorithm(Collective::allreduce, count * 8, 0);
          const int root = static_cast<int>(count) % group.ranks();
          out = in;  // in place at the root
          ASSERT_EQ(reduce(group, out.data(), group.rank() == root ? out.data() : nullptr, count,
                           sum_of_doubles(), root),
                    Code::ok);
          if (group.rank() == root) {
            EXPECT_TRUE(same_bits(out, expected)) << count << " to " << root;
          }
        }
      },
      oversubscribed);
}

class ReproducibleByPlacement : public testing::TestWithParam<int> {};

TEST_P(ReproducibleByPlacement, IsTheLeftFoldOverRanks) {
  select::Overrides overrides;
  overrides.reproducible = Reproducible::placement;
  for (size_t segment : {size_t{0}, size_t{512}, size_t{8192}}) {
    overrides.segment_bytes = segment;
    expect_left_folds(GetParam(), overrides, true);
    if (GetParam() <= 2) expect_left_folds(GetParam(), overrides, false);
  }
}

TEST_P(ReproducibleByPlacement, HoldsForEachOfItsAlgorithms) {
  select::Overrides overrides;
  for (const char* algorithm : {"flat", "all_read_all", "tiled"}) {
    overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = algorithm;
    overrides.algorithm[static_cast<size_t>(Collective::reduce)] = "flat";
    expect_left_folds(GetParam(), overrides, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ReproducibleByPlacement,
                         testing::ValuesIn(rank_counts({2, 3, 4, 5, 6, 7, 8, 9})));

// Shows that the tests above would notice another algorithm.
TEST(Reproducible, OtherAlgorithmsGiveOtherBits) {
  select::Overrides overrides;
  overrides.algorithm[static_cast<size_t>(Collective::allreduce)] = "binomial";
  with_groups(6, overrides, {}, [](Group& group) {
    const std::vector<double> in = data_of(group.rank(), 100);
    std::vector<double> out(100);
    ASSERT_EQ(allreduce(group, in.data(), out.data(), 100, sum_of_doubles()), Code::ok);
    EXPECT_FALSE(same_bits(out, left_fold(6, 100)));
  });
}

TEST(Reproducible, PlacementChoosesLeftFoldsOnly) {
  select::Overrides overrides;
  overrides.reproducible = Reproducible::placement;
  for (Collective collective : {Collective::reduce, Collective::allreduce}) {
    for (bool oversubscribed : {false, true}) {
      for (int ranks : {1, 2, 3, 8, 16, 17, 64, 4096}) {
        for (size_t bytes = 0; bytes < size_t{1} << 26; bytes = bytes * 3 + 1) {
          const std::string_view name =
              select::choose(collective, bytes, ranks, oversubscribed, overrides).algorithm;
          EXPECT_TRUE(name == "flat" || name == "all_read_all" || name == "tiled") << name;
        }
      }
    }
  }
}

TEST(Reproducible, PlacementRefusesAnotherAlgorithmByName) {
  const auto refusal = [](const char* variable, const char* algorithm) {
    try {
      overrides_of(
          parse_options({{variable, algorithm}, {"TUTTI_REPRODUCIBLE", "placement"}}, nullptr));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("TUTTI_ALGORITHM_ALLREDUCE", "nary:4"),
            "TUTTI_ALGORITHM_ALLREDUCE=nary:4 combines partial results, which "
            "TUTTI_REPRODUCIBLE=placement excludes; give flat, "
            "or leave one of the two out");
  EXPECT_EQ(refusal("TUTTI_ALGORITHM_ALLREDUCE", "tiled"), "");
  EXPECT_EQ(refusal("TUTTI_ALGORITHM_BCAST", "nary:4"), "");
}

// A tree that combines in the order of arrival combines in the plan's order if runs must repeat.
TEST(Reproducible, RunsRepeatTheOrderOfThePlan) {
  const std::string path = testing::TempDir() + "reproducible_test_" + std::to_string(getpid());
  std::filesystem::create_directories(path);
  std::ofstream(path + "/any.tree")
      << "tutti-tree 1\ncollective allreduce\nranks 4\nany_order yes\nreduce 0: 3 1 2\n";
  std::ofstream(path + "/map") << "tutti-map 1\nallreduce -> any.tree\n";
  select::Overrides overrides =
      overrides_of(parse_options({{"TUTTI_PLANS", path}, {"TUTTI_REPRODUCIBLE", "run"}}, nullptr));
  EXPECT_EQ(overrides_of(parse_options({{"TUTTI_PLANS", path}, {"TUTTI_REPRODUCIBLE", "placement"}},
                                       nullptr))
                .library,
            nullptr);
  std::filesystem::remove_all(path);
  ASSERT_NE(overrides.library, nullptr);
  with_groups(4, overrides, {}, [](Group& group) {
    for (int late = 0; late < 4; ++late) {
      for (size_t count : {size_t{1}, size_t{500}}) {
        const std::vector<double> in = data_of(group.rank(), count);
        std::vector<double> out(count), expected(count);
        for (size_t i = 0; i < count; ++i)
          expected[i] = ((value(0, i) + value(3, i)) + value(1, i)) + value(2, i);
        if (group.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ASSERT_EQ(allreduce(group, in.data(), out.data(), count, sum_of_doubles()), Code::ok)
            << group.failure();
        EXPECT_EQ(group.algorithm(Collective::allreduce, count * 8, 0), "any.tree");
        EXPECT_TRUE(same_bits(out, expected)) << count << " with rank " << late << " late";
      }
    }
  });
}

}  // namespace
}  // namespace tutti::group::test
