// Compares v-collectives of thread ranks on one node with the results that MPI defines.
#include <gtest/gtest.h>

#include <tuple>
#include <array>
#include <cstdint>
#include <span>

#include "group/test_ranks.h"
#include "group/test_v_calls.h"

namespace tutti::group::test {
namespace {

using plan::Collective;
using v_calls::all_calls, v_calls::calls_of_all_sizes, v_calls::calls_unlike_the_last,
    v_calls::one_is_long;

class VCollectives : public testing::TestWithParam<int> {};

TEST_P(VCollectives, AreWhereMpiSays) {
  for (size_t segment : {size_t{0}, size_t{640}}) {
    select::Overrides overrides;
    overrides.segment_bytes = segment;
    with_groups(GetParam(), overrides, {}, calls_of_all_sizes, true, 64 * 1024, GetParam() < 6);
    if (GetParam() <= 2) with_groups(GetParam(), overrides, {}, calls_of_all_sizes, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, VCollectives, testing::ValuesIn(rank_counts({1, 2, 3, 4, 5, 8})));

// Long parts by every way to reach buffers, in slots with room for several segments or for very
// few.
class ReachedParts : public testing::TestWithParam<std::tuple<Reaching, int>> {};

TEST_P(ReachedParts, AreWhereMpiSays) {
  const auto [reaching, ranks] = GetParam();
  const std::array<size_t, 3> scales{700, 2500, 9000};
  with_groups(
      ranks, {}, {}, [&](Group& group) { all_calls(group, scales); }, true, 64 * 1024, false, {},
      reaching);
  const std::span<const size_t> few(scales.data(), 2);
  with_groups(
      ranks, {}, {}, [&](Group& group) { all_calls(group, few); }, true, shm::smallest_area, false,
      {}, reaching);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReachedParts,
                         testing::Combine(testing::ValuesIn(all_reaching), testing::Values(2, 3)));

TEST_P(VCollectives, UnlikeTheLastOnes) {
  with_groups(GetParam(), {}, {}, calls_unlike_the_last, true, 64 * 1024, false);
  if (GetParam() <= 2) with_groups(GetParam(), {}, {}, calls_unlike_the_last, false);
}

TEST(VCollectives, OfManyRanks) {
  with_groups(many_ranks, {}, {}, calls_unlike_the_last, true, 64 * 1024, false);
}

TEST(VCollectives, OneIsLong) {
  for (const int ranks : {2, 4}) with_groups(ranks, {}, {}, one_is_long);
}

TEST(VCollectives, AMismatchBearsTheCollectivesNames) {
  with_groups(2, {}, {}, [](Group& group) {
    std::array<uint64_t, 2> in{}, out{};
    const std::array<ptrdiff_t, 2> at{0, 8};
    const std::array<size_t, 2> bytes{8, 8};
    const exec::Parts parts{at.data(), bytes.data()};
    const Collective collective = group.rank() == 0 ? Collective::gather : Collective::scatter;
    EXPECT_EQ(
        v_collective(group, collective, in.data(), out.data(), {parts, parts}, unknown_length, 0),
        Code::mismatch);
    for (const char* name : {"gather of parts of different lengths, root 0",
                             "scatter of parts of different lengths, root 0"}) {
      EXPECT_NE(group.failure().find(name), std::string::npos) << group.failure();
    }
  });
}

TEST(VCollectives, InLittleMemory) {
  with_groups(
      many_ranks, {}, {}, [](Group& group) { all_calls(group, std::array<size_t, 3>{0, 2, 300}); },
      true, shm::smallest_area, false);
}

}  // namespace
}  // namespace tutti::group::test
