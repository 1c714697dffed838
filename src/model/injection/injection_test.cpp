// The simulation of injection against times that can be worked out by hand.
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/injection/simulate.h"

namespace tutti::injection {
namespace {

using rma::Kind;

// 100 ns to start a message, 10 to learn of its completion; 4 travel at once; the adapter takes 20
// ns and 1 ns a byte; 500 ns from adapter to adapter.
Machine simple() {
  const Protocol all{.name = "all",
                     .most_bytes = 1 << 20,
                     .overhead = 100,
                     .overhead_byte = 0,
                     .completion = 10,
                     .in_flight = 4,
                     .gap = 20,
                     .byte = 1,
                     .crowding = 0,
                     .latency = 500};
  return {.name = "simple",
          .what = "",
          .source = "",
          .cores = 16,
          .domains = 1,
          .puts = {all},
          .gets = {all},
          .hand_over = {.post = 30, .take = 5, .retire = 7, .check = 8, .latency = 50},
          .served = {}};
}

rma::Policy all_to_servers(uint32_t batch, bool client_takes_turns) {
  const rma::Rule rule{.batch = batch, .client_takes_turns = client_takes_turns};
  return {.serve = rma::Serve::all, .puts = {rule}, .gets = {rule}};
}

TEST(Injection, OneMessage) {
  // Start, there, the adapter's time, the acknowledgement or the data back, completion.
  EXPECT_DOUBLE_EQ(simulate(simple(), {.bytes = 80}).nanoseconds, 100 + 500 + 100 + 500 + 10);
  EXPECT_DOUBLE_EQ(simulate(simple(), {.kind = Kind::get, .bytes = 80}).nanoseconds,
                   100 + 500 + 500 + 100 + 10);
}

TEST(Injection, OneMessageByAServer) {
  const Outcome outcome =
      simulate(simple(), {.servers = 1, .bytes = 80, .policy = all_to_servers(1, false)});
  EXPECT_DOUBLE_EQ(outcome.nanoseconds, 30 + 50 + (5 + 100) + 500 + 100 + 500 + (10 + 7) + 50 + 8);
  EXPECT_EQ(outcome.handed, 2U);  // one on each node
}

TEST(Injection, ManyMessagesAreLimitedByTheCoreTheQueueOrTheAdapter) {
  const auto time_of_each = [](Machine machine, size_t bytes, auto change) {
    change(machine.puts[0]);
    return simulate(machine, {.bytes = bytes, .messages = 1000}).nanoseconds / 1000;
  };
  // The core: it starts and learns of each.
  EXPECT_NEAR(time_of_each(simple(), 8, [](Protocol& all) { all.in_flight = 64; }), 110, 3);
  // The queue: 4 at once, each for 1,028 ns.
  EXPECT_NEAR(time_of_each(simple(), 8, [](Protocol&) {}), 1028.0 / 4, 3);
  // The adapter.
  EXPECT_NEAR(time_of_each(simple(), 1024, [](Protocol& all) { all.in_flight = 64; }), 1044, 5);
}

TEST(Injection, CoresShareTheAdapterAndCrowdIt) {
  Machine machine = simple();
  const auto time_of_each = [&] {
    return simulate(machine, {.clients = 4, .bytes = 1024, .messages = 250}).nanoseconds / 1000;
  };
  EXPECT_NEAR(time_of_each(), 1044, 5);
  machine.puts[0].crowding = 0.1;
  EXPECT_NEAR(time_of_each(), 20 + 1024 * 1.3, 10);
}

TEST(Injection, ServersWorkAtOnce) {
  const auto time = [](int32_t servers, bool client_takes_turns) {
    return simulate(simple(), {.servers = servers,
                               .kind = Kind::get,
                               .bytes = 8,
                               .messages = 120,
                               .policy = all_to_servers(2, client_takes_turns)})
        .nanoseconds;
  };
  EXPECT_NEAR(time(1, false) / time(2, false), 2, 0.1);
  EXPECT_NEAR(time(1, false) / time(2, true), 3, 0.25);
}

TEST(Injection, AnAllToAllSendsOneMessageToEachOther) {
  const Setting setting{.nodes = 9,
                        .clients = 2,
                        .servers = 2,
                        .kind = Kind::get,
                        .bytes = 64,
                        .all_to_all = true,
                        .most_outstanding = 3,
                        .policy = all_to_servers(1, true)};
  const Outcome outcome = simulate(simple(), setting);
  EXPECT_EQ(outcome.messages, 18U * 16);
  EXPECT_GT(outcome.handed, outcome.messages / 2);
  EXPECT_EQ(simulate(simple(), setting).nanoseconds, outcome.nanoseconds);
  Setting narrower = setting;
  narrower.most_outstanding = 1;
  EXPECT_GT(simulate(simple(), narrower).nanoseconds, 2 * outcome.nanoseconds);
}

TEST(Injection, AMapIsWhatItsCellsSimulate) {
  const rma::SaturationMap map = saturation_of(simple());
  EXPECT_EQ(map.cores, (std::vector<size_t>{1, 2, 4, 8, 12, 16}));
  const double time =
      simulate(simple(), {.clients = 4, .kind = Kind::get, .bytes = 512, .messages = 8})
          .nanoseconds;
  EXPECT_NEAR(rma::transfer_time(map, Kind::get, 4, 8, 512), time, 1e-6 * time);
}

TEST(Injection, MistakesAreOneLine) {
  EXPECT_THROW(simulate(simple(), {.clients = 6, .servers = 2}), Error);
  EXPECT_THROW(simulate(simple(), {.nodes = 1}), Error);
  EXPECT_THROW(simulate(simple(), {.bytes = 2 << 20}), Error);
  const Json json =
      Json::parse(R"({"format": "tutti-injection 1", "name": "a", "what": "b", "source": "c",
    "cores": 0})");
  try {
    read_machine(json, "file.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "file.json: cores: must be at least 1");
  }
}

}  // namespace
}  // namespace tutti::injection
