// The collectives without parts, on thread ranks.
#include <cstring>
#include <random>

#include "api/test_values.h"
#include "api/test_ranks.h"

using tutti::test::contribution;
using tutti::test::counts_in_turn;
using tutti::test::spawn;
using tutti::test::sum;

namespace {

class Api : public testing::TestWithParam<int> {};

const size_t counts[] = {0, 1, 2, 6, 7, 100, 2048, 2049, 5000, 40000};

TEST_P(Api, AllreduceGivesTheSumEverywhere) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    int operation = 0;
    for (size_t count : counts) {
      for (int repeat = 0; repeat < 5; ++repeat, ++operation) {
        const std::vector<int64_t> in = contribution(operation, rank, count);
        std::vector<int64_t> out(count, -1);
        ASSERT_EQ(tutti_allreduce(group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM),
                  TUTTI_OK)
            << tutti_error_message();
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(out[i], sum(operation, ranks, i)) << "count " << count << " at " << i;
      }
    }
  });
}

TEST_P(Api, AllreduceInPlace) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    int operation = 0;
    for (size_t count : counts) {
      // Every other rank is in place: each rank decides for itself.
      for (int repeat = 0; repeat < 4; ++repeat, ++operation) {
        std::vector<int64_t> in = contribution(operation, rank, count);
        std::vector<int64_t> separate(count, -1);
        std::vector<int64_t>& out = (rank + repeat) % 2 == 0 ? in : separate;
        ASSERT_EQ(tutti_allreduce(group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM),
                  TUTTI_OK)
            << tutti_error_message();
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], sum(operation, ranks, i));
      }
    }
  });
}

TEST_P(Api, BcastFromEveryRoot) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    int operation = 0;
    for (size_t count : counts) {
      for (int root = 0; root < ranks; ++root, ++operation) {
        std::vector<int64_t> data = contribution(operation, rank, count);
        ASSERT_EQ(tutti_bcast(group, data.data(), count * 8, root), TUTTI_OK)
            << tutti_error_message();
        ASSERT_EQ(data, contribution(operation, root, count)) << "root " << root;
      }
    }
  });
}

TEST_P(Api, ReduceToEveryRoot) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    int operation = 0;
    for (size_t count : counts) {
      for (int root = 0; root < ranks; ++root, ++operation) {
        std::vector<int64_t> in = contribution(operation, rank, count);
        std::vector<int64_t> separate(count, -1);
        std::vector<int64_t>& out = root % 2 == 0 ? in : separate;
        ASSERT_EQ(tutti_reduce(group, in.data(), rank == root ? out.data() : nullptr, count,
                               TUTTI_INT64, TUTTI_SUM, root),
                  TUTTI_OK)
            << tutti_error_message();
        for (size_t i = 0; rank == root && i < count; ++i)
          ASSERT_EQ(out[i], sum(operation, ranks, i)) << "root " << root;
      }
    }
  });
}

TEST_P(Api, BarrierHoldsUntilAllHaveEntered) {
  std::atomic<int> entered{0};
  spawn(GetParam(), [&](tutti_group* group, int) {
    for (int round = 1; round <= 200; ++round) {
      entered.fetch_add(1);
      ASSERT_EQ(tutti_barrier(group), TUTTI_OK) << tutti_error_message();
      ASSERT_GE(entered.load(), round * tutti_group_size(group));
      ASSERT_EQ(tutti_barrier(group), TUTTI_OK) << tutti_error_message();
    }
  });
}

// Ranks that run ahead of others (a broadcast's root, a reduction's leaves) must wait before they
// reuse a place in their rings.
TEST_P(Api, LongRunsOfOneSidedCollectives) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    for (int operation = 0; operation < 600; ++operation) {
      const size_t count = counts_in_turn[operation % 3];
      std::vector<int64_t> data = contribution(operation, rank, count);
      ASSERT_EQ(tutti_bcast(group, data.data(), count * 8, 0), TUTTI_OK) << tutti_error_message();
      ASSERT_EQ(data, contribution(operation, 0, count)) << "operation " << operation;
    }
    for (int operation = 0; operation < 600; ++operation) {
      const size_t count = counts_in_turn[operation % 3];
      const std::vector<int64_t> in = contribution(operation, rank, count);
      std::vector<int64_t> out(count);
      ASSERT_EQ(
          tutti_reduce(group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM, ranks - 1),
          TUTTI_OK);
      for (size_t i = 0; rank == ranks - 1 && i < count; ++i)
        ASSERT_EQ(out[i], sum(operation, ranks, i));
    }
  });
}

// All ranks use the same seed: collectives with random sizes and roots, in random order.
TEST_P(Api, RandomMixture) {
  spawn(GetParam(), [](tutti_group* group, int rank) {
    const int ranks = tutti_group_size(group);
    std::mt19937 random(12345);
    for (int operation = 0; operation < 400; ++operation) {
      const size_t count = random() % 4 == 0 ? random() % 9000 : random() % 8;
      const int root = static_cast<int>(random() % static_cast<unsigned>(ranks));
      std::vector<int64_t> in = contribution(operation, rank, count);
      std::vector<int64_t> out(count);
      switch (random() % 4) {
        case 0:
          ASSERT_EQ(tutti_allreduce(group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM),
                    TUTTI_OK);
          for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], sum(operation, ranks, i));
          break;
        case 1:
          ASSERT_EQ(tutti_bcast(group, in.data(), count * 8, root), TUTTI_OK);
          ASSERT_EQ(in, contribution(operation, root, count));
          break;
        case 2:
          ASSERT_EQ(tutti_reduce(group, in.data(), out.data(), count, TUTTI_INT64, TUTTI_SUM, root),
                    TUTTI_OK);
          for (size_t i = 0; rank == root && i < count; ++i)
            ASSERT_EQ(out[i], sum(operation, ranks, i));
          break;
        default: ASSERT_EQ(tutti_barrier(group), TUTTI_OK);
      }
    }
  });
}

// Sums of floating-point numbers depend on their order, so equal bits at all ranks show that all
// evaluate one expression.
TEST_P(Api, EqualBitsEverywhere) {
  const int ranks = GetParam();
  std::vector<std::vector<double>> results(static_cast<size_t>(ranks));
  spawn(ranks, [&](tutti_group* group, int rank) {
    std::vector<double> in(3000);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = 1.0 / static_cast<double>(1 + i * 7 + static_cast<size_t>(rank) * 13);
    results[static_cast<size_t>(rank)].resize(in.size());
    ASSERT_EQ(tutti_allreduce(group, in.data(), results[static_cast<size_t>(rank)].data(),
                              in.size(), TUTTI_FLOAT64, TUTTI_SUM),
              TUTTI_OK);
  });
  for (const auto& result : results)
    ASSERT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * 8), 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Api, testing::Values(1, 2, 3, 4, 5, 7, 8, 13),
                         testing::PrintToStringParamName());

}  // namespace
