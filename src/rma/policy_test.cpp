#include "rma/policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::rma {
namespace {

// The places of the next transfers.
std::vector<int32_t> turns(const Policy& policy, int32_t servers, size_t count, size_t bytes = 8) {
  std::vector<int32_t> found;
  Turn turn;
  for (size_t i = 0; i < count; ++i) {
    turn = next_turn(policy, turn, servers, Kind::put, bytes);
    found.push_back(turn.server);
  }
  return found;
}

TEST(Policy, GoesRound) {
  EXPECT_EQ(turns({}, 3, 5), (std::vector<int32_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(turns({}, 1, 3), (std::vector<int32_t>{0, 0, 0}));
}

TEST(Policy, AnActiveClientTakesTurns) {
  EXPECT_EQ(turns({.clients_are_active = true}, 2, 5), (std::vector<int32_t>{0, 1, 2, 0, 1}));
}

TEST(Policy, BatchesGoToOneServer) {
  const Policy policy{.puts = {{.most_bytes = 64, .batch = 1}, {.most_bytes = 4096, .batch = 3}}};
  EXPECT_EQ(turns(policy, 2, 7, 1024), (std::vector<int32_t>{0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(turns(policy, 2, 3, 64), (std::vector<int32_t>{0, 1, 0}));
}

TEST(Policy, SelectsBySizeKindAndWhatIsOutstanding) {
  const Policy policy{.puts = {{.most_bytes = 4096, .least_outstanding = 4}},
                      .gets = {{.most_bytes = 128}}};
  EXPECT_FALSE(is_for_servers(policy, Kind::put, 8, 3));
  EXPECT_TRUE(is_for_servers(policy, Kind::put, 8, 4));
  EXPECT_TRUE(is_for_servers(policy, Kind::put, 4096, 4));
  EXPECT_FALSE(is_for_servers(policy, Kind::put, 4097, 100));
  EXPECT_TRUE(is_for_servers(policy, Kind::get, 128, 0));
  EXPECT_FALSE(is_for_servers(policy, Kind::get, 129, 0));
}

TEST(Policy, AllAndNone) {
  EXPECT_TRUE(is_for_servers({.serve = Serve::all}, Kind::get, SIZE_MAX, 0));
  EXPECT_FALSE(is_for_servers({.serve = Serve::none, .puts = {{}}}, Kind::put, 8, 100));
}

}  // namespace
}  // namespace tutti::rma
