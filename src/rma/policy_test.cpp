#include "rma/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tutti::rma {
namespace {

// The places of the next transfers.
std::vector<int32_t> turns(const Policy& policy, int32_t servers, size_t count, size_t bytes = 8,
                           size_t waiting = 1) {
  std::vector<int32_t> found;
  Turn turn;
  for (size_t i = 0; i < count; ++i) {
    turn = next_turn(policy, turn, servers, {.bytes = bytes, .waiting = waiting});
    found.push_back(turn.server);
  }
  return found;
}

TEST(Policy, GoesRound) {
  EXPECT_EQ(turns({}, 3, 5), (std::vector<int32_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(turns({}, 1, 3), (std::vector<int32_t>{0, 0, 0}));
}

TEST(Policy, AnActiveClientTakesTurns) {
  EXPECT_EQ(turns({.puts = {{.client_takes_turns = true}}}, 2, 5),
            (std::vector<int32_t>{0, 1, 2, 0, 1}));
}

TEST(Policy, BatchesGoToOneServer) {
  const Policy policy{.puts = {{.most_bytes = 64, .batch = 1}, {.most_bytes = 4096, .batch = 3}}};
  EXPECT_EQ(turns(policy, 2, 7, 1024), (std::vector<int32_t>{0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(turns(policy, 2, 3, 64), (std::vector<int32_t>{0, 1, 0}));
}

TEST(Policy, SelectsBySizeKindAndWhatIsWaiting) {
  const Policy policy{.puts = {{.most_bytes = 4096, .least_waiting = 4}},
                      .gets = {{.most_bytes = 128}}};
  const auto gets_servers = [&](Kind kind, size_t bytes, size_t waiting) {
    return is_for_servers(policy, {.kind = kind, .bytes = bytes, .waiting = waiting});
  };
  EXPECT_FALSE(gets_servers(Kind::put, 8, 3));
  EXPECT_TRUE(gets_servers(Kind::put, 8, 4));
  EXPECT_TRUE(gets_servers(Kind::put, 4096, 4));
  EXPECT_FALSE(gets_servers(Kind::put, 4097, 100));
  EXPECT_TRUE(gets_servers(Kind::get, 128, 0));
  EXPECT_FALSE(gets_servers(Kind::get, 129, 0));
}

TEST(Policy, TheRulesOfTheNextSizeDoNotCount) {
  const Policy policy{.puts = {{.most_bytes = 64, .least_waiting = 32, .batch = 4},
                               {.most_bytes = 64, .least_waiting = 8, .batch = 2},
                               {.most_bytes = 4096, .batch = 1}}};
  EXPECT_FALSE(is_for_servers(policy, {.bytes = 64, .waiting = 7}));
  EXPECT_EQ(turns(policy, 2, 4, 64, 8), (std::vector<int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(turns(policy, 2, 5, 64, 32), (std::vector<int32_t>{0, 0, 0, 0, 1}));
  EXPECT_TRUE(is_for_servers(policy, {.bytes = 65, .waiting = 1}));
}

TEST(Policy, AllAndNone) {
  const Situation longest{.kind = Kind::get, .bytes = SIZE_MAX, .waiting = 0};
  EXPECT_TRUE(is_for_servers({.serve = Serve::all}, longest));
  EXPECT_FALSE(is_for_servers({.serve = Serve::none, .gets = {{}}}, longest));
}

TEST(Policy, ServersHaveAtMostSoManyInFlight) {
  const Policy policy{.serve = Serve::all, .most_in_flight = 2};
  EXPECT_TRUE(is_for_servers(policy, {.in_flight = 1}));
  EXPECT_FALSE(is_for_servers(policy, {.in_flight = 2}));
}

TEST(Policy, TellsTheLeastBytesThatServersMayGet) {
  const Rule never{.most_bytes = 64, .least_waiting = UINT32_MAX};
  const Rule many{.most_bytes = 4096, .least_waiting = 32}, more{.most_bytes = 4096};
  const Rule first{.most_bytes = 64, .least_waiting = 100};
  EXPECT_EQ(least_bytes_served({}), SIZE_MAX);
  EXPECT_EQ(least_bytes_served({.puts = {never}, .gets = {never}}), SIZE_MAX);
  EXPECT_EQ(least_bytes_served({.puts = {never}, .gets = {never, many, more}}), 65U);
  EXPECT_EQ(least_bytes_served({.puts = {first}, .gets = {never, many}}), 1U);
}

// With any rule, after any number of transfers no server has more than a batch more than another.
TEST(Policy, SharesEvenly) {
  std::mt19937 random(16);
  for (int round = 0; round < 200; ++round) {
    const Rule rule{.batch = static_cast<uint32_t>(random() % 12),
                    .client_takes_turns = random() % 2 == 0};
    const auto servers = static_cast<int32_t>(1 + random() % 8);
    const size_t places = static_cast<size_t>(servers) + (rule.client_takes_turns ? 1 : 0);
    std::vector<uint32_t> got(places, 0);
    for (const int32_t place : turns({.puts = {rule}}, servers, 1 + random() % 300))
      ++got.at(static_cast<size_t>(place));
    const auto [least, most] = std::minmax_element(got.begin(), got.end());
    EXPECT_LE(*most - *least, std::clamp(rule.batch, 1U, most_batch));
  }
}

TEST(Phases, ExpectAsManyAsBefore) {
  Phases phases;
  EXPECT_EQ(phases.start(), 1U);
  EXPECT_EQ(phases.start(), 2U);
  phases.complete();
  phases.complete();  // the second completion of a phase changes nothing
  EXPECT_EQ(phases.start(), 2U);
  EXPECT_EQ(phases.start(), 2U);
  EXPECT_EQ(phases.start(), 3U);
  phases.complete();
  phases.start();
  phases.complete();
  EXPECT_EQ(phases.start(), 1U);
}

}  // namespace
}  // namespace tutti::rma
