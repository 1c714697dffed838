#include "run/servers.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "run/affinity.h"

namespace tutti::run {
namespace {

using Units = std::vector<int>;

// Two regions of three cores with two processing units each.
std::vector<topo::NodeCore> two_regions() {
  std::vector<topo::NodeCore> cores;
  for (int core = 0; core < 6; ++core) cores.push_back({core / 3, {core, core + 6}});
  return cores;
}
const std::set<int> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

Units chosen(const ServersAsked& asked, ServersDomain domain, int ranks) {
  return choose_server_units(asked, domains_of(two_regions(), domain, "/nowhere"), all, ranks);
}

std::string refusal(const ServersAsked& asked, ServersDomain domain, int ranks = 2) {
  try {
    chosen(asked, domain, ranks);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
}

TEST(Servers, GetTheLastCoresOfTheirDomains) {
  EXPECT_EQ(chosen({2, {}}, ServersDomain::node, 4), (Units{4, 5}));
  EXPECT_EQ(chosen({2, {}}, ServersDomain::node, 0), (Units{4, 5}));
  EXPECT_EQ(chosen({1, {}}, ServersDomain::numa, 4), (Units{2, 5}));
  EXPECT_EQ(chosen({1, {}}, ServersDomain::socket, 5), Units{5});  // the kernel reports no socket
  EXPECT_EQ(chosen({}, ServersDomain::node, 4), Units());
}

TEST(Servers, ShareCoresIfTooFewAreLeft) {
  EXPECT_EQ(chosen({1, {}}, ServersDomain::node, 6), Units());
  EXPECT_EQ(chosen({1, {}}, ServersDomain::numa, 5), Units());
  EXPECT_EQ(chosen({6, {}}, ServersDomain::node, 0), Units());
}

TEST(Servers, RunWhereTheUserSays) {
  EXPECT_EQ(chosen({2, {0, 7}}, ServersDomain::node, 12), (Units{0, 7}));
  EXPECT_EQ(chosen({1, {1, 4}}, ServersDomain::numa, 2), (Units{1, 4}));
  EXPECT_EQ(chosen({1, {4, 5}}, ServersDomain::numa, 2), (Units{5, 4}));  // none in the first
}

TEST(Servers, WhatTheNodeLacksIsRefused) {
  EXPECT_EQ(refusal({2, {5, 12}}, ServersDomain::node),
            "this process may not use core 12; name cores of 0-11");
  EXPECT_EQ(refusal({2, {5}}, ServersDomain::node),
            "2 servers in 1 domain on 1 core; name as many cores as servers");
  EXPECT_EQ(refusal({2, {4, 5}}, ServersDomain::numa),
            "4 servers in 2 domains on 2 cores; name as many cores as "
            "servers");
  EXPECT_EQ(refusal({4, {}}, ServersDomain::numa), "a domain has 3 cores; ask for at most 3");
  EXPECT_EQ(refusal({7, {}}, ServersDomain::node), "a domain has 6 cores; ask for at most 6");
}

TEST(Servers, TheCpusetIsNoLessThanTheBinding) {
  const std::set<int> bound = units_of(0), cpuset = units_of_cpuset();
  ASSERT_FALSE(bound.empty());
  for (const int unit : bound) EXPECT_TRUE(cpuset.contains(unit));
  EXPECT_EQ(units_of(0), bound);
  ASSERT_TRUE(bind_to({*bound.begin()}));
  EXPECT_EQ(units_of_cpuset(), cpuset);
  EXPECT_TRUE(is_bound());
  EXPECT_TRUE(bind_to(bound));
}

}  // namespace
}  // namespace tutti::run
