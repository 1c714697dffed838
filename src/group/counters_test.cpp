// Tests channels whose counters are about to overflow some of their bits: results stay right, and
// no peer is reported to be in another collective.
#include <gtest/gtest.h>

#include <tuple>
#include <chrono>
#include <random>
#include <thread>

#include "group/test_calls.h"

namespace tutti::group::test {
namespace {

using Counters = exec::Channel::Counters;

constexpr uint64_t below(int bits) { return (uint64_t{1} << bits) - 40 * shm::line_size; }

// Lengths for lines, for slots in one piece, for several segments, and for readers that bypass
// slots.
constexpr size_t counts[] = {1, 6, 128, 1000, 5003};

void mixed_calls(Group& group, int& round) {
  std::minstd_rand random(static_cast<unsigned>(round));
  for (int call = 0; call < 60; ++call) {
    const auto collective = static_cast<Collective>(1 + random() % (plan::collective_count - 1));
    const size_t count = counts[random() % std::size(counts)];
    const int root = plan::rooted(collective)
                         ? static_cast<int>(random() % static_cast<unsigned>(group.ranks()))
                         : 0;
    if (random() % 8 == static_cast<unsigned>(group.rank())) std::this_thread::yield();
    perform(group, {collective, count, root, false, ++round});
    if (testing::Test::HasFailure()) return;
  }
}

class NearWraps : public testing::TestWithParam<std::tuple<int, Reaching>> {};

TEST_P(NearWraps, CallsOfEveryKind) {
  const auto [ranks, reaching] = GetParam();
  with_groups(
      ranks, {}, {},
      [](Group& group) {
        int round = 0;
        mixed_calls(group, round);
        uint64_t passed = 0;
        for (const int bits : {16, 32, 48, 63}) {
          const uint64_t next = below(bits);
          group.advance({next - passed, next - passed, next - passed});
          passed = next +
                   40 * shm::line_size;  // at least, because the calls advance the counters as well
          mixed_calls(group, round);
        }
      },
      true, 64 * 1024, false, {}, reaching);
}

INSTANTIATE_TEST_SUITE_P(Ranks, NearWraps,
                         testing::Combine(testing::Values(2, 3, 8),
                                          testing::Values(Reaching::none, Reaching::direct)));

// A peer that has not entered the second call still shows the first one. The first call starts at
// 0 and uses a few numbers, so that for one of the values of `transfers` the low bits are 0 again
// where the second call starts.
TEST(Wraps, ALatePeerIsInNoOtherCollective) {
  constexpr uint64_t most_transfers = 12;
  for (const int bits : {16, 31, 32, 33, 48}) {
    for (uint64_t transfers = 1; transfers <= most_transfers; ++transfers) {
      with_groups(2, {}, {}, [&](Group& group) {
        perform(group, {Collective::bcast, 128, 0, false, 1});
        group.advance({(uint64_t{1} << bits) - transfers, 0, 0});
        if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        perform(group, {Collective::allreduce, 1, 0, false, 2});
      });
    }
  }
}

}  // namespace
}  // namespace tutti::group::test
