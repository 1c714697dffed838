// Clients and servers as threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rma/client.h"
#include "rma/domain.h"
#include "rma/server.h"
#include "rma/server_threads.h"

namespace tutti::rma {
namespace {

struct Fixture {
  explicit Fixture(const DomainShape& shape)
      : memory(new (std::align_val_t{line_size}) std::byte[shape.bytes()]),
        domain((std::memset(memory, 0, shape.bytes()), memory), shape) {
    shm::store_relaxed(domain.enabled(), 1);
  }
  ~Fixture() {
    servers.reset();
    operator delete[](memory, std::align_val_t{line_size});
  }
  Fixture(const Fixture&) = delete;

  void start(int32_t count) { servers.emplace(domain, mover, ServerSettings{.count = count}); }
  std::unique_ptr<Client> client(int32_t place, Serve serve = Serve::all) {
    auto made = std::make_unique<Client>(domain, place, mover, exec::WaitStyle::yield);
    made->set_policy({.serve = serve});
    return made;
  }

  std::byte* memory;
  Domain domain;
  MemoryMover mover;
  std::optional<ServerThreads> servers;
};

Transfer put(const void* from, void* to, size_t bytes) {
  return {.local = reinterpret_cast<uint64_t>(from),
          .remote = reinterpret_cast<uint64_t>(to),
          .block_bytes = bytes,
          .kind = Kind::put};
}
Transfer get(void* to, const void* from, size_t bytes) {
  return {.local = reinterpret_cast<uint64_t>(to),
          .remote = reinterpret_cast<uint64_t>(from),
          .block_bytes = bytes,
          .kind = Kind::get};
}

TEST(Rma, PutsAndGetsMoveBytes) {
  Fixture fixture({.clients = 1, .servers = 2, .entries = 8});
  fixture.start(2);
  const auto client = fixture.client(0);
  for (const size_t bytes : {0, 1, 8, 100, 4096, 1 << 20}) {
    std::vector<uint8_t> from(bytes + 1), put_there(bytes + 1), got(bytes + 1);
    std::iota(from.begin(), from.end(), uint8_t{1});
    client->wait(client->start(put(from.data(), put_there.data(), bytes)));
    client->wait(client->start(get(got.data(), put_there.data(), bytes)));
    from[bytes] = 0;  // the byte after the end is untouched
    EXPECT_EQ(put_there, from);
    EXPECT_EQ(got, from);
  }
}

TEST(Rma, BlocksAtDistancesOfTheirOwn) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 8});
  fixture.start(1);
  const auto client = fixture.client(0);
  std::vector<int> from(20), to(20, -1);
  std::iota(from.begin(), from.end(), 0);
  Transfer transfer = put(from.data(), to.data() + 19, 2 * sizeof(int));
  transfer.remote = reinterpret_cast<uint64_t>(to.data() + 18);
  transfer.blocks = 3;
  transfer.local_stride = 5 * sizeof(int);
  transfer.remote_stride = -6 * static_cast<int64_t>(sizeof(int));
  client->wait(client->start(transfer));
  std::vector<int> expected(20, -1);
  for (int block = 0; block < 3; ++block)
    for (int i = 0; i < 2; ++i) expected[static_cast<size_t>(18 - 6 * block + i)] = 5 * block + i;
  EXPECT_EQ(to, expected);
}

// Without servers, or with servers that are disabled, the client does the work.
TEST(Rma, ClientsWorkWithoutServers) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 8});
  const auto client = fixture.client(0);
  int from = 7, to = 0;
  EXPECT_LT(client->start(put(&from, &to, sizeof to)).server, 0);
  EXPECT_EQ(to, 7);
  fixture.start(1);
  shm::store_relaxed(fixture.domain.enabled(), 0);
  from = 8;
  EXPECT_LT(client->start(put(&from, &to, sizeof to)).server, 0);
  EXPECT_EQ(to, 8);
  EXPECT_EQ(client->counts().own, 2u);
}

// A queue is full while nobody completes what is in it; more work is done at once.
TEST(Rma, AFullQueueMakesTheClientWork) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 4});
  fixture.start(1);
  const auto client = fixture.client(0);
  std::vector<int> from(10), to(10, -1);
  std::iota(from.begin(), from.end(), 0);
  std::vector<Handle> handles;
  for (size_t i = 0; i < from.size(); ++i)
    handles.push_back(client->start(put(&from[i], &to[i], sizeof(int))));
  EXPECT_EQ(client->counts().handed, 4u);
  EXPECT_EQ(client->counts().own, 6u);
  EXPECT_EQ(client->outstanding(), 4u);
  client->wait_for_all();
  EXPECT_EQ(to, from);
  EXPECT_EQ(client->outstanding(), 0u);
  EXPECT_FALSE(client->is_outstanding(handles[0]));
}

// A server that has ended, and one that follows it.
TEST(Rma, ServersMayEndAndBeStartedAgain) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 4});
  const auto client = fixture.client(0);
  std::vector<int> from(3), to(3, -1);
  std::iota(from.begin(), from.end(), 0);
  for (int round = 0; round < 5; ++round) {
    std::fill(to.begin(), to.end(), -1);
    fixture.start(1);
    std::vector<Handle> handles;
    for (size_t i = 0; i < from.size(); ++i)
      handles.push_back(client->start(put(&from[i], &to[i], sizeof(int))));
    if (round % 2 == 0) fixture.servers.reset();
    for (const Handle& handle : handles)
      while (!client->test(handle)) std::this_thread::yield();
    EXPECT_EQ(to, from);
    fixture.servers.reset();
  }
  EXPECT_EQ(client->counts().handed, 15u);
}

// A place is used again. The server goes on where the client before has ended.
TEST(Rma, AClientMayFollowAnother) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 8});
  fixture.start(1);
  for (int round = 0; round < 4; ++round) {
    const auto client = fixture.client(0);
    for (int i = 0; i < 3; ++i) {
      int from = 10 * round + i, to = -1;
      const Handle handle = client->start(put(&from, &to, sizeof to));
      ASSERT_EQ(handle.server, 0);
      while (!client->test(handle)) std::this_thread::yield();
      EXPECT_EQ(to, from);
    }
    EXPECT_EQ(client->counts().taken_back, 0u);
  }
}

pid_t dead_process() {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  return dead;
}

// A server that has begun a transfer and died leaves it to the client.
TEST(Rma, TheClientCompletesWhatADeadServerHasBegun) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 4});
  const pid_t dead = dead_process();
  ServerState& state = fixture.domain.server(0);
  claim_all(fixture.domain, 1);
  announce(state, {dead, 0}, ServerKind::process);
  const auto client = fixture.client(0);
  int from = 1, to = 0;
  const Handle handle = client->start(put(&from, &to, sizeof to));
  ASSERT_EQ(handle.server, 0);
  Consumer consumer(fixture.domain.entries(0, 0), 4);
  ASSERT_NE(consumer.take(), nullptr);
  client->wait(handle);
  EXPECT_EQ(to, 1);
}

// The calls of read(2) that this process has made.
uint64_t reads() {
  std::ifstream io("/proc/self/io");
  std::string word;
  for (uint64_t number = 0; io >> word >> number;)
    if (word == "syscr:") return number;
  return 0;
}

// A program may test in a loop, so only few tests may ask the system what has become of the server.
TEST(Rma, AnUnsuccessfulTestSeldomReadsTheSystemsFiles) {
  if (reads() == 0) GTEST_SKIP() << "the system does not count reads";
  Fixture fixture({.clients = 1, .servers = 1, .entries = 4});
  const pid_t server = fork();
  if (server == 0) {
    pause();
    _exit(0);
  }
  claim_all(fixture.domain, 1);
  announce(fixture.domain.server(0), {server, 0}, ServerKind::process);
  const auto client = fixture.client(0);
  int from = 1, to = 0;
  const Handle handle = client->start(put(&from, &to, sizeof to));
  const uint64_t before = reads();
  for (int tests = 0; tests < 200'000; ++tests) ASSERT_FALSE(client->test(handle));
  EXPECT_LT(reads() - before, 200u);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  client->wait(handle);
  EXPECT_EQ(to, 1);
}

// Whoever claims a place may die before a server runs in it.
TEST(Rma, APlaceWhoseClaimantHasDiedIsFree) {
  Fixture fixture({.clients = 1, .servers = 2, .entries = 4});
  shm::publish(fixture.domain.server(0).life,
               word_of({Life::starting, 1, static_cast<uint64_t>(dead_process())}));
  EXPECT_EQ(claim_all(fixture.domain, 2).size(), 2u);
  EXPECT_EQ(standing(fixture.domain.server(0)).generation, 2u);
  // This process lives, so its places are not free.
  EXPECT_TRUE(claim_places(fixture.domain, {0, 2}, 2).empty());
}

// Processes may start and end servers at once; the last one to tell clients must tell what is.
TEST(Rma, StartsAndEndsAtOnceLeaveWhatIsTrue) {
  Fixture fixture({.clients = 1, .servers = 2, .entries = 4});
  const Domain& domain = fixture.domain;
  shm::store_relaxed(domain.enabled(), 1);
  shm::store_relaxed(domain.least_bytes(), 100);
  for (int round = 0; round < 2000; ++round) {
    const auto change = [&domain](int32_t place, bool runs) {
      const uint64_t generation = standing(domain.server(place)).generation;
      shm::publish(domain.server(place).life,
                   word_of({runs ? Life::running : Life::ended, generation}));
      tell_served_from(domain);
    };
    for (int32_t place = 0; place < 2; ++place)
      announce(domain.server(place), this_process(), ServerKind::thread);
    tell_served_from(domain);
    std::thread other([&] { change(0, false); });
    change(1, false);
    other.join();
    ASSERT_EQ(shm::load_relaxed(domain.served_from()), UINT64_MAX) << "round " << round;
    std::thread starts([&] { change(0, true); });
    change(1, round % 2 == 0);
    starts.join();
    ASSERT_EQ(shm::load_relaxed(domain.served_from()), 100u) << "round " << round;
  }
}

TEST(Rma, AForkedChildWorksWithoutItsParentsServers) {
  Fixture fixture({.clients = 1, .servers = 1, .entries = 4});
  fixture.start(1);
  const auto client = fixture.client(0);
  const pid_t child = fork();
  if (child == 0) {
    int from = 3, to = 0;
    client->wait(client->start(put(&from, &to, sizeof to)));
    _exit(to == 3 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Rma, IdleServersSleep) {
  Fixture fixture({.clients = 1, .servers = 2, .entries = 4});
  fixture.start(2);
  const auto sleeps = [&](int32_t server) {
    return shm::load_relaxed(fixture.domain.server(server).sleeps);
  };
  while (sleeps(0) == 0 || sleeps(1) == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(cpu_seconds() - before, 0.1);  // one that polls takes 0.5
  const auto client = fixture.client(0);
  int from = 1, to = 0;
  const Handle handle = client->start(put(&from, &to, sizeof to));
  while (!client->test(handle)) std::this_thread::yield();  // test() does not take it back
  EXPECT_EQ(to, 1);
  EXPECT_EQ(shm::load_relaxed(fixture.domain.server(handle.server).transfers), 1u);
}

// Sixteen threads: clients that keep many transfers outstanding, and servers, in any order.
TEST(Rma, ManyClientsAndServers) {
  constexpr int32_t clients = 12, servers = 4;
  constexpr size_t values = 64, rounds = 25;
  Fixture fixture({.clients = clients, .servers = servers, .entries = 16});
  fixture.start(servers);
  std::vector<std::vector<uint64_t>> heaps(clients, std::vector<uint64_t>(values * clients));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int32_t me = 0; me < clients; ++me) {
    threads.emplace_back([&, me] {
      const auto client = fixture.client(me);
      std::vector<uint64_t> mine(values), back(values);
      for (size_t round = 0; round < rounds; ++round) {
        const int32_t target = (me + 1 + static_cast<int32_t>(round)) % clients;
        uint64_t* const there =
            heaps[static_cast<size_t>(target)].data() + values * static_cast<size_t>(me);
        std::vector<Handle> handles;
        for (size_t i = 0; i < values; ++i) {
          mine[i] = round * values + i;
          handles.push_back(client->start(put(&mine[i], &there[i], sizeof(uint64_t))));
        }
        for (size_t i = values; i-- > 0;)
          if (client->is_outstanding(handles[i])) client->wait(handles[i]);
        for (size_t i = 0; i < values; ++i)
          client->start(get(&back[i], &there[i], sizeof(uint64_t)));
        client->wait_for_all();
        if (back != mine) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tutti::rma
