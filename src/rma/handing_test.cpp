// Transfers between nodes by servers. The nodes are domains of one process, whose servers are
// threads; messages go over TestWires.
#include "rma/handing.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rma/server.h"
#include "rma/server_threads.h"
#include "rma/test_wires.h"

namespace tutti::rma {
namespace {

constexpr size_t heap_bytes = size_t{1} << 20;

// A node of one rank, with clients, servers and their endpoints. Its "heap" is a part of the
// process's memory; requests that name other memory are refused.
struct TestNode {
  TestNode(int rank, int nodes, int32_t clients, std::vector<std::unique_ptr<TestWires>>& wires)
      : shape{.clients = clients,
              .servers = static_cast<int32_t>(wires.size()),
              .entries = 16,
              .far_clients = clients},
        memory(new (std::align_val_t{line_size}) std::byte[shape.bytes()]),
        domain((std::memset(memory, 0, shape.bytes()), memory), shape),
        heap(heap_bytes) {
    shm::store_relaxed(domain.enabled(), 1);
    shm::store_relaxed(domain.serve_far(), static_cast<uint64_t>(ServeFar::all));
    std::vector<Endpoint::Way> ways;
    for (int other = 0; other < nodes; ++other) ways.push_back({other, 0});
    const Peer peer{.first = first(), .bytes = heap_bytes};
    for (auto& wire : wires) {
      ends.push_back(std::make_unique<TestWires::End>(*wire, rank));
      endpoints.push_back(std::make_unique<Endpoint>(*ends.back(), Window(4000, 4000), ways,
                                                     Endpoint::Memory{{peer}, {peer}}));
    }
  }
  ~TestNode() {
    servers.reset();
    operator delete[](memory, std::align_val_t{line_size});
  }
  TestNode(const TestNode&) = delete;

  uint64_t first() const { return reinterpret_cast<uint64_t>(heap.data()); }
  void start() {
    ServerSettings settings{.count = shape.servers};
    for (const auto& endpoint : endpoints) settings.endpoints.push_back(endpoint.get());
    servers.emplace(domain, mover, settings);
    // Clients take the servers for another process's, which does not reach their private memory.
    for (int32_t place = 0; place < shape.servers; ++place)
      shm::store_relaxed(domain.server(place).process, static_cast<uint64_t>(getppid()));
  }
  std::unique_ptr<Handing> client(int32_t place) {
    Handing::Settings settings;
    settings.servers = {0, shape.servers};
    settings.heap = {first(), heap_bytes};
    return std::make_unique<Handing>(domain, place, settings);
  }

  const DomainShape shape;
  std::byte* const memory;
  const Domain domain;
  std::vector<uint8_t> heap;
  MemoryMover mover;
  std::vector<std::unique_ptr<TestWires::End>> ends;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::optional<ServerThreads> servers;
};

struct Nodes {
  Nodes(int servers, int32_t clients) {
    for (int server = 0; server < servers; ++server) wires.push_back(std::make_unique<TestWires>());
    for (int node = 0; node < 2; ++node)
      nodes[node] = std::make_unique<TestNode>(node, 2, clients, wires);
  }
  // The servers of both nodes answer each other until all have ended what they were given.
  ~Nodes() {
    for (auto& node : nodes) node->servers.reset();
  }
  std::vector<std::unique_ptr<TestWires>> wires;
  std::unique_ptr<TestNode> nodes[2];
};

Transfer transfer(Kind kind, const void* local, const void* remote, size_t bytes, int rank) {
  return {.local = reinterpret_cast<uint64_t>(local),
          .remote = reinterpret_cast<uint64_t>(remote),
          .block_bytes = bytes,
          .kind = kind,
          .target = Transfer::far_target(rank)};
}

Handing::State wait(Handing& client, uint64_t number) {
  Handing::State state;
  while ((state = client.look(number, false)) == Handing::State::under_way)
    std::this_thread::yield();
  client.end(number, state == Handing::State::done);
  return state;
}

// Each client of each node writes its own part of the other node's heap and reads it back, from its
// heap and from other memory, with all kinds of lengths.
TEST(Handing, ClientsOfTwoNodesExchangeByAllServers) {
  constexpr int clients = 3, rounds = 40;
  constexpr size_t part = heap_bytes / 4;
  for (const int servers : {1, 2, 4}) {
    Nodes both(servers, clients);
    for (auto& node : both.nodes) node->start();
    std::vector<std::thread> threads;
    for (int node = 0; node < 2; ++node)
      for (int place = 0; place < clients; ++place)
        threads.emplace_back([&both, node, place] {
          TestNode &here = *both.nodes[node], &there = *both.nodes[1 - node];
          const auto client = here.client(place);
          uint8_t* const remote = there.heap.data() + static_cast<size_t>(place) * part;
          uint8_t* const own = here.heap.data() + 3 * part + static_cast<size_t>(place) * 64 * 1024;
          std::vector<uint8_t> private_memory(slot_bytes), got(slot_bytes);
          for (int round = 0; round < rounds; ++round) {
            const size_t lengths[] = {1, 8, 100, 2500, slot_bytes};
            std::vector<uint64_t> numbers;
            size_t at = 0;
            for (const size_t bytes : lengths) {
              for (size_t i = 0; i < bytes; ++i)
                own[at + i] = private_memory[i] = static_cast<uint8_t>(i * 7 + at + size_t(round));
              const bool from_heap = round % 2 == 0;
              const uint64_t number =
                  client->start(transfer(Kind::put, from_heap ? own + at : private_memory.data(),
                                         remote + at, bytes, 1 - node));
              ASSERT_TRUE(Handing::is_number(number));
              if (from_heap)
                numbers.push_back(number);
              else
                ASSERT_EQ(wait(*client, number), Handing::State::done);
              at += bytes;
            }
            for (const uint64_t number : numbers)
              ASSERT_EQ(wait(*client, number), Handing::State::done);
            at = 0;
            for (const size_t bytes : lengths) {
              const uint64_t number =
                  client->start(transfer(Kind::get, got.data(), remote + at, bytes, 1 - node));
              ASSERT_EQ(wait(*client, number), Handing::State::done);
              ASSERT_EQ(std::memcmp(got.data(), own + at, bytes), 0) << round << " " << bytes;
              at += bytes;
            }
          }
          EXPECT_EQ(client->outstanding(), 0u);
        });
    for (std::thread& thread : threads) thread.join();
    for (auto& node : both.nodes) {
      uint64_t all = 0;
      for (int server = 0; server < servers; ++server)
        all += shm::load_relaxed(node->domain.server(server).away);
      EXPECT_EQ(all, uint64_t{clients * rounds * 10});
      for (int server = 0; server < servers; ++server)
        EXPECT_NEAR(static_cast<double>(shm::load_relaxed(node->domain.server(server).away)),
                    static_cast<double>(all) / servers, 0.2 * static_cast<double>(all) / servers);
    }
  }
}

// Blocks at distances travel packed.
TEST(Handing, BlocksAtDistances) {
  Nodes both(1, 1);
  for (auto& node : both.nodes) node->start();
  const auto client = both.nodes[0]->client(0);
  std::vector<uint8_t> from(300), got(300);
  std::iota(from.begin(), from.end(), uint8_t{0});
  Transfer put = transfer(Kind::put, from.data(), both.nodes[1]->heap.data() + 500, 10, 1);
  put.blocks = 6;
  put.local_stride = 50;
  put.remote_stride = -20;
  ASSERT_EQ(wait(*client, client->start(put)), Handing::State::done);
  Transfer get = put;
  get.kind = Kind::get;
  get.local = reinterpret_cast<uint64_t>(got.data());
  ASSERT_EQ(wait(*client, client->start(get)), Handing::State::done);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % 50 < 10 ? from[i] : 0) << i;
}

// Puts that signal, by all servers and in pieces. The target knows nothing but the sum of its
// signal, and reads the data as soon as that is there, of two halves of its memory in turn.
TEST(Handing, PutsThatSignal) {
  constexpr int clients = 3, rounds = 60;
  constexpr size_t lengths[] = {1, 8, 2500, slot_bytes};
  constexpr size_t part = 8192, half = clients * part;
  constexpr size_t sum = clients * (1 + 8 + 2500 + slot_bytes);
  for (const int servers : {1, 2, 4}) {
    Nodes both(servers, clients);
    for (auto& node : both.nodes) node->start();
    std::atomic<int> turn{0};  // the rounds that the target has read
    uint8_t* const heap = both.nodes[1]->heap.data();
    auto* const signals = reinterpret_cast<shm::Word*>(heap + 2 * half);
    std::vector<std::thread> threads;
    for (int place = 0; place < clients; ++place)
      threads.emplace_back([&, place] {
        const auto client = both.nodes[0]->client(place);
        std::vector<uint8_t> data(slot_bytes);
        for (int round = 0; round < rounds; ++round) {
          while (turn < round - 1) std::this_thread::yield();
          std::fill(data.begin(), data.end(), static_cast<uint8_t>(round + place));
          uint8_t* at = heap + size_t(round % 2) * half + static_cast<size_t>(place) * part;
          std::vector<uint64_t> numbers;
          for (const size_t bytes : lengths) {
            Transfer put = transfer(Kind::put_signal, data.data(), at, bytes, 1);
            put.remote_stride = reinterpret_cast<int64_t>(&signals[round % 2]);
            numbers.push_back(client->start(put));
            ASSERT_TRUE(Handing::is_number(numbers.back()));
            at += bytes;
          }
          for (const uint64_t number : numbers)
            ASSERT_EQ(wait(*client, number), Handing::State::done);
        }
      });
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t least = sum * static_cast<uint64_t>(round / 2 + 1);
      while (shm::observe(signals[round % 2]) < least) std::this_thread::yield();
      EXPECT_EQ(shm::observe(signals[round % 2]), least);
      for (size_t place = 0; place < clients; ++place)
        for (size_t i = 0; i < sum / clients; ++i)
          if (heap[size_t(round % 2) * half + place * part + i] !=
              static_cast<uint8_t>(size_t(round) + place))
            ++wrong;
      turn = round + 1;
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

// A server that cannot add to a signal moves nothing. The client then executes the put.
TEST(Handing, ASignalThatAServerDoesNotReach) {
  Nodes both(1, 1);
  for (auto& node : both.nodes) node->start();
  const auto client = both.nodes[0]->client(0);
  uint64_t word = 1;
  Transfer put = transfer(Kind::put_signal, &word, both.nodes[1]->heap.data(), 8, 1);
  put.remote_stride = 64;
  EXPECT_EQ(wait(*client, client->start(put)), Handing::State::own);
  EXPECT_EQ(both.nodes[1]->heap[0], 0);
}

// A client that never completes what it has started uses up its own slots and entries alone.
TEST(Handing, AClientThatNeverComesBackHindersNobody) {
  Nodes both(2, 2);
  for (auto& node : both.nodes) node->start();
  const auto absent = both.nodes[0]->client(0), other = both.nodes[0]->client(1);
  std::vector<uint8_t> data(200, 7);
  size_t handed = 0;
  const auto start = [&](size_t bytes) {
    uint8_t* const remote = both.nodes[1]->heap.data() + 1000 + handed * 200;
    return absent->start(transfer(Kind::put, data.data(), remote, bytes, 1)) != 0;
  };
  while (start(100)) ++handed;
  EXPECT_EQ(handed, slots_of_client);
  while (start(8)) ++handed;
  EXPECT_EQ(handed, 2 * both.nodes[0]->shape.entries);
  for (int round = 0; round < 100; ++round) {
    const uint64_t number =
        other->start(transfer(Kind::put, data.data(), both.nodes[1]->heap.data() + 200, 100, 1));
    ASSERT_TRUE(Handing::is_number(number));
    ASSERT_EQ(wait(*other, number), Handing::State::done);
  }
  EXPECT_EQ(both.nodes[1]->heap[200], 7);
  while (absent->oldest() != 0) wait(*absent, absent->oldest());
}

TEST(Handing, TransfersStayWithTheClientWhileServersAreDisabledOrMissing) {
  Nodes both(1, 1);
  const auto client = both.nodes[0]->client(0);
  uint64_t word = 1;
  const Transfer put = transfer(Kind::put, &word, both.nodes[1]->heap.data(), 8, 1);
  EXPECT_EQ(client->start(put), 0u);
  for (auto& node : both.nodes) node->start();
  shm::store_relaxed(both.nodes[0]->domain.enabled(), 0);
  EXPECT_EQ(client->start(put), 0u);
  shm::store_relaxed(both.nodes[0]->domain.enabled(), 1);
  EXPECT_EQ(wait(*client, client->start(put)), Handing::State::done);
  shm::store_relaxed(both.nodes[0]->domain.serve_far(), static_cast<uint64_t>(ServeFar::none));
  EXPECT_EQ(client->start(put), 0u);
}

// The target's server finds that nobody has the memory. The client then executes the transfer, and
// learns the reason.
TEST(Handing, MemoryThatNobodyHas) {
  Nodes both(1, 1);
  for (auto& node : both.nodes) node->start();
  const auto client = both.nodes[0]->client(0);
  uint64_t word = 1;
  const void* const nowhere = reinterpret_cast<const void*>(64);
  EXPECT_EQ(wait(*client, client->start(transfer(Kind::put, &word, nowhere, 8, 1))),
            Handing::State::own);
}

// A wire that fails ends what is under way on it.
TEST(Handing, AWireThatFails) {
  Nodes both(1, 1);
  both.nodes[0]->start();  // nobody answers
  const auto client = both.nodes[0]->client(0);
  uint64_t word = 1;
  const uint64_t number =
      client->start(transfer(Kind::put, &word, both.nodes[1]->heap.data(), 8, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(client->look(number, false), Handing::State::under_way);
  both.wires[0]->fail();
  EXPECT_EQ(wait(*client, number), Handing::State::own);
}

// It may have carried a put that signals, which a second one would do again.
TEST(Handing, APutThatSignalsIsLostWithItsWire) {
  Nodes both(1, 1);
  both.nodes[0]->start();
  const auto client = both.nodes[0]->client(0);
  uint64_t word = 1;
  Transfer put = transfer(Kind::put_signal, &word, both.nodes[1]->heap.data(), 8, 1);
  put.remote_stride = reinterpret_cast<int64_t>(both.nodes[1]->heap.data() + 8);
  const uint64_t number = client->start(put);
  both.wires[0]->fail();
  EXPECT_EQ(wait(*client, number), Handing::State::lost);
  EXPECT_EQ(client->counts().lost, 1u);
  // A wire that has failed before carries no part of it.
  EXPECT_EQ(wait(*client, client->start(put)), Handing::State::own);
  EXPECT_EQ(client->counts().lost, 1u);
}

// The process of a server ends: transfers that it had not begun are the client's, and so is a get
// that was away. A put that was away is lost, also one that signals.
TEST(Handing, AServerWhoseProcessHasDied) {
  Nodes both(1, 1);
  TestNode& here = *both.nodes[0];
  const pid_t process = fork();
  if (process == 0) _exit(0);
  ASSERT_EQ(waitpid(process, nullptr, 0), process);
  ServerState& state = here.domain.server(0);
  claim_all(here.domain, 1);
  announce(state, {process, 0}, ServerKind::thread_with_endpoint);
  const auto client = here.client(0);
  uint64_t word = 1;
  std::vector<uint64_t> numbers;
  for (const Kind kind : {Kind::put, Kind::get, Kind::put_signal, Kind::put})
    numbers.push_back(client->start(transfer(kind, &word, both.nodes[1]->heap.data(), 8, 1)));
  Consumer queue(here.domain.entries(0, 0), here.shape.entries, standing(state).generation);
  for (int begun = 0; begun < 3; ++begun) {
    ASSERT_NE(queue.take(), nullptr);
    queue.send_away();
  }
  EXPECT_EQ(client->look(numbers[0], false), Handing::State::under_way);
  EXPECT_EQ(client->look(numbers[0], true), Handing::State::lost);
  EXPECT_EQ(client->look(numbers[1], true), Handing::State::own);
  EXPECT_EQ(client->look(numbers[2], true), Handing::State::lost);
  EXPECT_EQ(client->look(numbers[3], true), Handing::State::own);
  EXPECT_NE(client->describe(numbers[0]).find("put of 8 bytes with rank 1"), std::string::npos);
  for (const uint64_t number : numbers) client->end(number, false);
  EXPECT_EQ(client->counts().lost, 2u);
  EXPECT_EQ(client->start(transfer(Kind::put, &word, both.nodes[1]->heap.data(), 8, 1)), 0u);
}

// Three of four transfers of a phase with three servers are theirs and one is the client's, in the
// phases in which it takes turns; all are waited for before the next phase begins.
TEST(Handing, AnActiveClientTakesItsTurn) {
  Nodes both(3, 1);
  for (auto& node : both.nodes) {
    shm::store_relaxed(node->domain.serve_far(), static_cast<uint64_t>(ServeFar::selective));
    node->start();
  }
  const auto client = both.nodes[0]->client(0);
  uint8_t* const local = both.nodes[0]->heap.data();
  const uint8_t* const remote = both.nodes[1]->heap.data();
  int phases_with_turns = 0;
  for (int phase = 0; phase < 40; ++phase) {
    std::vector<uint64_t> numbers;
    for (int i = 0; i < 4; ++i)
      numbers.push_back(client->start(transfer(Kind::get, local + 64 * i, remote, 64, 1)));
    const auto own = std::count(numbers.begin(), numbers.end(), 0u);
    EXPECT_TRUE(own == 0 || own == 1 || own == 4) << own;
    if (own == 1) ++phases_with_turns;
    for (const uint64_t number : numbers) {
      if (number == 0)
        client->note_end();
      else
        EXPECT_EQ(wait(*client, number), Handing::State::done);
    }
  }
  EXPECT_GE(phases_with_turns, 8);  // it has been tried
}

enum : size_t { by_client, with_client, in_turn, in_batches };
using PerWay = std::array<double, 4>;

// Learning by a clock of its own, with two servers. Returns the shares of phases that went each
// way, for which a phase takes `seconds`.
PerWay learned(const PerWay& seconds, int phases, size_t together, bool for_servers = false) {
  Learning learning(2);
  double now = 0;
  PerWay shares{};
  const auto time = [&now] {
    return Learning::Clock::time_point(
        std::chrono::duration_cast<Learning::Clock::duration>(std::chrono::duration<double>(now)));
  };
  for (int phase = 0; phase < phases; ++phase) {
    uint32_t batch = 0;
    for (size_t i = 0; i < together; ++i)
      batch = learning.batch({.kind = Kind::get, .bytes = 4096, .waiting = together}, for_servers,
                             time);
    size_t way = in_batches;
    if (batch == 0) way = by_client;
    if (batch == 1) way = learning.client_takes_turns() ? with_client : in_turn;
    if (way == in_batches) {
      EXPECT_EQ(batch, std::min<size_t>(together / 2, most_batch));
    }
    now += seconds[way];
    shares[way] += 1.0 / phases;
    for (size_t i = 0; i < together; ++i) learning.end(time);
  }
  return shares;
}

TEST(Learning, PhasesGoTheQuickestWay) {
  EXPECT_GT(learned({2e-3, 3e-3, 1e-3, 1.5e-3}, 1000, 16)[in_turn], 0.9);
  EXPECT_GT(learned({2e-3, 1e-3, 1.5e-3, 3e-3}, 1000, 16)[with_client], 0.9);
  EXPECT_GT(learned({2e-3, 3e-3, 1.5e-3, 1e-3}, 1000, 16)[in_batches], 0.9);
  EXPECT_GT(learned({1e-3, 2e-3, 2e-3, 2e-3}, 1000, 16)[by_client], 0.9);
  EXPECT_GT(learned({1.03e-3, 1e-3, 1e-3, 1e-3}, 1000, 16)[by_client], 0.9);  // not worth cores
  for (const double share : learned({2e-3, 1e-3, 1e-3, 1e-3}, 32, 16))
    EXPECT_NEAR(share, 1.0 / 4, 1e-9);
}

// Those that a map gives to servers never go by the client.
TEST(Learning, BatchesOfWhatAMapGivesToServers) {
  const auto quickest_in_turn = learned({1e-3, 1e-3, 2e-3, 3e-3}, 1000, 16, true);
  EXPECT_EQ(quickest_in_turn[by_client] + quickest_in_turn[with_client], 0);
  EXPECT_GT(quickest_in_turn[in_turn], 0.9);
  EXPECT_GT(learned({1e-3, 1e-3, 3e-3, 2e-3}, 1000, 16, true)[in_batches], 0.9);
  // One transfer a server.
  EXPECT_GT(learned({1e-3, 1e-3, 3e-3, 2e-3}, 1000, 2, true)[in_turn], 0.99);
}

TEST(Learning, BatchesAreForSeveralTransfersOfAServer) {
  EXPECT_EQ(learned({2e-3, 1e-3, 1e-3, 1e-3}, 1000, 3)[in_batches], 0);
  EXPECT_GT(learned({2e-3, 2e-3, 1.5e-3, 1e-3}, 1000, 4)[in_batches], 0.9);
  // Batches of most_batch.
  EXPECT_GT(learned({2e-3, 2e-3, 1.5e-3, 1e-3}, 1000, 64)[in_batches], 0.9);
}

// With as many transfers as servers it would have no turn in some phases.
TEST(Learning, AClientTakesTurnsOfMoreTransfersThanServers) {
  EXPECT_EQ(learned({2e-3, 1e-3, 1.5e-3, 3e-3}, 1000, 2)[with_client], 0);
  EXPECT_GT(learned({2e-3, 1e-3, 1.5e-3, 3e-3}, 1000, 3)[with_client], 0.9);
}

}  // namespace
}  // namespace tutti::rma
