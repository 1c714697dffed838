// Compares the collectives with parts and the scans of thread ranks with the results that MPI
// defines: every algorithm, several roots, in place and with two buffers, sizes from nothing to
// many segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "algo/algo.h"
#include "group/test_calls.h"

namespace tutti::group::test {
namespace {

const Collective collectives[] = {
    Collective::gather,         Collective::scatter, Collective::allgather, Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,    Collective::exscan};
const size_t counts[] = {0, 1, 5, 6, 7, 100, 1500, 9001};

void all_calls(Group& group, Collective collective, std::span<const size_t> sizes) {
  int round = 0;
  for (size_t count : sizes) {
    for (int root = 0; root < (plan::rooted(collective) ? group.ranks() : 1); ++root) {
      if (root > 2 && root + 1 < group.ranks()) continue;
      for (bool in_place : {false, true}) {
        perform(group, {collective, count, root, in_place, ++round});
      }
    }
  }
}

// The time of the check of lowered programs grows at least with the square of the ranks. The tests
// of src/algo check them too.
constexpr int checked_below = 6;

class Parts : public testing::TestWithParam<int> {};

TEST_P(Parts, ByTheChosenAlgorithms) {
  for (bool oversubscribed : {true, false}) {
    if (!oversubscribed && GetParam() > 2) continue;
    for (size_t segment : {size_t{0}, size_t{640}}) {
      select::Overrides overrides;
      overrides.segment_bytes = segment;
      with_groups(
          GetParam(), overrides, {},
          [](Group& group) {
            for (Collective collective : collectives) all_calls(group, collective, counts);
          },
          oversubscribed, 64 * 1024, GetParam() < checked_below);
    }
  }
}

TEST_P(Parts, ByEveryAlgorithm) {
  for (const algo::Algorithm& algorithm : algo::algorithms()) {
    select::Overrides overrides;
    overrides.segment_bytes = 1024;
    std::vector<Collective> served;
    for (Collective collective : collectives) {
      if (std::find(algorithm.collectives.begin(), algorithm.collectives.end(), collective) ==
          algorithm.collectives.end())
        continue;
      overrides.algorithm[static_cast<size_t>(collective)] = algorithm.name;
      served.push_back(collective);
    }
    if (served.empty()) continue;
    with_groups(
        GetParam(), overrides, {},
        [&](Group& group) {
          for (Collective collective : served)
            all_calls(group, collective, std::array<size_t, 4>{1, 7, 200, 3000});
        },
        true, 64 * 1024, GetParam() < checked_below);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Parts, testing::ValuesIn(rank_counts({1, 2, 3, 5, 8})));

// There are fewer lines than parts, so short messages use slots, too.
TEST(Parts, ManyRanksInLittleMemory) {
  with_groups(
      many_ranks, {}, {},
      [](Group& group) {
        for (Collective collective : collectives)
          all_calls(group, collective, std::array<size_t, 2>{1, 700});
      },
      true, shm::smallest_area, false);
}

}  // namespace
}  // namespace tutti::group::test
