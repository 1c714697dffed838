// Servers as processes, and what becomes of transfers when servers and clients die or are stopped.
#include "rma/server_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/sanitized.h"
#include "rma/client.h"
#include "rma/process_mover.h"
#include "rma/server_threads.h"

namespace tutti::rma {
namespace {

using std::chrono::milliseconds;

// The watchdog is quick here. Set before the first use of the options.
const int set_watchdog = setenv("TUTTI_STALL_SECONDS", "1", 1);

// Rank 0 is this process. A transfer of many short blocks takes long, because each block is a copy
// by the system, and little memory.
constexpr uint32_t many_blocks = 100'000;

struct Fixture {
  explicit Fixture(int32_t clients = 1, int32_t servers = 1)
      : shape{.clients = clients, .servers = servers, .entries = 8},
        segment(shm::Segment::create(shm::Segment::Kind::memfd, shape.bytes())),
        page(segment.take(shape.bytes(), shape.bytes(), 1)->first_page),
        domain(segment.address(page), shape) {
    shm::store_relaxed(domain.enabled(), 1);
    peers.assign(static_cast<size_t>(clients), own_memory);
    home = {.program = TUTTI_SERVER,
            .segment = segment.location(),
            .offset = page * shm::page_size,
            .ranks = {{.process = getpid()}},
            .owner = 0};
  }
  void start(int32_t count = 1) { servers.emplace(domain, home, ServerSettings{.count = count}); }
  std::unique_ptr<Client> client(int32_t place = 0) {
    auto made = std::make_unique<Client>(domain, place, mover, exec::WaitStyle::yield);
    made->set_policy({.serve = Serve::all});
    return made;
  }
  ProcessId process(int32_t place = 0) const { return process_of(domain.server(place)); }
  uint64_t served(int32_t place = 0) const {
    return shm::load_relaxed(domain.server(place).transfers);
  }

  const DomainShape shape;
  shm::Segment segment;
  const uint32_t page;
  const Domain domain;
  ServerHome home;
  std::vector<Peer> peers;  // clients of this process execute transfers within its memory
  ProcessMover mover{peers, {}};
  std::optional<ServerProcesses> servers;
};

// Waits for what another process does; false after 20 s.
bool comes(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}
void send(const ProcessId& process, int signal) {
  kill(static_cast<pid_t>(process.number), signal);
}
bool is_stopped(const ProcessId& process) {
  return comes([&] { return process_is_stopped(process); });
}
bool is_gone(const ProcessId& process) {
  return comes([&] { return process_is_gone(process); });
}

Transfer put(const void* from, void* to, size_t bytes) {
  return {.local = reinterpret_cast<uint64_t>(from),
          .remote = reinterpret_cast<uint64_t>(to),
          .block_bytes = bytes,
          .kind = Kind::put};
}

// A put of every byte of `from`, one by one.
Transfer long_put(const std::vector<uint8_t>& from, std::vector<uint8_t>& to) {
  Transfer transfer = put(from.data(), to.data(), 1);
  transfer.blocks = many_blocks;
  transfer.local_stride = transfer.remote_stride = 1;
  return transfer;
}
std::vector<uint8_t> counted() {
  std::vector<uint8_t> bytes(many_blocks);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

// Starts a long put, and returns when a server has begun it.
Handle begun(Fixture& fixture, Client& client, const Transfer& transfer) {
  const Handle handle = client.start(transfer);
  EXPECT_GE(handle.server, 0);
  const auto* const entries = fixture.domain.entries(0, handle.server);
  EXPECT_TRUE(comes([&] {
    return is_taken(shm::observe(entries[handle.position % fixture.shape.entries].stamp));
  }));
  return handle;
}

std::string status_of(const ProcessId& process) {
  std::ifstream file("/proc/" + std::to_string(process.number) + "/status");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ServerProcesses, MoveBytesOfPrivateMemoryAndOfHeaps) {
  Fixture fixture;
  shm::Heap heap(shm::Heap::least_bytes);
  fixture.home.ranks[0].heap = heap.location();
  fixture.home.ranks[0].heap_base = reinterpret_cast<uint64_t>(heap.base());
  fixture.start();
  const auto client = fixture.client();
  auto* const in_heap = reinterpret_cast<uint8_t*>(heap.take(5000, 64));
  std::vector<uint8_t> from(5000), back(5000);
  std::iota(from.begin(), from.end(), uint8_t{3});
  for (const Transfer& transfer :
       {put(from.data(), in_heap, from.size()), put(in_heap, back.data(), back.size())}) {
    const Handle handle = client->start(transfer);
    ASSERT_EQ(handle.server, 0);
    ASSERT_TRUE(comes([&] { return client->test(handle); }));  // test() takes nothing back
  }
  EXPECT_EQ(back, from);
  EXPECT_EQ(client->counts().taken_back, 0u);
  EXPECT_EQ(fixture.served(), 2u);
}

// The program does not see it: no child, no signal, no descriptor of this process, none of its
// signals, and not its directory.
TEST(ServerProcesses, AreNotSeenByTheProgram) {
  static std::atomic<int> children{0};
  struct sigaction counts{};
  struct sigaction before{};
  counts.sa_handler = [](int) { ++children; };
  sigaction(SIGCHLD, &counts, &before);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // not closed by exec
  Fixture fixture;
  fixture.start();
  const ProcessId server = fixture.process();
  ASSERT_NE(server.number, getpid());
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // nobody else has the other end
  close(ends[0]);
  const std::string directory = "/proc/" + std::to_string(server.number) + "/fd/";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string file = std::filesystem::read_symlink(entry.path()).string();
    EXPECT_TRUE(file == "/dev/null" || file == "anon_inode:[pidfd]") << file;
  }
  const std::string status = status_of(server);
  EXPECT_NE(status.find("Name:\ttutti-server"), std::string::npos) << status;
  EXPECT_NE(status.find("SigBlk:\tfffffffe7ffbfeff"), std::string::npos) << status;
  EXPECT_EQ(status.find("PPid:\t" + std::to_string(getpid()) + "\n"), std::string::npos) << status;
  EXPECT_EQ(std::filesystem::read_symlink(directory + "../cwd"), "/");
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  fixture.servers.reset();
  EXPECT_TRUE(is_gone(server));
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(children, 0);
  sigaction(SIGCHLD, &before, nullptr);
}

TEST(ServerProcesses, RunWhereTheyAreTold) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  int last = 0;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &usable)) last = unit;
  Fixture fixture;
  fixture.servers.emplace(fixture.domain, fixture.home,
                          ServerSettings{.count = 1, .units = {last}, .own_units = true});
  EXPECT_NE(status_of(fixture.process()).find("Cpus_allowed_list:\t" + std::to_string(last) + "\n"),
            std::string::npos);
}

// Nanoseconds of cores that all threads of a process have used.
uint64_t busy_nanoseconds(const ProcessId& process) {
  uint64_t sum = 0;
  const std::string tasks = "/proc/" + std::to_string(process.number) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "schedstat");
    uint64_t busy = 0;
    if (file >> busy) sum += busy;
  }
  return sum;
}

// Exactly none: nothing wakes a server that has nothing to do.
TEST(ServerProcesses, UseNoCoreWhileTheyAreIdle) {
  if (looks_for_races) GTEST_SKIP() << "the sanitizer has a thread of its own in each process";
  Fixture fixture(1, 2);
  fixture.start(2);
  const auto sleeps = [&](int32_t place) {
    return shm::load_relaxed(fixture.domain.server(place).sleeps) > 0;
  };
  ASSERT_TRUE(comes([&] { return sleeps(0) && sleeps(1); }));
  std::this_thread::sleep_for(milliseconds(100));
  const uint64_t before[] = {busy_nanoseconds(fixture.process(0)),
                             busy_nanoseconds(fixture.process(1))};
  EXPECT_GT(before[0], 0u);
  std::this_thread::sleep_for(milliseconds(2000));
  EXPECT_EQ(busy_nanoseconds(fixture.process(0)), before[0]);
  EXPECT_EQ(busy_nanoseconds(fixture.process(1)), before[1]);
}

TEST(ServerProcesses, KilledWhileIdle) {
  Fixture fixture;
  fixture.start();
  send(fixture.process(), SIGKILL);
  ASSERT_TRUE(is_gone(fixture.process()));
  const auto client = fixture.client();
  int from = 0, to = -1;
  for (; from < 200; ++from) {
    const Handle handle = client->start(put(&from, &to, sizeof to));
    if (client->is_outstanding(handle)) client->wait(handle);
    ASSERT_EQ(to, from);
  }
  // Clients have found out, and do without it from then on.
  EXPECT_FALSE(runs(fixture.domain.server(0)));
  EXPECT_EQ(client->start(put(&from, &to, sizeof to)).server, -1);
  EXPECT_EQ(to, from);
}

TEST(ServerProcesses, KilledWithRequestsThatItHasNotBegun) {
  Fixture fixture;
  fixture.start();
  send(fixture.process(), SIGSTOP);
  ASSERT_TRUE(is_stopped(fixture.process()));
  const auto client = fixture.client();
  const int from[] = {1, 2, 3};
  int to[] = {0, 0, 0};
  Handle handles[3];
  for (int i = 0; i < 3; ++i) handles[i] = client->start(put(&from[i], &to[i], sizeof(int)));
  send(fixture.process(), SIGKILL);
  client->wait(handles[1]);
  EXPECT_EQ(to[1], 2);
  EXPECT_TRUE(comes([&] { return client->test(handles[0]); }));
  client->wait_for_all();
  EXPECT_TRUE(std::equal(from, from + 3, to));
}

// The client completes the transfer in each of the ways.
TEST(ServerProcesses, KilledInALongTransfer) {
  const std::vector<uint8_t> from = counted();
  for (const int way : {0, 1, 2}) {
    Fixture fixture;
    fixture.start();
    const auto client = fixture.client();
    std::vector<uint8_t> to(many_blocks);
    const Handle handle = begun(fixture, *client, long_put(from, to));
    send(fixture.process(), SIGKILL);
    if (way == 0) client->wait(handle);
    if (way == 1) {
      EXPECT_TRUE(comes([&] { return client->test(handle); }));
    }
    if (way == 2) client->wait_for_all();
    EXPECT_EQ(client->outstanding(), 0u);
    EXPECT_TRUE(to == from);
    EXPECT_EQ(client->counts().taken_back, 1u);  // it was within the transfer
    // Nothing writes there any more.
    EXPECT_TRUE(process_is_gone(fixture.process()));
  }
}

// Another server in the same place begins again what its predecessor had begun.
TEST(ServerProcesses, ASuccessorDoesWhatAKilledServerHeld) {
  const std::vector<uint8_t> from = counted();
  for (const bool as_thread : {false, true}) {
    Fixture fixture;
    fixture.start();
    const auto client = fixture.client();
    std::vector<uint8_t> to(many_blocks);
    const Handle handle = begun(fixture, *client, long_put(from, to));
    const ProcessId first = fixture.process();
    send(first, SIGKILL);
    ASSERT_TRUE(is_gone(first));
    fixture.servers.reset();
    std::optional<ServerThreads> threads;
    if (as_thread)
      threads.emplace(fixture.domain, fixture.mover, ServerSettings{.count = 1});
    else
      fixture.start();
    EXPECT_TRUE(comes([&] { return client->test(handle); }));
    EXPECT_TRUE(to == from);
    EXPECT_EQ(client->counts().taken_back, 0u);
    EXPECT_EQ(fixture.served(), 1u);
  }
}

// The place of a killed server is another's by the time that its starter stops it.
TEST(ServerProcesses, AKilledServersStarterDoesNotStopItsSuccessor) {
  Fixture fixture;
  fixture.start();
  kill(static_cast<pid_t>(fixture.process().number), SIGKILL);
  const ServerState& state = fixture.domain.server(0);
  const uint64_t killed = standing(state).generation;
  std::optional<ServerProcesses> successor;
  for (int tries = 0; tries < 10000 && !successor; ++tries) {
    try {
      successor.emplace(fixture.domain, fixture.home, ServerSettings{.count = 1});
    } catch (const Error&) {
      usleep(1000);  // it is still dying
    }
  }
  ASSERT_TRUE(successor);
  fixture.servers.reset();
  EXPECT_EQ(standing(state).generation, killed + 1);
  usleep(50000);  // a server that is asked to stop ends within microseconds
  EXPECT_TRUE(runs(state));
  EXPECT_FALSE(process_is_gone(fixture.process()));
  successor.reset();
  EXPECT_FALSE(runs(state));
}

TEST(ServerProcesses, StoppedWithoutARequest) {
  Fixture fixture;
  fixture.start();
  const ProcessId server = fixture.process();
  send(server, SIGSTOP);
  ASSERT_TRUE(is_stopped(server));
  const auto client = fixture.client();
  int from = 7, to = 0;
  client->wait(client->start(put(&from, &to, sizeof to)));
  EXPECT_EQ(to, 7);
  EXPECT_EQ(client->counts().taken_back, 1u);
  send(server, SIGCONT);
  const Handle handle = client->start(put(&from, &to, sizeof to));
  EXPECT_TRUE(comes([&] { return client->test(handle); }));
  EXPECT_EQ(client->counts().taken_back, 1u);
  // To end it does not take long, either.
  send(server, SIGSTOP);
  ASSERT_TRUE(is_stopped(server));
  fixture.servers.reset();
  EXPECT_TRUE(process_is_gone(server));
}

// The client must not take over what a stopped server might go on with. It waits as long as the
// watchdog allows, then ends the server, and says so.
TEST(ServerProcesses, StoppedInALongTransfer) {
  const std::vector<uint8_t> from = counted();
  for (const bool tests : {false, true}) {
    Fixture fixture;
    fixture.start();
    const ProcessId server = fixture.process();
    const auto client = fixture.client();
    std::vector<uint8_t> to(many_blocks);
    const Handle handle = begun(fixture, *client, long_put(from, to));
    send(server, SIGSTOP);
    ASSERT_TRUE(is_stopped(server));
    testing::internal::CaptureStderr();
    const auto begin = std::chrono::steady_clock::now();
    const auto tested = [&] {
      for (int i = 0; i < 256; ++i)
        if (client->test(handle)) return true;
      return false;
    };
    if (!tests) client->wait(handle);
    if (tests) {
      EXPECT_TRUE(comes(tested));
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_TRUE(process_is_gone(server));
    EXPECT_TRUE(to == from);
    EXPECT_NE(said.find("server 0 (process " + std::to_string(server.number) +
                        ", stopped by a signal) to complete a put of " +
                        std::to_string(many_blocks) + " bytes, target rank 0"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("was stopped by a signal and held a transfer, so it was killed"),
              std::string::npos)
        << said;
  }
}

TEST(ServerProcesses, ContinuedInALongTransfer) {
  const std::vector<uint8_t> from = counted();
  Fixture fixture;
  fixture.start();
  const auto client = fixture.client();
  std::vector<uint8_t> to(many_blocks);
  const Handle handle = begun(fixture, *client, long_put(from, to));
  send(fixture.process(), SIGSTOP);
  ASSERT_TRUE(is_stopped(fixture.process()));
  EXPECT_FALSE(client->test(handle));
  send(fixture.process(), SIGCONT);
  EXPECT_TRUE(comes([&] { return client->test(handle); }));
  EXPECT_TRUE(to == from);
  EXPECT_EQ(client->counts().taken_back, 0u);
}

// A process forked from this one, which runs `body` and waits to be killed. It tells this process
// when the body has returned.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      setpgid(0, 0);
      body();
      static_cast<void>(!write(ends[1], "r", 1));
      for (;;) pause();
    }
    close(ends[1]);
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
  }
  ~Child() { end(SIGKILL); }
  Child(const Child&) = delete;
  void end(int signal) {
    if (process_ == 0) return;
    kill(-process_, signal);  // its process group, as a terminal and launchers do
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  pid_t number() const { return process_; }

 private:
  pid_t process_ = 0;
};

// No server outlives its owner, however that ends. Other clients go on.
TEST(ServerProcesses, EndWithTheirOwner) {
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    Fixture fixture(2, 1);
    Child owner([&] {
      fixture.home.ranks[0].process = getpid();
      fixture.home.ranks.push_back({.process = getppid()});
      fixture.home.owner = 0;
      new ServerProcesses(fixture.domain, fixture.home, {.count = 1});
    });
    const ProcessId server = fixture.process();
    ASSERT_TRUE(runs(fixture.domain.server(0)));
    const auto client = fixture.client(1);
    int from = 5, to = 0;
    Transfer transfer = put(&from, &to, sizeof to);
    transfer.target = 1;  // this process
    const Handle first = client->start(transfer);
    ASSERT_TRUE(comes([&] { return client->test(first); }));
    EXPECT_EQ(to, 5);
    EXPECT_EQ(fixture.served(), 1u);
    owner.end(signal);
    EXPECT_TRUE(is_gone(server));
    from = 6;
    client->wait(client->start(transfer));
    EXPECT_EQ(to, 6);
  }
}

// Signals to a process group are for the program, which may have handlers.
TEST(ServerProcesses, IgnoreSignalsToTheirProcessGroup) {
  Fixture fixture;
  Child owner([&] {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGTSTP}) std::signal(signal, SIG_IGN);
    fixture.home.ranks[0].process = getpid();
    new ServerProcesses(fixture.domain, fixture.home, {.count = 1});
  });
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGTSTP}) kill(-owner.number(), signal);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(process_is_gone(fixture.process()));
  EXPECT_FALSE(process_is_stopped(fixture.process()));
}

// A client that dies while its request is under way harms neither the server nor other clients.
TEST(ServerProcesses, OutliveTheirClients) {
  const std::vector<uint8_t> from = counted();
  Fixture fixture(2, 1);
  fixture.home.ranks.push_back({});
  std::vector<uint8_t> to(many_blocks);
  Child other([&] {
    std::thread([&] {
      while (!runs(fixture.domain.server(0))) std::this_thread::yield();
      auto* const client = fixture.client(1).release();
      Transfer transfer = long_put(from, to);
      transfer.target = 1;  // its own memory: both sides are in the process that dies
      client->start(transfer);
      client->start(transfer);
    }).detach();
  });
  fixture.home.ranks[1].process = other.number();
  fixture.start();
  const auto* const entries = fixture.domain.entries(1, 0);
  ASSERT_TRUE(comes([&] {
    return is_taken(shm::observe(entries[0].stamp)) && shm::observe(entries[1].stamp) != 0;
  }));
  other.end(SIGKILL);
  const auto client = fixture.client(0);
  int value = 9, got = 0;
  const Handle handle = client->start(put(&value, &got, sizeof got));
  ASSERT_TRUE(comes([&] { return client->test(handle); }));
  EXPECT_EQ(got, 9);
  EXPECT_EQ(client->counts().taken_back, 0u);
  EXPECT_FALSE(process_is_gone(fixture.process()));
  EXPECT_TRUE(comes([&] { return fixture.served() == 3; }));
  EXPECT_EQ(entries[0].content.result, Code::dead_peer);
  EXPECT_EQ(entries[1].content.result, Code::dead_peer);
}

// A forked child has none, and ends none.
TEST(ServerProcesses, AreNotTheForkedChilds) {
  Fixture fixture;
  fixture.start();
  const pid_t child = fork();
  if (child == 0) {
    fixture.servers.reset();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(runs(fixture.domain.server(0)));
  EXPECT_FALSE(process_is_gone(fixture.process()));
}

std::string why_not(Fixture& fixture) {
  try {
    fixture.start();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unavailable);
    EXPECT_EQ(standing(fixture.domain.server(0)).life, Life::absent);
    return error.what();
  }
  return "it has started";
}

TEST(ServerProcesses, SayWhyTheyCannotServe) {
  Fixture missing;
  missing.home.program = "/no/such/tutti-server";
  EXPECT_EQ(why_not(missing), "/no/such/tutti-server: No such file or directory");
  Fixture other;
  other.home.program = "/bin/true";
  EXPECT_EQ(why_not(other), "a server's process does not answer, or has ended");
  Fixture unreachable;
  unreachable.home.ranks[0].process = 0;
  EXPECT_NE(why_not(unreachable).find("TUTTI_REACH leaves it no way"), std::string::npos);
  Fixture elsewhere;
  elsewhere.home.segment.descriptor = 123'456;
  EXPECT_NE(why_not(elsewhere).find("/fd/123456"), std::string::npos);
  // The place is free for a thread then.
  const ServerThreads threads(elsewhere.domain, elsewhere.mover, {.count = 1});
  const auto client = elsewhere.client();
  int from = 4, to = 0;
  const Handle handle = client->start(put(&from, &to, sizeof to));
  EXPECT_TRUE(comes([&] { return client->test(handle); }));
  EXPECT_EQ(to, 4);
}

}  // namespace
}  // namespace tutti::rma
