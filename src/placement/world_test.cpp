// Tests the placement of a world's ranks, its memory, and the text in which it is sent.
#include "placement/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "base/error.h"

namespace tutti::placement {
namespace {

std::vector<int> all_of(int ranks) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Nodes of two numa regions. Nodes are numbered by their first ranks; the first four ranks of a
// node are in its first region.
std::vector<RankLocation> locations_of(int ranks, const std::function<int(int)>& node_of) {
  std::vector<RankLocation> locations;
  std::vector<int32_t> first(static_cast<size_t>(ranks), -1), taken(static_cast<size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto node = static_cast<size_t>(node_of(rank));
    if (first[node] < 0) first[node] = rank;
    RankLocation location;
    location.rank = rank;
    location.node = location.memory = first[node];
    location.cluster = static_cast<int32_t>(node) % 2;
    location.groups[1] = taken[node]++ / 4;
    locations.push_back(location);
  }
  return locations;
}

TEST(WorldPlacement, TellsWhatRanksSaid) {
  std::vector<RankLocation> locations =
      locations_of(12, [](int rank) { return rank / 4 == 1 ? 7 : rank % 2; });
  locations[5].oversubscribed = 1;
  locations[6].memory = 6;
  std::shuffle(locations.begin(), locations.end(), std::mt19937(1));
  const WorldPlacement world(locations);
  EXPECT_EQ(world.machine_nodes(all_of(12)),
            (std::vector<int32_t>{0, 1, 0, 1, 4, 4, 4, 4, 0, 1, 0, 1}));
  EXPECT_EQ(world.machine_nodes({7, 1, 8}), (std::vector<int32_t>{4, 1, 0}));
  EXPECT_EQ(world.machine_node_count(all_of(12)), 3);
  EXPECT_EQ(world.nodes(all_of(12)).count(), 4);
  EXPECT_EQ(world.nodes({4, 5, 7}), Nodes());
  EXPECT_EQ(world.levels({0, 1, 8, 9}).contents(), "node:0,1,0,1");
  EXPECT_EQ(world.levels(all_of(12)).contents(),
            "cluster:0,1,0,1,1,1,1,1,0,1,0,1 node:0,1,0,1,2,2,2,2,0,1,0,1");
  EXPECT_TRUE(world.oversubscribed({4, 5}));
  EXPECT_FALSE(world.oversubscribed({4, 6}));
  EXPECT_EQ(WorldPlacement::read(world.text()), world);
}

TEST(WorldPlacement, RefusesMalformedTexts) {
  const std::string text =
      WorldPlacement(locations_of(64, [](int rank) { return rank / 8; })).text();
  EXPECT_NO_THROW(WorldPlacement::read(text));
  for (const std::string& broken :
       {std::string(), text.substr(0, text.size() - 1), text + " 0",
        text.substr(text.find(' ') + 1), "0 " + text.substr(text.find(' ') + 1), "x" + text}) {
    EXPECT_THROW(WorldPlacement::read(broken), Error) << broken;
  }
}

// A placement of sixteen times as many ranks takes no more memory.
TEST(WorldPlacement, TakesAsMuchMemoryAsOneNode) {
  const auto bytes = [](int nodes, bool dealt) {
    return WorldPlacement(
               locations_of(nodes * 8, [&](int rank) { return dealt ? rank % nodes : rank / 8; }))
        .bytes();
  };
  for (const bool dealt : {false, true}) {
    EXPECT_LE(bytes(512, dealt), bytes(32, dealt)) << (dealt ? "dealt" : "in blocks");
    EXPECT_LE(bytes(512, dealt), 1024u);
  }
}

// The world's levels, made from the groups on each node, are the levels of the nodes again.
TEST(WorldPlacement, GroupsOnANodeAreThoseOfItsLevels) {
  const Levels levels = read_levels("numa:0,0,0,0,1,1,1,1 cache:0,0,1,1,2,2,3,3");
  EXPECT_EQ(groups_on_node(levels, 0), GroupsOnNode{});
  EXPECT_EQ(groups_on_node(levels, 7), (GroupsOnNode{0, 1, 0, 3, 0, 0}));
  EXPECT_EQ(groups_on_node(read_levels("socket:0,0,1,1 numa:0,1,2,2"), 2),
            (GroupsOnNode{1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(groups_on_node(read_levels("numa:0,0,1,1 socket:0,1,2,2"), 2),
            (GroupsOnNode{0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(groups_on_node(Levels(), 2), GroupsOnNode{});
  std::vector<RankLocation> locations;
  for (int rank = 0; rank < 16; ++rank) {
    RankLocation location;
    location.rank = rank;
    location.node = location.memory = rank / 8 * 8;
    location.groups = groups_on_node(levels, rank % 8);
    locations.push_back(location);
  }
  EXPECT_EQ(WorldPlacement(locations).levels(all_of(16)).contents(),
            "node:0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1 numa:0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3 "
            "cache:0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7");
}

}  // namespace
}  // namespace tutti::placement
