// Ranks that tell each other what they pass to a call.
#include "exec/passed.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include "algo/algo.h"
#include "exec/test_plan_ranks.h"

namespace tutti::exec {
namespace {

using plan::Carrier;
using plan::Collective;

const Combine sums{kernels::find_reduce(kernels::Type::uint32, kernels::Op::sum),
                   nullptr,
                   nullptr,
                   sizeof(uint32_t),
                   true,
                   needs_nothing};

const uint64_t barrier = call_signature(Collective::barrier, 0, 0);

plan::Plan allreduce(int ranks) {
  return algo::generate(Collective::allreduce, "all_read_all", ranks, 0);
}

class Told : public testing::TestWithParam<WaitStyle> {};

TEST_P(Told, EachRankReadsWhatAllPassToThisCall) {
  constexpr int ranks = 3;
  PlanRanks all(allreduce(ranks), Carrier::line, shm::smallest_area, GetParam());
  const auto passed = [](int rank, uint64_t round) {
    return Passed{round, static_cast<uint64_t>(rank), round * static_cast<uint64_t>(rank)};
  };
  all.spawn([&](int rank) {
    Channel& channel = all.channel(rank);
    for (uint64_t round = 0; round < 60; ++round) {
      channel.tell(passed(rank, round), rank == 1 && round % 2 == 0);
      ASSERT_EQ(channel.await_told(barrier), Code::ok);
      for (int other = 0; other < ranks; ++other)
        ASSERT_EQ(channel.told_by(other), passed(other, round));
      ASSERT_FALSE(channel.tell_alike());
      ASSERT_EQ(channel.any_runs_at_once(), round % 2 == 0);
    }
  });
}

// One operation of one rank, whose signature has a number.
Code run(PlanRanks& all, int rank, const std::vector<uint32_t>& in, std::vector<uint32_t>* out,
         uint32_t number) {
  const size_t bytes = in.size() * sizeof(uint32_t);
  const uint64_t call = with_number(call_signature(Collective::allreduce, bytes, 0), number);
  return all.channel(rank).execute(all.program(rank).start,
                                   {in.data(), out->data(), bytes, in.size(), &sums, bytes, call});
}

TEST_P(Told, CallsThatFitRunAlsoIfTheirSignaturesDiffer) {
  for (const int ranks : {2, 4}) {
    PlanRanks all(allreduce(ranks), Carrier::line, shm::smallest_area, GetParam());
    all.spawn([&](int rank) {
      EXPECT_TRUE(all.program(rank).start.hears_all);
      for (uint32_t round = 1; round < 40; ++round) {
        const std::vector<uint32_t> in{round, 1};
        std::vector<uint32_t> out(2);
        all.channel(rank).tell({round}, true);
        ASSERT_EQ(run(all, rank, in, &out, round % 3 == 0 && rank == 1 ? 5 : 0), Code::ok);
        ASSERT_EQ(out[0], round * static_cast<uint32_t>(ranks));
      }
    });
  }
}

// The last rank passes something else. With its number in the signature, its lines show it; else
// the waits find it, also if that rank does not enter the operation.
TEST_P(Told, CallsThatDifferFailAtEachRank) {
  for (const bool enters : {true, false}) {
    PlanRanks all(allreduce(3), Carrier::line, shm::smallest_area, GetParam());
    all.spawn([&](int rank) {
      Channel& channel = all.channel(rank);
      const uint32_t number = rank == 2 ? 7 : 0;
      const std::vector<uint32_t> in{1};
      std::vector<uint32_t> out(1);
      channel.tell({number}, true);
      if (enters || rank != 2) {
        EXPECT_EQ(run(all, rank, in, &out, number), Code::mismatch);
      }
      EXPECT_EQ(channel.await_told(barrier), Code::ok);
      EXPECT_EQ(channel.told_by(2), (Passed{7}));
      EXPECT_EQ(channel.told_by(0), (Passed{0}));
      EXPECT_FALSE(channel.tell_alike());
    });
  }
}

TEST(HearsAll, IsAPropertyOfTheRanksProgram) {
  const auto hears_all = [](Collective collective, const char* algorithm, int ranks, int rank,
                            Carrier carrier = Carrier::line) {
    PlanRanks all(algo::generate(collective, algorithm, ranks, 0), carrier, 65536, WaitStyle::spin);
    return all.program(rank).start.hears_all;
  };
  EXPECT_TRUE(hears_all(Collective::barrier, "all_read_all", 4, 3));
  EXPECT_TRUE(hears_all(Collective::bcast, "flat", 2, 1));
  EXPECT_FALSE(hears_all(Collective::bcast, "flat", 2, 0));
  EXPECT_FALSE(hears_all(Collective::bcast, "flat", 3, 1));
  EXPECT_FALSE(hears_all(Collective::allreduce, "all_read_all", 4, 1, Carrier::slot));
}

INSTANTIATE_TEST_SUITE_P(Styles, Told, testing::Values(WaitStyle::spin, WaitStyle::yield));

}  // namespace
}  // namespace tutti::exec
