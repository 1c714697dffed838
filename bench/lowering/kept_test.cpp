// The memory that a rank keeps grows only with the logarithm of the number of ranks: programs get
// one more round each time the ranks double.
#include "kept.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::bench {
namespace {

using plan::Collective;

constexpr int cores = 8;
const std::vector<Collective> collectives{Collective::barrier, Collective::bcast,
                                          Collective::reduce, Collective::allreduce};

// One more byte for each rank would be 3,840 bytes.
constexpr size_t of_placement = 512;
constexpr size_t of_programs_by_doubling = 8 * 1024;

class KeptBytes : public testing::TestWithParam<Dealing> {};

TEST_P(KeptBytes, GrowWithTheLogOfTheRanks) {
  kept(2, cores, GetParam(), collectives);  // makes what a process makes only once
  const Kept small = kept(32, cores, GetParam(), collectives),
             large = kept(512, cores, GetParam(), collectives);
  EXPECT_LE(large.world, small.world + of_placement);
  EXPECT_LE(large.communicator, small.communicator + of_placement);
  EXPECT_LE(large.programs, small.programs + 4 * of_programs_by_doubling);
  // All kinds of memory were measured.
  EXPECT_GT(small.world, 256u);
  EXPECT_GT(small.communicator, 1024u);
  EXPECT_GT(small.programs, 4u * 1024);
}

TEST_P(KeptBytes, AreThoseOfOneNode) {
  const Kept few = kept(64, 4, GetParam(), {}), many = kept(64, 32, GetParam(), {});
  EXPECT_LE(many.world + many.communicator, few.world + few.communicator + 28 * 64 + of_placement);
}

INSTANTIATE_TEST_SUITE_P(Placements, KeptBytes, testing::Values(Dealing::blocks, Dealing::cyclic),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace tutti::bench
