// Where ranks are, as one rank keeps it; and the exchange by which all learn it.
#include "group/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "base/error.h"
#include "group/gathering.h"

namespace tutti::group {
namespace {

std::vector<int> all_of(int ranks) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Nodes of two numa regions, numbered by their first ranks; regions by a rank's turn on its node.
std::vector<Place> places_of(int ranks, const std::function<int(int)>& node_of) {
  std::vector<Place> places;
  std::vector<int32_t> first(static_cast<size_t>(ranks), -1), taken(static_cast<size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto node = static_cast<size_t>(node_of(rank));
    if (first[node] < 0) first[node] = rank;
    Place place;
    place.rank = rank;
    place.node = place.memory = first[node];
    place.cluster = static_cast<int32_t>(node) % 2;
    place.floors[1] = taken[node]++ / 4;
    places.push_back(place);
  }
  return places;
}

TEST(Placement, TellsWhatRanksSaid) {
  std::vector<Place> places = places_of(12, [](int rank) { return rank / 4 == 1 ? 7 : rank % 2; });
  places[5].oversubscribed = 1;
  places[6].memory = 6;
  std::shuffle(places.begin(), places.end(), std::mt19937(1));
  const Placement world(places);
  EXPECT_EQ(world.machine_nodes(all_of(12)),
            (std::vector<int32_t>{0, 1, 0, 1, 4, 4, 4, 4, 0, 1, 0, 1}));
  EXPECT_EQ(world.machine_nodes({7, 1, 8}), (std::vector<int32_t>{4, 1, 0}));
  EXPECT_EQ(world.machine_node_count(all_of(12)), 3);
  EXPECT_EQ(world.nodes(all_of(12)).count(), 4);
  EXPECT_EQ(world.nodes({4, 5, 7}), plan::Nodes());
  EXPECT_EQ(world.levels({0, 1, 8, 9}).contents(), "node:0,1,0,1");
  EXPECT_EQ(world.levels(all_of(12)).contents(),
            "cluster:0,1,0,1,1,1,1,1,0,1,0,1 node:0,1,0,1,2,2,2,2,0,1,0,1");
  EXPECT_TRUE(world.oversubscribed({4, 5}));
  EXPECT_FALSE(world.oversubscribed({4, 6}));
  EXPECT_EQ(Placement::read(world.text()), world);
}

TEST(Placement, RefusesWhatIsNoSuchText) {
  const std::string text = Placement(places_of(64, [](int rank) { return rank / 8; })).text();
  EXPECT_NO_THROW(Placement::read(text));
  for (const std::string& broken :
       {std::string(), text.substr(0, text.size() - 1), text + " 0",
        text.substr(text.find(' ') + 1), "0 " + text.substr(text.find(' ') + 1), "x" + text}) {
    EXPECT_THROW(Placement::read(broken), Error) << broken;
  }
}

// A world's ranks are sixteen times as many, and a rank keeps as much.
TEST(Placement, TakesWhatOneNodeDoes) {
  const auto bytes = [](int nodes, bool dealt) {
    return Placement(
               places_of(nodes * 8, [&](int rank) { return dealt ? rank % nodes : rank / 8; }))
        .bytes();
  };
  for (const bool dealt : {false, true}) {
    EXPECT_LE(bytes(512, dealt), bytes(32, dealt)) << (dealt ? "dealt" : "in blocks");
    EXPECT_LE(bytes(512, dealt), 1024u);
  }
}

// All places at once, share by share.
void check_gathering(int32_t places) {
  std::vector<std::vector<int32_t>> held(static_cast<size_t>(places));
  for (int32_t place = 0; place < places; ++place) held[static_cast<size_t>(place)] = {place};
  std::vector<std::vector<GatheringRound>> rounds;
  for (int32_t place = 0; place < places; ++place)
    rounds.push_back(gathering_rounds(place, places));
  for (size_t round = 0; round < rounds.front().size(); ++round) {
    const std::vector<std::vector<int32_t>> before = held;
    for (size_t place = 0; place < held.size(); ++place) {
      const GatheringRound& own = rounds[place][round];
      const auto from = static_cast<size_t>(own.from);
      ASSERT_EQ(rounds[from][round].to, static_cast<int32_t>(place));
      ASSERT_EQ(rounds[from][round].shares, own.shares);
      held[place].insert(held[place].end(), before[from].begin(),
                         before[from].begin() + own.shares);
    }
  }
  int32_t bits = 0;
  while ((int64_t{1} << bits) < places) ++bits;
  for (size_t place = 0; place < held.size(); ++place) {
    ASSERT_EQ(rounds[place].size(), static_cast<size_t>(bits)) << places;
    ASSERT_EQ(held[place].size(), static_cast<size_t>(places));  // nothing came twice
    for (size_t i = 0; i < held[place].size(); ++i) {
      ASSERT_EQ(held[place][i], static_cast<int32_t>((place + i) % held.size()));
    }
  }
}

TEST(Gathering, AllHaveAllAfterAsManyRoundsAsBits) {
  for (int32_t places = 1; places <= 70; ++places) ASSERT_NO_FATAL_FAILURE(check_gathering(places));
  for (const int32_t places : {127, 128, 129, 512, 600})
    ASSERT_NO_FATAL_FAILURE(check_gathering(places));
}

}  // namespace
}  // namespace tutti::group
