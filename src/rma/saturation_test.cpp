#include "rma/saturation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace tutti::rma {
namespace {

// A core needs `core` ns a message, and all of them together `node` ns.
SaturationMap map_of(double core, double node, const HandOver& cost = {}) {
  SaturationMap map{.cores = {1, 2, 4, 8},
                    .messages = {1, 4, 16, 128},
                    .bytes = {8, 1024},
                    .puts = {},
                    .gets = {},
                    .hand_over = cost,
                    .where = "node"};
  if (map.hand_over.server.empty()) map.hand_over.server = {0, 0};
  for (const size_t cores : map.cores)
    for (const size_t messages : map.messages)
      for (const size_t bytes : map.bytes) {
        const double all = static_cast<double>(cores * messages);
        const double time = std::max(core * static_cast<double>(messages), node * all);
        map.puts.push_back(all * static_cast<double>(bytes) / time);
      }
  map.gets = map.puts;
  return map;
}

Json document() {
  Json json;
  json["format"] = "tutti-saturation 1";
  json["where"] = "node";
  json["cores"] = {1, 2};
  json["messages"] = {1, 8};
  json["bytes"] = {8};
  json["puts"] = {{{1.0}, {2.0}}, {{3.0}, {4.0}}};
  json["gets"] = {{{5.0}, {6.0}}, {{7.0}, {8.0}}};
  json["hand_over"] = {{"client", 10}, {"server", {20}}, {"latency", 30}};
  return json;
}

std::string refusal(const Json& json) {
  try {
    read_saturation(json.dump(), "map.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Saturation, IsRead) {
  const SaturationMap map = read_saturation(document().dump(), "map.json");
  EXPECT_EQ(map.cores, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(map.bandwidth(Kind::put, 1, 0, 0), 3.0);
  EXPECT_EQ(map.bandwidth(Kind::get, 0, 1, 0), 6.0);
  EXPECT_EQ(map.peak(Kind::get, 0), 8.0);
  EXPECT_EQ(map.hand_over.latency, 30);
  EXPECT_EQ(map.where, "node");
}

TEST(Saturation, BetweenNodesNothingIsHandedOver) {
  Json json = document();
  EXPECT_EQ(read_saturation(json.dump(), "map.json").scope, Scope::node);
  json["scope"] = "node";
  EXPECT_EQ(read_saturation(json.dump(), "map.json").scope, Scope::node);
  json["scope"] = "between nodes";
  json.erase("hand_over");
  EXPECT_EQ(read_saturation(json.dump(), "map.json").scope, Scope::between_nodes);
  json["scope"] = "node";
  EXPECT_EQ(refusal(json), "map.json: lacks the member \"hand_over\"");
  json["scope"] = "rack";
  EXPECT_EQ(refusal(json), "map.json: scope: must be \"node\" or \"between nodes\"");
}

TEST(Saturation, MapsOfOtherMachinesAreRefused) {
  const std::string file = testing::TempDir() + "saturation_test.json";
  const auto write = [&](const std::string& where) {
    Json json = document();
    json["where"] = where;
    std::ofstream(file) << json.dump();
  };
  write(this_machine());
  EXPECT_EQ(load_saturation_of_here(file).where, this_machine());
  write("a\nnode");
  EXPECT_EQ(load_saturation(file).where, "a\nnode");
  try {
    load_saturation_of_here(file);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              file + ": is of another machine, \"a?node\", and this is \"" + this_machine() +
                  "\"; measure here by `tutti bench saturation --json-file`");
  }
  std::remove(file.c_str());
}

TEST(Saturation, BadFilesAreOneLineWithTheirPlace) {
  const auto with = [](auto change) {
    Json json = document();
    change(json);
    return refusal(json);
  };
  EXPECT_EQ(with([](Json& json) { json["format"] = "other"; }),
            "map.json: has not the format \"tutti-saturation 1\"; measure anew by `tutti bench "
            "saturation --json-file`");
  EXPECT_EQ(with([](Json& json) { json["cores"] = {2, 2}; }),
            "map.json: cores[1]: must be larger than the number before it, and than 0");
  EXPECT_EQ(with([](Json& json) { json["bytes"] = {0.5}; }),
            "map.json: bytes[0]: is 0.5; it must be an integer from 0 to 1073741824.0");
  EXPECT_EQ(with([](Json& json) { json["puts"][1].push_back(3); }),
            "map.json: puts[1]: has 3 entries; there must be one for each of the 2 \"messages\"");
  EXPECT_EQ(with([](Json& json) { json["gets"][1][0][0] = 0; }),
            "map.json: gets[1][0][0]: must be larger than 0 GB/s");
  EXPECT_EQ(with([](Json& json) { json["gets"][0][1][0] = "fast"; }),
            "map.json: gets[0][1][0]: must be a number");
  EXPECT_EQ(with([](Json& json) { json["hand_over"].erase("latency"); }),
            "map.json: hand_over: lacks the member \"latency\"");
  EXPECT_EQ(refusal(Json::array()).substr(0, 20), "map.json: has not th");
  EXPECT_THROW(read_saturation("{", "map.json"), Error);
  EXPECT_THROW(load_saturation("/does/not/exist"), Error);
}

TEST(Saturation, TimeIsLinearBetweenTheNumbers) {
  const SaturationMap map = map_of(100, 20);
  EXPECT_DOUBLE_EQ(transfer_time(map, Kind::put, 1, 10, 8), 1000);
  EXPECT_DOUBLE_EQ(transfer_time(map, Kind::put, 1, 256, 8), 25600);  // beyond the messages
  EXPECT_DOUBLE_EQ(transfer_time(map, Kind::put, 8, 10, 8), 1600);    // the node is the limit
  EXPECT_DOUBLE_EQ(transfer_time(map, Kind::put, 16, 10, 8), 3200);   // beyond the cores
  EXPECT_DOUBLE_EQ(transfer_time(map, Kind::put, 1, 1, 2048), 200);   // beyond the bytes
}

// The shortest message of a network takes `latency` ns, and its bytes take their time at 1 GB/s.
SaturationMap network(double latency, size_t cores) {
  SaturationMap map{.cores = {cores},
                    .messages = {1, 128},
                    .bytes = {8, 1 << 20},
                    .puts = {},
                    .gets = {},
                    .hand_over = {},
                    .where = "network",
                    .scope = Scope::between_nodes};
  for (const size_t messages : map.messages)
    for (const size_t bytes : map.bytes) {
      const auto all = static_cast<double>(cores * messages * bytes);
      map.puts.push_back(all / (latency + all));
      map.gets.push_back(all / (latency + 2 * all));
    }
  return map;
}

TEST(SaturationBetweenNodes, WhatIsUnderWayFillsTheTimeOfAReply) {
  constexpr size_t piece = 65536;
  EXPECT_EQ(bytes_under_way(network(1000, 1), piece), 2 * piece);
  EXPECT_EQ(bytes_under_way(network(2 * piece, 1), piece), 4 * piece);
  EXPECT_EQ(bytes_under_way(network(2e6, 1), piece), 32 * piece);  // 2 MB
  EXPECT_EQ(bytes_under_way(network(2e6, 2), piece), 17 * piece);  // for each of two ranks
  EXPECT_EQ(bytes_under_way(network(2e6, 1), 1 << 20), 4 << 20);
}

TEST(SaturationPolicy, HandsOverWhatCoresLimit) {
  const SaturationMap map = map_of(1000, 10);
  const Policy policy = policy_of(map, {.servers = 2});
  EXPECT_FALSE(is_for_servers(policy, {.bytes = 8, .waiting = 1}));
  EXPECT_TRUE(is_for_servers(policy, {.bytes = 8, .waiting = 64}));
  EXPECT_FALSE(is_for_servers(policy, {.bytes = 1025, .waiting = 64}));  // longer than the map's
  EXPECT_TRUE(is_for_servers(policy, {.bytes = 8, .waiting = 300, .in_flight = 255}));
  EXPECT_FALSE(is_for_servers(policy, {.bytes = 8, .waiting = 300, .in_flight = 256}));
}

TEST(SaturationPolicy, LeavesToTheClientWhatTheNodeLimits) {
  const Policy policy = policy_of(map_of(100, 100), {.servers = 4});
  for (const size_t waiting : {1, 8, 128})
    EXPECT_FALSE(is_for_servers(policy, {.bytes = 8, .waiting = waiting}));
}

TEST(SaturationPolicy, LeavesToTheClientWhatIsDearToHandOver) {
  const SaturationMap map = map_of(1000, 10, {.client = 5000, .server = {0, 0}, .latency = 0});
  for (const size_t waiting : {1, 8, 128})
    EXPECT_FALSE(is_for_servers(policy_of(map, {.servers = 4}), {.bytes = 8, .waiting = waiting}));
}

// Whatever the map and the crew are: rules are in order, batches are 1 to 10, more messages never
// make a client keep what fewer make it hand over, and what a rule hands over gains by the map.
TEST(SaturationPolicy, HoldsItsPromisesForAnyMap) {
  std::mt19937 random(16);
  const auto number = [&](double most) {
    return 1 + static_cast<double>(random() % 1000) / 1000 * most;
  };
  for (int round = 0; round < 20; ++round) {
    SaturationMap map =
        map_of(number(2000), number(500),
               {.client = number(500), .server = {number(500), 0}, .latency = number(3000)});
    for (double& value : map.gets) value *= 0.5 + static_cast<double>(random() % 1000) / 1000;
    const Crew crew{.domains = static_cast<int32_t>(1 + random() % 2),
                    .clients = static_cast<int32_t>(1 + random() % 2),
                    .servers = static_cast<int32_t>(1 + random() % 3),
                    .clients_may_take_turns = random() % 2 == 0};
    const Policy policy = policy_of(map, crew);
    for (const Kind kind : {Kind::put, Kind::get}) {
      const std::vector<Rule>& rules = policy.rules(kind);
      for (size_t i = 0; i < rules.size(); ++i) {
        const Rule& rule = rules[i];
        EXPECT_TRUE(rule.batch >= 1 && rule.batch <= most_batch);
        EXPECT_TRUE(crew.clients_may_take_turns || !rule.client_takes_turns);
        if (i > 0) {
          const Rule& before = rules[i - 1];
          EXPECT_GE(rule.most_bytes, before.most_bytes);
          EXPECT_TRUE(rule.most_bytes > before.most_bytes ||
                      rule.least_waiting < before.least_waiting);
        }
        if (rule.least_waiting > 128) continue;  // the rule has a size that no server gets
        EXPECT_LT(served_time(map, crew, kind, rule.least_waiting, rule.most_bytes, rule),
                  own_time(map, crew, kind, rule.least_waiting, rule.most_bytes));
      }
      bool before = false;
      for (size_t waiting = 1; waiting <= 200; ++waiting) {
        const bool now = is_for_servers(policy, {.kind = kind, .bytes = 8, .waiting = waiting});
        EXPECT_TRUE(now || !before);
        before = now;
      }
    }
  }
}

// Servers were measured beside two clients: they gain from 4 messages of 8 bytes on, and never at
// 1024 bytes.
TEST(Saturation, ThePolicyBetweenNodesHasAThresholdForEachSize) {
  const char* const text = R"({"format": "tutti-saturation 1", "where": "here",
    "scope": "between nodes", "cores": [1, 2], "messages": [1, 4, 16], "bytes": [8, 1024],
    "puts": [[[1, 1], [1, 1], [1, 1]], [[2, 2], [2, 2], [2, 2]]],
    "gets": [[[1, 1], [1, 1], [1, 1]], [[2, 2], [2, 2], [2, 2]]],
    "served": {"servers": 2,
      "puts": [[[1, 1], [1, 1], [1, 1]], [[2, 2], [3, 2], [3, 2.05]]],
      "gets": [[[2, 2], [1, 2], [1, 2]], [[1, 1], [1, 1], [1, 1]]]}})";
  const SaturationMap map = read_saturation(text, "map");
  ASSERT_EQ(map.served.size(), 1u);
  EXPECT_EQ(map.served[0].servers, 2u);
  const Policy two = policy_between_nodes(map, 2, 2);
  const auto served = [](const Policy& policy, Kind kind, size_t bytes, size_t waiting) {
    return is_for_servers(policy, {.kind = kind, .bytes = bytes, .waiting = waiting});
  };
  EXPECT_FALSE(served(two, Kind::put, 8, 3));
  EXPECT_TRUE(served(two, Kind::put, 8, 4));
  EXPECT_TRUE(served(two, Kind::put, 5, 100));
  EXPECT_FALSE(served(two, Kind::put, 1024, 100));
  EXPECT_FALSE(served(two, Kind::put, 2000, 100));  // longer than the map's
  EXPECT_FALSE(served(two, Kind::get, 8, 100));
  const Policy one = policy_between_nodes(map, 1, 2);
  EXPECT_FALSE(served(one, Kind::put, 8, 100));
  EXPECT_TRUE(served(one, Kind::get, 1024, 1));
  EXPECT_FALSE(served(one, Kind::get, 8, 100));  // with fewer messages alone
  EXPECT_EQ(policy_between_nodes(map, 9, 2).puts.size(), 2u);
  std::string wrong = text;
  wrong.replace(wrong.find("\"servers\": 2"), 12, "\"servers\": 0.5");
  EXPECT_THROW(read_saturation(wrong, "map"), Error);
}

// One server gains never, and four gain always: a job follows the number that is nearest to its
// own.
TEST(Saturation, ThePolicyBetweenNodesIsOfTheNearestNumberOfServers) {
  const SaturationMap map = read_saturation(
      R"({"format": "tutti-saturation 1", "where": "here", "scope": "between nodes",
          "cores": [1], "messages": [1], "bytes": [8], "puts": [[[1]]], "gets": [[[1]]],
          "served": [{"servers": 1, "puts": [[[1]]], "gets": [[[1]]]},
                     {"servers": 4, "puts": [[[2]]], "gets": [[[2]]]}]})",
      "map");
  const auto serves = [&](size_t servers) {
    const Policy policy = policy_between_nodes(map, 1, servers);
    return is_for_servers(policy, {.kind = Kind::put, .bytes = 8, .waiting = 1});
  };
  EXPECT_FALSE(serves(1));
  EXPECT_FALSE(serves(2));
  EXPECT_TRUE(serves(3));
  EXPECT_TRUE(serves(64));
}

}  // namespace
}  // namespace tutti::rma
