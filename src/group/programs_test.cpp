// Tests that the programs which the simulated ranks of a process share are those that each rank
// would have made by itself.
#include "group/programs.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/large_vector.h"
#include "plan/program.h"

namespace tutti::group {
namespace {

using plan::Carrier;
using plan::Collective;

class Common : public testing::Test {
 protected:
  void SetUp() override { use_common_programs(programs_.get()); }
  void TearDown() override { use_common_programs(nullptr); }

  const std::unique_ptr<CommonPrograms, void (*)(CommonPrograms*)> programs_{make_common_programs(),
                                                                             end_common_programs};
};

TEST_F(Common, ProgramsAreThoseOfEachRank) {
  const placement::Nodes nodes({0, 0, 1, 1, 1});
  const placement::Levels levels({{"node", {0, 0, 1, 1, 1}, 0}});
  for (const char* const algorithm : {"binomial", "hierarchical"}) {
    for (int rank = 0; rank < 5; ++rank) {
      const ProgramRequest request{
          Collective::bcast, algorithm, 5,     rank, 2, Carrier::slot, true, false,
          nullptr,           &levels,   &nodes};
      use_common_programs(programs_.get());
      const auto common = program_for(request);
      EXPECT_EQ(program_for(request), common);
      use_common_programs(nullptr);
      EXPECT_EQ(print(*program_for(request)), print(*common)) << algorithm;
    }
  }
}

TEST_F(Common, RootsAndCarriersAreToldApart) {
  const auto of = [](int root, Carrier carrier) {
    return program_for({Collective::bcast, "binomial", 4, 3, root, carrier, false});
  };
  const auto first = of(0, Carrier::slot);
  EXPECT_NE(print(*of(1, Carrier::slot)), print(*first));
  EXPECT_NE(print(*of(0, Carrier::line)), print(*first));
  EXPECT_EQ(of(0, Carrier::slot), first);
}

// Each rank of a flat alltoall writes a line for each other one.
TEST(Programs, OfMoreLinesThanThereAreUseSlots) {
  ProgramRequest request{Collective::alltoall, "flat", 40, 3, 0, Carrier::line, false};
  request.lines = 39;
  EXPECT_TRUE(program_for(request)->uses_lines);
  request.lines = 38;
  const auto over_slots = program_for(request);
  EXPECT_FALSE(over_slots->uses_lines);
  request.carrier = Carrier::slot;
  EXPECT_EQ(program_for(request), over_slots);  // it is not made again for longer messages
}

TEST_F(Common, OldOnesAreMadeAgain) {
  const auto of = [](int root) {
    return program_for({Collective::bcast, "binomial", 40, 7, root, Carrier::slot, false});
  };
  const auto first = of(0);
  for (int root = 1; root < 40; ++root) of(root);
  const auto again = of(0);
  EXPECT_NE(again, first);
  EXPECT_EQ(print(*again), print(*first));
}

// tests/python/test_program_cost.py counts their instructions.
struct Many {
  const char* name;
  Collective collective;
  const char* algorithm;
};
class ProgramOf256Ranks : public testing::TestWithParam<Many> {};

TEST_P(ProgramOf256Ranks, IsMade) {
  const Many& many = GetParam();
  const auto program =
      program_for({many.collective, many.algorithm, 256, 100, 0, Carrier::slot, false});
  EXPECT_EQ(program->rank, 100);
  EXPECT_GT(program->transfers, 60000);
}

// New pages take longer than most of what is done with them.
TEST(Programs, TakeLittleMemoryWhileTheyAreMade) {
  const LargePieces::Work work;  // pieces stay while it goes on, so those that are free are all
  const size_t before = LargePieces::free_bytes();
  program_for({Collective::bcast, "ring", 255, 100, 0, Carrier::slot, false});
  EXPECT_LE(LargePieces::free_bytes() - before, size_t{24} << 20);
}

INSTANTIATE_TEST_SUITE_P(
    Symmetric, ProgramOf256Ranks,
    testing::Values(Many{"allgather_ring", Collective::allgather, "ring"},
                    Many{"allgather_flat", Collective::allgather, "flat"},
                    Many{"alltoall_flat", Collective::alltoall, "flat"},
                    Many{"alltoall_bruck", Collective::alltoall, "bruck"},
                    Many{"reduce_scatter_ring", Collective::reduce_scatter, "ring"},
                    Many{"reduce_scatter_all_read_all", Collective::reduce_scatter, "all_read_all"},
                    Many{"allreduce_ring", Collective::allreduce, "ring"},
                    Many{"bcast_ring", Collective::bcast, "ring"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tutti::group
