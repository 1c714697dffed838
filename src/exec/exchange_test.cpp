// The exchange of two ranks: which programs are one, and that it gives what the loop over steps
// gives.
#include "exec/exchange.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "algo/algo.h"
#include "exec/test_plan_ranks.h"

namespace tutti::exec {
namespace {

using plan::Carrier;
using plan::Collective;

constexpr size_t few_lines = shm::smallest_area;  // so that the ring wraps around often

bool exchanges(const PlanRanks& ranks, int rank) {
  return ranks.program(rank).start.exchange.peer >= 0;
}

bool is_exchange(Collective collective, const char* algorithm, int ranks, Carrier carrier) {
  PlanRanks all(algo::generate(collective, algorithm, ranks, 0), carrier, 65536, WaitStyle::spin);
  for (int rank = 1; rank < ranks; ++rank) {
    EXPECT_EQ(exchanges(all, rank), exchanges(all, 0)) << algorithm << " rank " << rank;
  }
  return exchanges(all, 0);
}

TEST(Exchange, IsTheAllreduceAndTheBarrierOfTwo) {
  EXPECT_TRUE(is_exchange(Collective::allreduce, "all_read_all", 2, Carrier::line));
  EXPECT_TRUE(is_exchange(Collective::barrier, "all_read_all", 2, Carrier::line));
  EXPECT_FALSE(is_exchange(Collective::allreduce, "all_read_all", 2, Carrier::slot));
  EXPECT_FALSE(is_exchange(Collective::allreduce, "all_read_all", 3, Carrier::line));
  EXPECT_FALSE(is_exchange(Collective::allreduce, "flat", 2, Carrier::line));
  EXPECT_FALSE(is_exchange(Collective::allgather, "all_read_all", 2, Carrier::line));
  EXPECT_FALSE(is_exchange(Collective::scan, "all_read_all", 2, Carrier::line));
}

// 31 a + b: neither commutes nor may be evaluated the other way round.
void joined(void*, const void* in, void* inout, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    static_cast<uint32_t*>(inout)[i] =
        static_cast<const uint32_t*>(in)[i] * 31 + static_cast<uint32_t*>(inout)[i];
  }
}
const Combine by_function{nullptr, joined, nullptr, sizeof(uint32_t), false, needs_rank_order};
const Combine by_kernel{kernels::find_reduce(kernels::Type::uint32, kernels::Op::sum),
                        nullptr,
                        nullptr,
                        sizeof(uint32_t),
                        true,
                        needs_nothing};

uint32_t given(int rank, uint32_t round, size_t i) {
  return round * 7919 + static_cast<uint32_t>(rank * 1000 + i);
}

class Exchanges : public testing::TestWithParam<WaitStyle> {};

// Every length that a line holds, in place or not, by rank; nobody waits for anybody but in the
// exchange.
TEST_P(Exchanges, GiveEveryRankTheResult) {
  PlanRanks ranks(algo::generate(Collective::allreduce, "all_read_all", 2, 0), Carrier::line,
                  few_lines, GetParam());
  ASSERT_TRUE(exchanges(ranks, 0));
  constexpr uint32_t rounds = 800;
  ranks.spawn([&](int rank) {
    for (uint32_t round = 0; round < rounds; ++round) {
      const Combine& how = round % 3 == 0 ? by_function : by_kernel;
      const size_t count = round % (shm::line_payload / sizeof(uint32_t)) + 1;
      const bool in_place = (round >> rank) % 2 == 0;
      std::array<uint32_t, shm::line_payload / sizeof(uint32_t) + 1> in{}, out{};
      for (size_t i = 0; i < count; ++i) in[i] = given(rank, round, i);
      uint32_t* const result = in_place ? in.data() : out.data();
      result[count] = 0xDEAD;
      ASSERT_EQ(ranks.run(rank, in.data(), result, count, how, 0, 0), Code::ok)
          << ranks.channel(rank).failure();
      for (size_t i = 0; i < count; ++i) {
        const uint32_t first = given(0, round, i), second = given(1, round, i);
        ASSERT_EQ(result[i], how.kernel == nullptr ? first * 31 + second : first + second)
            << "round " << round;
      }
      ASSERT_EQ(result[count], 0xDEADu);
    }
  });
}

// Data that a rank wrote before a barrier, without any atomic operation, is read by the other rank
// after it.
TEST_P(Exchanges, MakeBarriers) {
  PlanRanks ranks(algo::generate(Collective::barrier, "all_read_all", 2, 0), Carrier::line,
                  few_lines, GetParam());
  ASSERT_TRUE(exchanges(ranks, 0));
  const Combine none{};
  std::array<uint32_t, 2> shared{};
  ranks.spawn([&](int rank) {
    for (uint32_t round = 1; round <= 400; ++round) {
      shared[static_cast<size_t>(rank)] = round;
      ASSERT_EQ(ranks.run(rank, nullptr, nullptr, 0, none, 0, 0), Code::ok);
      ASSERT_EQ(shared[static_cast<size_t>(1 - rank)], round);
      ASSERT_EQ(ranks.run(rank, nullptr, nullptr, 0, none, 0, 0), Code::ok);
    }
  });
}

TEST_P(Exchanges, FindCallsThatDoNotMatch) {
  PlanRanks ranks(algo::generate(Collective::allreduce, "all_read_all", 2, 0), Carrier::line,
                  few_lines, GetParam());
  ranks.spawn([&](int rank) {
    std::array<uint32_t, 2> in{}, out{};
    const size_t count = rank == 0 ? 1 : 2;
    EXPECT_EQ(ranks.run(rank, in.data(), out.data(), count, by_kernel, 0, 0), Code::mismatch);
    EXPECT_NE(ranks.channel(rank).failure().find("allreduce of 8 bytes"), std::string::npos)
        << ranks.channel(rank).failure();
  });
}

INSTANTIATE_TEST_SUITE_P(Styles, Exchanges, testing::Values(WaitStyle::spin, WaitStyle::yield));

}  // namespace
}  // namespace tutti::exec
