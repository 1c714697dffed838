// Tests levels that come from bindings and trees, shapes or the kernel's files, of all ranks and of
// some of them.
#include "placement/levels.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <tuple>

#include "base/error.h"

namespace tutti::placement {
namespace {

using topo::machine_units;
using topo::machine_units_of_system;
using topo::MachineUnits;
using topo::parse_shape;
using topo::synthetic;

std::vector<std::vector<int>> bound_to(const std::vector<int>& units) {
  std::vector<std::vector<int>> bindings;
  for (const int unit : units) bindings.push_back({unit});
  return bindings;
}

TEST(Levels, OfATreeAreItsLevels) {
  const MachineUnits units = machine_units(synthetic("numa:2 cache:2 core:2"));
  const Levels levels = levels_of(bound_to({0, 1, 2, 3, 4, 5, 6, 7}), units);
  EXPECT_EQ(levels.contents(), "numa:0,0,0,0,1,1,1,1 cache:0,0,1,1,2,2,3,3");
  EXPECT_TRUE(levels.in_rank_order());
  EXPECT_EQ(levels.groups("numa"), 2);
  EXPECT_EQ(levels.groups("cache"), 4);
  EXPECT_EQ(levels.groups("core"), 1);
}

TEST(Levels, OfAShapeAreThoseOfItsTree) {
  for (const char* text :
       {"numa:2 cache:2 core:2", "numa:3 core:4", "core:4", "cache:4 core:2", "numa:4 core:32",
        "socket:2 numa:2 cache:4 core:8", "socket:2 numa:1 core:4", "socket:3 core:4",
        "socket:4 core:1", "socket:2 cache:2 core:2", "socket:4 numa:4 cache:2 core:4"}) {
    const MachineUnits by_shape = machine_units(parse_shape(text)),
                       by_tree = machine_units(synthetic(text));
    std::vector<int> units;
    for (const auto& [unit, groups] : by_tree) units.push_back(unit);
    ASSERT_EQ(by_shape.size(), by_tree.size());
    EXPECT_EQ(levels_of(bound_to(units), by_shape), levels_of(bound_to(units), by_tree)) << text;
  }
}

TEST(Levels, OneLevelIsKnownOrUnknown) {
  const MachineUnits units = machine_units(synthetic("numa:2 core:4"));
  const Levels known = levels_of(bound_to({0, 1, 2}), units);
  EXPECT_TRUE(known.one_level() && known.known());
  EXPECT_EQ(known.text(), "known");
  const Levels unknown = levels_of({{0, 4}, {1, 5}}, units);
  EXPECT_TRUE(unknown.one_level() && !unknown.known());
  EXPECT_NE(known, unknown);
  EXPECT_EQ(unknown.text(), "");
  const Levels two = levels_of(bound_to({0, 1, 4, 5}), units);
  EXPECT_EQ(two.text(), "numa:0,0,1,1 known");
  EXPECT_EQ(two.of({0, 1}), known);
  const Levels regions = levels_of({{0, 1}, {2, 3}, {4, 5}, {6, 7}}, units);
  EXPECT_EQ(regions.text(), "numa:0,0,1,1");
  EXPECT_EQ(regions.of({0, 1}), unknown);
  for (const Levels& levels : {known, unknown, two, regions})
    EXPECT_EQ(read_levels(levels.text()), levels);
  EXPECT_THROW(read_levels("known numa:0,0,1,1"), Error);
  // The command line writes them so, with all cores.
  EXPECT_EQ(read_levels("node:0,0,0 numa:0,0,0 core:0,1,2"), known);
  EXPECT_EQ(read_levels("node:0,0,0 numa:0,0,0 core:0,0,0"), unknown);
}

// Wherever such ranks run, one link serves them: in one socket whose caches are not smaller than
// its regions. `used`: the first cores that the ranks may all run on.
TEST(Levels, AreKnownIfOneLinkServesAll) {
  const std::tuple<const char*, int, bool> machines[] = {
      {"core:72", 72, true},                    // grace
      {"numa:2 core:128", 128, true},           // a socket of xeon-6980p
      {"numa:2 core:128", 129, false},          // a core of the other socket
      {"socket:2 numa:3 core:42", 126, true},   // a socket of xeon-6980p-snc3
      {"socket:2 numa:3 core:42", 252, false},  // both
      {"numa:2 cache:8 core:8", 64, false},     // a socket of epyc-7763
      {"socket:2 numa:4 cache:2 core:8", 64, false},
      {"numa:2 cache:8 core:8", 8, true},  // one cache
      {"socket:2 core:8", 8, true},
      {"socket:2 core:8", 16, false},  // sockets within a region
      {"core:72", 1, false},           // ranks that share a core
  };
  for (const auto& [shape, used, known] : machines) {
    std::vector<int> units(static_cast<size_t>(used));
    std::iota(units.begin(), units.end(), 0);
    const Levels unbound = levels_of_bound({units, units, units}, shape);
    EXPECT_TRUE(unbound.one_level());
    EXPECT_EQ(unbound.known(), known) << shape << ", " << used << " cores";
  }
  // Bound to a region each.
  const Levels regions =
      levels_of_bound({{0, 1}, {0, 1}, {2, 3}, {2, 3}}, "socket:2 numa:2 core:2");
  EXPECT_EQ(regions.text(), "numa:0,0,1,1 known");
  EXPECT_FALSE(levels_of_bound({}, "core:4").known());
}

TEST(Levels, SocketsOfSeveralRegionsAreALevel) {
  const MachineUnits units = machine_units(synthetic("socket:2 numa:2 cache:2 core:2"));
  const Levels levels = levels_of(bound_to({0, 1, 2, 4, 6, 8, 9, 12}), units);
  EXPECT_EQ(levels.contents(), "socket:0,0,0,0,0,1,1,1 numa:0,0,0,1,1,2,2,3 cache:0,0,1,2,3,4,4,5");
  EXPECT_EQ(levels.groups("socket"), 2);
  EXPECT_EQ(levels.groups("numa"), 4);
  EXPECT_EQ(levels_of(bound_to({0, 1, 4, 5}), units).contents(), "numa:0,0,1,1");
  EXPECT_EQ(levels_of(bound_to({0, 4, 8, 12}), units).contents(),
            "socket:0,0,1,1");  // a region each
  // Bound to a socket each: regions are unknown.
  EXPECT_EQ(levels_of({{0, 4}, {0, 4}, {8, 12}, {8, 12}}, units).contents(), "socket:0,0,1,1");
}

TEST(Levels, ASocketThatIsARegionIsCalledNuma) {
  const MachineUnits units = machine_units(parse_shape("socket:2 numa:2 core:2"));
  EXPECT_EQ(levels_of(bound_to({0, 1, 4, 5}), units).contents(), "numa:0,0,1,1");
  EXPECT_EQ(levels_of(bound_to({0, 1, 2, 4}), units).contents(), "socket:0,0,0,1 numa:0,0,1,2");
  // Some of the ranks, whose sockets have the same groups as their regions.
  const Levels all = levels_of(bound_to({0, 1, 2, 3, 4, 5, 6, 7}), units);
  EXPECT_EQ(all.of({0, 1, 4, 5}).contents(), "numa:0,0,1,1");
  EXPECT_EQ(all.of({0, 1, 2, 3}).contents(), "numa:0,0,1,1");
  EXPECT_EQ(all.of({0, 2, 4, 6}).contents(), "socket:0,0,1,1");
  EXPECT_EQ(read_levels(all.text()), all);
  // Several nodes, whose regions have the same numbers.
  const Levels nodes({{"node", {0, 0, 0, 0, 1, 1, 1, 1}, 2},
                      {"socket", {0, 0, 1, 1, 0, 0, 1, 1}, 2},
                      {"numa", {0, 0, 2, 2, 0, 0, 2, 2}, 2}});
  EXPECT_EQ(nodes.contents(), "node:0,0,0,0,1,1,1,1 numa:0,0,1,1,2,2,3,3");
}

TEST(Levels, SocketsInOneRegionAreALevelInsideIt) {
  for (const char* text : {"socket:2 core:4", "numa:1 socket:2 core:4"}) {
    EXPECT_EQ(levels_of(bound_to({0, 1, 4, 5}), machine_units(synthetic(text))).contents(),
              "socket:0,0,1,1")
        << text;
  }
  const MachineUnits units = machine_units(synthetic("numa:2 socket:2 core:2"));
  EXPECT_EQ(levels_of(bound_to({0, 1, 2, 3, 4, 5, 6, 7}), units).contents(),
            "numa:0,0,0,0,1,1,1,1 socket:0,0,1,1,2,2,3,3");
  EXPECT_EQ(levels_of(bound_to({0, 1, 4, 5}), units).contents(), "numa:0,0,1,1");
  // Bound to a region each: sockets are unknown.
  EXPECT_EQ(levels_of({{0, 2}, {0, 2}, {4, 6}, {4, 6}}, units).contents(), "numa:0,0,1,1");
}

TEST(Levels, RanksDealtRoundRobinAreNotInRankOrder) {
  const Levels levels =
      levels_of(bound_to({0, 4, 1, 5, 2, 6}), machine_units(parse_shape("numa:2 core:4")));
  EXPECT_EQ(levels.contents(), "numa:0,1,0,1,0,1");
  EXPECT_FALSE(levels.in_rank_order());
}

TEST(Levels, WhatARankDoesNotTellIsUnknownFurtherInside) {
  const MachineUnits units = machine_units(parse_shape("numa:2 cache:2 core:2"));
  // If ranks are bound to numa regions, caches are unknown. If one rank is unbound, all levels are.
  EXPECT_EQ(levels_of({{0, 1, 2, 3}, {0, 1, 2, 3}, {4, 5, 6, 7}, {4}}, units).contents(),
            "numa:0,0,1,1");
  EXPECT_TRUE(levels_of({{0}, {1}, {4}, {0, 1, 2, 3, 4, 5, 6, 7}}, units).one_level());
  EXPECT_TRUE(levels_of({{0}, {1}, {4}, {}}, units).one_level());
  EXPECT_TRUE(levels_of({{0}, {1}, {4}, {99}}, units).one_level());
}

TEST(Levels, LevelsThatSayNothingAreLeftOut) {
  const MachineUnits units = machine_units(parse_shape("numa:4 core:8"));
  EXPECT_TRUE(levels_of(bound_to({0, 1, 2, 3}), units).one_level());    // one region
  EXPECT_TRUE(levels_of(bound_to({0, 8, 16, 24}), units).one_level());  // each alone
  EXPECT_EQ(levels_of(bound_to({0, 0, 1, 1}), units).contents(), "core:0,0,1,1");
}

TEST(Levels, OfSomeRanksAreRenumbered) {
  const Levels levels =
      levels_of(bound_to({0, 1, 4, 5, 8, 9}), machine_units(parse_shape("numa:3 core:4")));
  EXPECT_EQ(levels.of({5, 0, 4, 1}).contents(), "numa:0,1,0,1");
  EXPECT_EQ(levels.of({4, 5, 2}).contents(), "numa:0,0,1");
  EXPECT_TRUE(levels.of({0, 1}).one_level());
  EXPECT_TRUE(Levels().of({0, 1}).one_level());
}

TEST(Levels, InnerLevelsDivideOuterOnes) {
  const Levels levels({{"numa", {7, 7, 3, 3}, 0}, {"cache", {0, 1, 0, 0}, 0}});
  EXPECT_EQ(levels.contents(), "numa:0,0,1,1 cache:0,1,2,2");
  EXPECT_EQ(read_levels(levels.contents()), levels);
  EXPECT_TRUE(read_levels("").one_level());
  for (const char* text :
       {"numa", "numa:", ":0,1", "numa:0,x", "numa:0,0,1 cache:0,1", "numa:0,-1"}) {
    EXPECT_THROW(read_levels(text), Error) << text;
  }
}

// Ranks on a machine of four numa regions of 32 cores: one rank on each core; then two ranks on
// some cores, and regions with different numbers of ranks.
TEST(Levels, OfBoundRanks) {
  std::vector<std::vector<int>> bindings;
  for (int core = 0; core < 128; ++core) bindings.push_back({core});
  const Levels all = levels_of_bound(bindings, "numa:4 core:32");
  EXPECT_EQ(all.groups("numa"), 4);
  EXPECT_EQ(all.all().size(), 1u);
  EXPECT_TRUE(all.in_rank_order());
  const Levels odd = levels_of_bound({{0}, {33}, {64}, {33}, {1}, {127}, {96}}, "numa:4 core:32");
  EXPECT_EQ(odd.contents(), "numa:0,1,2,1,0,3,3 core:0,1,2,1,3,4,5");
  // If ranks are bound to several cores of a region, only their region is known.
  EXPECT_EQ(levels_of_bound({{0, 1}, {0, 1}, {32, 33}, {32, 33}}, "numa:4 core:32").contents(),
            "numa:0,0,1,1");
  EXPECT_TRUE(
      levels_of_bound({{0, 32}, {0, 32}, {0, 32}}, "numa:4 core:32").one_level());  // unbound
  EXPECT_TRUE(
      levels_of_bound({{0}, {0, 32}, {32}}, "numa:4 core:32").one_level());  // one is unbound
  EXPECT_TRUE(levels_of_bound({{0}, {1}}, "no shape", "/nowhere").one_level());
  const Levels clustered = levels_of_bound(bindings, "socket:4 numa:2 cache:2 core:8");
  EXPECT_EQ(
      std::tuple(clustered.groups("socket"), clustered.groups("numa"), clustered.groups("cache")),
      std::tuple(4, 8, 16));
}

TEST(Levels, OfTheKernelsFiles) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("levels_test_" + std::to_string(getpid()));
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text << '\n';
  };
  put("node/online", "0-1");
  put("node/node0/cpulist", "0-3");
  put("node/node1/cpulist", "4-7");
  for (int unit = 0; unit < 8; ++unit) {
    const std::string cpu = "cpu/cpu" + std::to_string(unit), own = std::to_string(unit);
    const std::string pair = std::to_string(unit / 2 * 2) + "-" + std::to_string(unit / 2 * 2 + 1);
    put(cpu + "/topology/thread_siblings_list", own);
    put(cpu + "/cache/index0/level", "2");
    put(cpu + "/cache/index0/type", "Unified");
    put(cpu + "/cache/index0/shared_cpu_list", pair);
  }
  const std::vector<int> units{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(levels_of(bound_to(units), machine_units_of_system(units, path)).contents(),
            "numa:0,0,0,0,1,1,1,1 cache:0,0,1,1,2,2,3,3");
  const auto put_socket = [&](int unit, int socket) {
    put("cpu/cpu" + std::to_string(unit) + "/topology/physical_package_id", std::to_string(socket));
  };
  for (const int unit : units) put_socket(unit, unit / 4);
  EXPECT_EQ(levels_of(bound_to(units), machine_units_of_system(units, path)).all().front().name,
            "numa");
  // One socket has two regions, and another has one region; then each socket has one core, and such
  // sockets are left out.
  put("node/online", "0-2");
  put("node/node0/cpulist", "0-1");
  put("node/node2/cpulist", "2-3");
  EXPECT_EQ(levels_of(bound_to(units), machine_units_of_system(units, path)).contents(),
            "socket:0,0,0,0,1,1,1,1 numa:0,0,1,1,2,2,2,2 cache:0,0,1,1,2,2,3,3");
  for (const int unit : units) put_socket(unit, unit);
  EXPECT_EQ(levels_of(bound_to(units), machine_units_of_system(units, path)).contents(),
            "numa:0,0,1,1,2,2,2,2 cache:0,0,1,1,2,2,3,3");
  EXPECT_TRUE(levels_of(bound_to(units), machine_units_of_system(units, "/nowhere")).one_level());
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace tutti::placement
