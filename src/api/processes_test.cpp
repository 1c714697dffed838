// Teams of processes without MPI: they are forked, and find each other by each kind of store.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.h"

// The bytes that the library has copied by the system.
static size_t copied_by_system = 0;

// The library calls this function in the place of libc's.
extern "C" [[gnu::visibility("default")]] ssize_t process_vm_readv(pid_t process, const iovec* here,
                                                                   unsigned long pieces,
                                                                   const iovec* there,
                                                                   unsigned long others,
                                                                   unsigned long flags) {
  const long copied = syscall(SYS_process_vm_readv, process, here, pieces, there, others, flags);
  if (copied > 0) copied_by_system += static_cast<size_t>(copied);
  return copied;
}

namespace {

namespace files = std::filesystem;

// In children a failed test only prints, so a child ends at once.
#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
                   tutti_error_message());                                    \
      _exit(1);                                                               \
    }                                                                         \
  } while (false)

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/tutti-processes-XXXXXX";
    path = mkdtemp(name);
  }
  ~Directory() { files::remove_all(path); }
  std::string path;
};

int free_port() {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(taken, reinterpret_cast<sockaddr*>(&address), length);
  getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length);
  close(taken);
  return ntohs(address.sin_port);
}

pid_t start(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(60);
  body();
  _exit(0);
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

struct Rank {
  tutti_team* team = nullptr;
  tutti_group* group = nullptr;

  Rank() = default;
  Rank(const std::string& place, const std::string& name, int rank, int ranks,
       double seconds = 20) {
    tutti_store* store = nullptr;
    REQUIRE(tutti_store_open(place.c_str(), rank, seconds, &store) == TUTTI_OK);
    REQUIRE(tutti_team_create_by(store, name.c_str(), rank, ranks, seconds, &team) == TUTTI_OK);
    REQUIRE(tutti_team_join(team, rank, &group) == TUTTI_OK);
    tutti_store_close(store);
  }
  ~Rank() {
    tutti_group_free(group);
    tutti_team_free(team);
  }
};

void complete(tutti_request* request) {
  REQUIRE(tutti_request_wait(&request, 20) == TUTTI_OK);
  REQUIRE(request == nullptr);
}

float as_float(uint16_t bfloat16) {
  const uint32_t bits = static_cast<uint32_t>(bfloat16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Every collective, by its call that waits and by its start and completion.
void use_all(const Rank& own, size_t count) {
  tutti_group* const group = own.group;
  const int rank = tutti_group_rank(group), ranks = tutti_group_size(group);
  const auto all = static_cast<size_t>(ranks);
  std::vector<int64_t> in(count), out(count), parts_in(all * count), parts_out(all * count);
  int64_t sum_of_ranks = 0;
  for (int i = 0; i < ranks; ++i) sum_of_ranks += i + 1;
  for (size_t i = 0; i < count; ++i) in[i] = (rank + 1) * static_cast<int64_t>(i + 1);
  for (size_t i = 0; i < all * count; ++i) parts_in[i] = rank * 1000000 + static_cast<int64_t>(i);
  const size_t bytes = count * sizeof(int64_t);
  const auto sum_at = [&](size_t i) { return sum_of_ranks * static_cast<int64_t>(i + 1); };
  const int root = ranks - 1;
  for (const bool starts : {false, true}) {
    tutti_request* request = nullptr;
    const auto clear = [&] {
      std::fill(out.begin(), out.end(), -1);
      std::fill(parts_out.begin(), parts_out.end(), -1);
    };
    const auto done = [&](tutti_status status) {
      REQUIRE(status == TUTTI_OK);
      if (starts) complete(request);
    };
    const auto type = TUTTI_INT64;
    done(starts ? tutti_ibarrier(group, &request) : tutti_barrier(group));
    clear();
    done(starts ? tutti_iallreduce(group, in.data(), out.data(), count, type, TUTTI_SUM, &request)
                : tutti_allreduce(group, in.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == sum_at(i));
    out = in;
    done(starts ? tutti_iallreduce(group, out.data(), out.data(), count, type, TUTTI_SUM, &request)
                : tutti_allreduce(group, out.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == sum_at(i));
    clear();
    done(starts
             ? tutti_ireduce(group, in.data(), out.data(), count, type, TUTTI_SUM, root, &request)
             : tutti_reduce(group, in.data(), out.data(), count, type, TUTTI_SUM, root));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == (rank == root ? sum_at(i) : -1));
    out = in;
    done(starts ? tutti_ibcast(group, out.data(), bytes, root, &request)
                : tutti_bcast(group, out.data(), bytes, root));
    for (size_t i = 0; i < count; ++i) REQUIRE(out[i] == ranks * static_cast<int64_t>(i + 1));
    clear();
    done(starts ? tutti_iallgather(group, in.data(), parts_out.data(), bytes, &request)
                : tutti_allgather(group, in.data(), parts_out.data(), bytes));
    for (size_t i = 0; i < all * count; ++i)
      REQUIRE(parts_out[i] ==
              static_cast<int64_t>(i / count + 1) * static_cast<int64_t>(i % count + 1));
    clear();
    done(starts ? tutti_igather(group, in.data(), parts_out.data(), bytes, root, &request)
                : tutti_gather(group, in.data(), parts_out.data(), bytes, root));
    if (rank == root)
      for (size_t i = 0; i < all * count; ++i)
        REQUIRE(parts_out[i] ==
                static_cast<int64_t>(i / count + 1) * static_cast<int64_t>(i % count + 1));
    clear();
    done(starts ? tutti_iscatter(group, parts_in.data(), out.data(), bytes, root, &request)
                : tutti_scatter(group, parts_in.data(), out.data(), bytes, root));
    for (size_t i = 0; i < count; ++i)
      REQUIRE(out[i] ==
              root * 1000000 + static_cast<int64_t>(static_cast<size_t>(rank) * count + i));
    clear();
    done(starts ? tutti_ialltoall(group, parts_in.data(), parts_out.data(), bytes, &request)
                : tutti_alltoall(group, parts_in.data(), parts_out.data(), bytes));
    for (size_t i = 0; i < all * count; ++i)
      REQUIRE(parts_out[i] ==
              static_cast<int64_t>(i / count) * 1000000 +
                  static_cast<int64_t>(static_cast<size_t>(rank) * count + i % count));
    clear();
    done(starts ? tutti_ireduce_scatter(group, parts_in.data(), out.data(), count, type, TUTTI_SUM,
                                        &request)
                : tutti_reduce_scatter(group, parts_in.data(), out.data(), count, type, TUTTI_SUM));
    for (size_t i = 0; i < count; ++i)
      REQUIRE(out[i] == (sum_of_ranks - ranks) * 1000000 +
                            ranks * static_cast<int64_t>(static_cast<size_t>(rank) * count + i));
  }
}

// Parts of different lengths: rank r sends r + j + 1 numbers to rank j, and none to itself.
void use_alltoallv(const Rank& own) {
  const int rank = tutti_group_rank(own.group), ranks = tutti_group_size(own.group);
  const auto length = [](int from, int to) { return from == to ? 0u : unsigned(from + to + 1); };
  std::vector<int> in, out;
  std::vector<ptrdiff_t> in_at, out_at;
  std::vector<size_t> in_bytes, out_bytes;
  for (int peer = 0; peer < ranks; ++peer) {
    in_at.push_back(static_cast<ptrdiff_t>(in.size() * sizeof(int)));
    out_at.push_back(static_cast<ptrdiff_t>(out.size() * sizeof(int)));
    in_bytes.push_back(length(rank, peer) * sizeof(int));
    out_bytes.push_back(length(peer, rank) * sizeof(int));
    in.insert(in.end(), length(rank, peer), 100 * rank + peer);
    out.insert(out.end(), length(peer, rank), -1);
  }
  tutti_request* request = nullptr;
  REQUIRE(tutti_ialltoallv(own.group, in.data(), in_at.data(), in_bytes.data(), out.data(),
                           out_at.data(), out_bytes.data(), &request) == TUTTI_OK);
  complete(request);
  size_t i = 0;
  for (int peer = 0; peer < ranks; ++peer)
    for (unsigned k = 0; k < length(peer, rank); ++k) REQUIRE(out[i++] == 100 * peer + rank);
}

// 256 + 1 + 1 + ...: bfloat16 has 8 bits, so 257 would round to 256 after each addition.
void use_short_types(const Rank& own) {
  const int rank = tutti_group_rank(own.group), ranks = tutti_group_size(own.group);
  const uint16_t one = 0x3f80, large = 0x4380;  // 1, 256
  for (const size_t count : {size_t{5}, size_t{70000}}) {
    std::vector<uint16_t> in(count, rank == 0 ? large : one), out(count);
    tutti_request* request = nullptr;
    REQUIRE(tutti_iallreduce(own.group, in.data(), out.data(), count, TUTTI_BFLOAT16, TUTTI_SUM,
                             &request) == TUTTI_OK);
    complete(request);
    const float exact = 256.0f + static_cast<float>(ranks - 1);
    for (const uint16_t value : out)
      REQUIRE(std::fabs(as_float(value) - exact) <= 1.0f && (ranks != 3 || value == 0x4381));
    REQUIRE(tutti_iallreduce(own.group, in.data(), out.data(), count, TUTTI_BFLOAT16, TUTTI_AVG,
                             &request) == TUTTI_OK);
    complete(request);
    for (const uint16_t value : out)
      REQUIRE(std::fabs(as_float(value) * static_cast<float>(ranks) / exact - 1) < 0x1p-8f);
  }
  const uint16_t half = 0x3800;  // 0.5 as float16
  uint16_t sum = 0;
  tutti_request* request = nullptr;
  REQUIRE(tutti_iallreduce(own.group, &half, &sum, 1, TUTTI_FLOAT16, TUTTI_SUM, &request) ==
          TUTTI_OK);
  complete(request);
  REQUIRE(ranks != 2 || sum == 0x3c00);
  REQUIRE(ranks != 4 || sum == 0x4000);
  REQUIRE(tutti_allreduce(own.group, &half, &sum, 1, TUTTI_FLOAT16, TUTTI_SUM) ==
          TUTTI_INVALID_ARGUMENT);
  int64_t whole = 1;
  REQUIRE(tutti_iallreduce(own.group, &whole, &whole, 1, TUTTI_INT64, TUTTI_AVG, &request) ==
          TUTTI_INVALID_ARGUMENT);
}

// Messages with two tags, received in the other order, and from any rank; short and long.
void use_messages(const Rank& own) {
  tutti_group* const group = own.group;
  const int rank = tutti_group_rank(group), ranks = tutti_group_size(group);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  for (int round = 0; round < 30; ++round)
    for (const size_t count : {size_t{1}, size_t{30000}}) {
      std::vector<int> first(count, 10 * rank), second(count, 10 * rank + 1), got(count, -1);
      REQUIRE(tutti_send(group, next, 7, first.data(), 4 * count) == TUTTI_OK);
      REQUIRE(tutti_send(group, next, 8, second.data(), 4 * count) == TUTTI_OK);
      tutti_request* request = nullptr;
      REQUIRE(tutti_irecv(group, before, 8, got.data(), 4 * count, nullptr, &request) == TUTTI_OK);
      complete(request);
      REQUIRE(got == std::vector<int>(count, 10 * before + 1));
      int sender = -1;
      REQUIRE(tutti_irecv(group, TUTTI_ANY, 7, got.data(), 4 * count, &sender, &request) ==
              TUTTI_OK);
      complete(request);
      REQUIRE(sender == before && got == std::vector<int>(count, 10 * before));
    }
  REQUIRE(tutti_send(group, next, 9, &rank, sizeof rank) == TUTTI_OK);
  char shorter = 0;
  tutti_request* request = nullptr;
  REQUIRE(tutti_irecv(group, before, 9, &shorter, 1, nullptr, &request) == TUTTI_OK);
  REQUIRE(tutti_request_wait(&request, 20) == TUTTI_MISMATCH && request == nullptr);
}

// Runs a body in a process for each rank; all must succeed.
void in_processes(int ranks, const std::string& place, const std::function<void(Rank&)>& body) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank)
    children.push_back(start([&] {
      Rank own(place, "all", rank, ranks);
      body(own);
    }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
}

// True if the system lets this process read that one's memory.
bool may_read(pid_t process) {
  static int value = 0;
  int found = 0;
  const iovec here = {&found, sizeof found}, there = {&value, sizeof value};
  return syscall(SYS_process_vm_readv, process, &here, 1, &there, 1, 0) == sizeof found;
}

// This test is the first, because this process must not have read the variables before.
TEST(Processes, UseTheSystemsCopiesWhereATableAsksForThem) {
  const Directory tables, directory;
  const std::string table = tables.path + "/by-system.map";
  std::ofstream(table) << "tutti-map 1\nalltoall -> builtin:flat reach cma\n";
  setenv("TUTTI_TABLE", table.c_str(), 1);
  in_processes(3, directory.path, [](Rank& own) {
    constexpr size_t count = 30000;
    const int rank = tutti_group_rank(own.group);
    const pid_t process = getpid();
    pid_t processes[3];
    REQUIRE(tutti_allgather(own.group, &process, processes, sizeof process) == TUTTI_OK);
    const bool permitted = std::all_of(processes, processes + 3, may_read);
    int all = permitted ? 1 : 0;
    REQUIRE(tutti_allreduce(own.group, &all, &all, 1, TUTTI_INT32, TUTTI_MIN) == TUTTI_OK);
    std::vector<int> in(3 * count, rank), out(3 * count, -1);
    copied_by_system = 0;
    REQUIRE(tutti_alltoall(own.group, in.data(), out.data(), count * sizeof(int)) == TUTTI_OK);
    for (size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == static_cast<int>(i / count));
    REQUIRE(all == 1 ? copied_by_system >= 2 * count * sizeof(int) : copied_by_system == 0);
  });
  unsetenv("TUTTI_TABLE");
}

TEST(Processes, AllCollectives) {
  for (const int ranks : {1, 2, 3, 4}) {
    const Directory directory;
    in_processes(ranks, directory.path, [](Rank& own) {
      for (const size_t count : {size_t{1}, size_t{4}, size_t{33}, size_t{20000}})
        use_all(own, count);
      use_alltoallv(own);
      use_short_types(own);
      if (tutti_group_size(own.group) > 1) use_messages(own);
    });
    EXPECT_TRUE(files::is_empty(directory.path));
  }
}

// The ranks of a team of threads start collectives, too.
TEST(Threads, StartCollectives) {
  constexpr int ranks = 3;
  tutti_team* team = nullptr;
  ASSERT_EQ(tutti_team_create(ranks, &team), TUTTI_OK);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Rank own;
      REQUIRE(tutti_team_join(team, rank, &own.group) == TUTTI_OK);
      for (const size_t count : {size_t{1}, size_t{33}, size_t{20000}}) use_all(own, count);
      use_alltoallv(own);
      use_short_types(own);
      REQUIRE(tutti_send(own.group, 0, 1, &rank, sizeof rank) == TUTTI_INVALID_ARGUMENT);
    });
  for (std::thread& thread : threads) thread.join();
  tutti_team_free(team);
}

TEST(Processes, MeetAtATcpStore) {
  in_processes(3, "tcp://127.0.0.1:" + std::to_string(free_port()),
               [](Rank& own) { use_all(own, 5); });
}

TEST(Processes, TwoTeamsInDifferentOrders) {
  const Directory directory;
  in_processes(2, directory.path, [&](Rank& own) {
    const int rank = tutti_group_rank(own.group);
    Rank other(directory.path, "other", 1 - rank, 2);
    for (int round = 0; round < 200; ++round) {
      tutti_group* const first = rank == 0 ? own.group : other.group;
      tutti_group* const second = rank == 0 ? other.group : own.group;
      const int one = 1;
      int sums[2] = {0, 0};
      tutti_request *a = nullptr, *b = nullptr;
      REQUIRE(tutti_iallreduce(first, &one, &sums[0], 1, TUTTI_INT32, TUTTI_SUM, &a) == TUTTI_OK);
      REQUIRE(tutti_iallreduce(second, &one, &sums[1], 1, TUTTI_INT32, TUTTI_SUM, &b) == TUTTI_OK);
      complete(a);
      complete(b);
      REQUIRE(sums[0] == 2 && sums[1] == 2);
    }
  });
}

TEST(Processes, AWaitEndsInTimeAndMayBeRepeated) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    int value = tutti_group_rank(own.group) + 1, sum = 0;
    tutti_request* request = nullptr;
    int go = 0;
    if (value == 1) {
      REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &request) ==
              TUTTI_OK);
      REQUIRE(tutti_request_wait(&request, 0.05) == TUTTI_TIMEOUT && request != nullptr);
      int is_complete = -1;
      REQUIRE(tutti_request_test(&request, &is_complete) == TUTTI_OK && is_complete == 0);
      REQUIRE(tutti_send(own.group, 1, 1, &go, sizeof go) == TUTTI_OK);
    } else {
      REQUIRE(tutti_irecv(own.group, 0, 1, &go, sizeof go, nullptr, &request) == TUTTI_OK);
      complete(request);
      REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &request) ==
              TUTTI_OK);
    }
    complete(request);
    REQUIRE(sum == 3);
    // A request that is given up harms nobody.
    REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &request) ==
            TUTTI_OK);
    if (value == 1) REQUIRE(tutti_request_free(&request) == TUTTI_OK);
    if (value == 2) complete(request);
    REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
  });
}

TEST(Processes, DifferentCollectivesAreTold) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    int value = 1, sum = 0;
    tutti_request* request = nullptr;
    if (tutti_group_rank(own.group) == 0)
      REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &request) ==
              TUTTI_OK);
    else
      REQUIRE(tutti_ibcast(own.group, &value, sizeof value, 0, &request) == TUTTI_OK);
    REQUIRE(tutti_request_wait(&request, 20) == TUTTI_MISMATCH && request == nullptr);
  });
}

// The first rank reduces other numbers of the same length, or by another operation.
TEST(Processes, DifferentReductionsAreTold) {
  struct Case {
    tutti_type type;
    tutti_op op;
    const char* name;
  };
  constexpr Case own_case{TUTTI_FLOAT32, TUTTI_SUM, "sum of float32"};
  constexpr int ranks = 3, root = 2;
  using Start =
      tutti_status (*)(tutti_group*, const void*, void*, size_t, const Case&, tutti_request**);
  const Start starts[] = {
      [](auto* group, auto* in, auto* out, auto count, auto& its, auto** request) {
        return tutti_iallreduce(group, in, out, count, its.type, its.op, request);
      },
      [](auto* group, auto* in, auto* out, auto count, auto& its, auto** request) {
        return tutti_ireduce_scatter(group, in, out, count / ranks, its.type, its.op, request);
      },
      [](auto* group, auto* in, auto* out, auto count, auto& its, auto** request) {
        return tutti_ireduce(group, in, out, count, its.type, its.op, root, request);
      }};
  for (const Case& other : {Case{TUTTI_INT32, TUTTI_SUM, "sum of int32"},
                            Case{TUTTI_FLOAT32, TUTTI_MAX, "maximum of float32"}})
    for (const size_t count : {size_t{3}, size_t{60000}})
      for (const Start& begin : starts) {
        const bool is_rooted = &begin == &starts[2];
        const Directory directory;
        in_processes(ranks, directory.path, [&](Rank& own) {
          const int rank = tutti_group_rank(own.group);
          const std::vector<int32_t> in(count);
          std::vector<int32_t> out(count);
          tutti_request* request = nullptr;
          REQUIRE(begin(own.group, in.data(), out.data(), count, rank == 0 ? other : own_case,
                        &request) == TUTTI_OK);
          const tutti_status status = tutti_request_wait(&request, 20);
          if (is_rooted && rank != root) {  // it takes nothing, so it learns nothing
            REQUIRE(status == TUTTI_OK);
            return;
          }
          REQUIRE(status == TUTTI_MISMATCH && request == nullptr);
          const std::string told = tutti_error_message();
          REQUIRE(told.find(own_case.name) != std::string::npos);
          REQUIRE(told.find(other.name) != std::string::npos);
          REQUIRE(told.find("bytes") != std::string::npos);
          REQUIRE(!is_rooted || told.find("root 2") != std::string::npos);
        });
      }
}

TEST(Processes, NoOneSidedTransfersAndNoServers) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    int here = 0, there = 0;
    REQUIRE(tutti_put(own.group, 1, &there, &here, sizeof here, nullptr) == TUTTI_UNAVAILABLE);
    REQUIRE(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL) == TUTTI_UNAVAILABLE);
    tutti_group* again = nullptr;
    REQUIRE(tutti_team_join(own.team, tutti_group_rank(own.group), &again) ==
            TUTTI_INVALID_ARGUMENT);
  });
}

TEST(Processes, AMissingRankIsNamed) {
  const Directory directory;
  tutti_store* store = nullptr;
  ASSERT_EQ(tutti_store_open(directory.path.c_str(), 0, 1, &store), TUTTI_OK);
  tutti_team* team = nullptr;
  EXPECT_EQ(tutti_team_create_by(store, "two", 0, 2, 0.2, &team), TUTTI_UNAVAILABLE);
  EXPECT_NE(std::string(tutti_error_message()).find("rank 1 of team \"two\""), std::string::npos)
      << tutti_error_message();
  tutti_store_close(store);
  EXPECT_EQ(tutti_store_open("tcp://127.0.0.1", 1, 1, &store), TUTTI_INVALID_ARGUMENT);
  EXPECT_EQ(tutti_store_open("/nonexistent/place", 1, 1, &store), TUTTI_UNAVAILABLE);
}

// True if the process has mapped memory that has a name in /dev/shm at this moment.
bool has_named_memory(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/dev/shm/") != std::string::npos && line.find("(deleted)") == std::string::npos)
      return true;
  return false;
}

// A rank is killed at any moment of its calls. The others get an error soon, and nothing is left.
TEST(Processes, KilledRanksLeaveNothing) {
  constexpr int ranks = 3;
  for (int round = 0; round < 12; ++round) {
    const Directory directory;
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank)
      children.push_back(start([&] {
        Rank own(directory.path, "all", rank, ranks);
        std::vector<int> in(4000, 1), out(4000);
        for (;;) {
          tutti_request* request = nullptr;
          const size_t count = round % 2 == 0 ? 4 : in.size();
          tutti_status status =
              round % 3 == 0
                  ? tutti_allreduce(own.group, in.data(), out.data(), count, TUTTI_INT32, TUTTI_SUM)
                  : tutti_iallreduce(own.group, in.data(), out.data(), count, TUTTI_INT32,
                                     TUTTI_SUM, &request);
          if (request != nullptr) status = tutti_request_wait(&request, 20);
          if (status == TUTTI_DEAD_PEER) _exit(7);
          REQUIRE(status == TUTTI_OK);
        }
      }));
    usleep(static_cast<useconds_t>(100000 + 3300 * round));
    for (const pid_t child : children) EXPECT_FALSE(has_named_memory(child));
    kill(children[static_cast<size_t>(round % ranks)], SIGKILL);
    for (int rank = 0; rank < ranks; ++rank) {
      const int status = status_of(children[static_cast<size_t>(rank)]);
      if (rank == round % ranks) {
        EXPECT_TRUE(WIFSIGNALED(status));
      } else {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
      }
    }
  }
}

pid_t second_process = 0;

// Two ranks; the first does `body`, the second what is given. True if the first succeeds.
bool first_of_two(const std::function<void(Rank&)>& body, const std::function<void(Rank&)>& other) {
  const Directory directory;
  const pid_t second = start([&] {
    Rank own(directory.path, "two", 1, 2);
    other(own);
    kill(getpid(), SIGKILL);
  });
  second_process = second;
  const int status = status_of(start([&] {
    Rank own(directory.path, "two", 0, 2);
    body(own);
    _exit(0);
  }));
  kill(second, SIGKILL);
  status_of(second);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

tutti_status poll(tutti_request* request) {
  int is_complete = 0;
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && is_complete == 0) {
    status = tutti_request_test(&request, &is_complete);
    usleep(1000);
  }
  REQUIRE(request == nullptr);
  return status;
}

TEST(Processes, PollsLearnThatARankWasKilled) {
  EXPECT_TRUE(first_of_two(
      [](Rank& own) {
        int value = 1, sum = 0, got = 0;
        tutti_request *reduction = nullptr, *message = nullptr;
        REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &reduction) ==
                TUTTI_OK);
        REQUIRE(tutti_irecv(own.group, 1, 1, &got, sizeof got, nullptr, &message) == TUTTI_OK);
        REQUIRE(poll(reduction) == TUTTI_DEAD_PEER);
        REQUIRE(poll(message) == TUTTI_DEAD_PEER);
      },
      [](Rank&) {}));
}

// Memory whose second half stops the process at the first touch.
std::byte* half_of_a_trap = nullptr;
constexpr size_t trap_bytes = size_t{8} << 20;

std::byte* make_trap() {
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, trap_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  half_of_a_trap = memory + trap_bytes / 2;
  REQUIRE(mprotect(half_of_a_trap, trap_bytes / 2, PROT_NONE) == 0);
  signal(SIGSEGV, [](int) {
    raise(SIGSTOP);
    mprotect(half_of_a_trap, trap_bytes / 2, PROT_READ);
  });
  return memory;
}

void start_and_stop_in_the_midst(Rank& own) {
  const std::byte* const in = make_trap();
  std::vector<std::byte> out(trap_bytes);
  tutti_request* request = nullptr;
  tutti_iallreduce(own.group, in, out.data(), trap_bytes, TUTTI_UINT8, TUTTI_MAX, &request);
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string told;
  std::getline(file, told);
  return told.find(") T ") != std::string::npos;
}

void reduce_with_the_stopped(Rank& own, std::vector<std::byte>* data, tutti_request** request) {
  data->resize(trap_bytes);
  REQUIRE(tutti_iallreduce(own.group, data->data(), data->data(), trap_bytes, TUTTI_UINT8,
                           TUTTI_MAX, request) == TUTTI_OK);
}

TEST(Processes, ARankThatStopsWhileItGivesDataIsNamed) {
  for (const bool polls : {false, true})
    EXPECT_TRUE(first_of_two(
        [=](Rank& own) {
          std::vector<std::byte> data;
          tutti_request* request = nullptr;
          while (!is_stopped(second_process)) usleep(1000);
          reduce_with_the_stopped(own, &data, &request);
          REQUIRE(tutti_request_limit(request, 0.2) == TUTTI_OK);
          const tutti_status status = polls ? poll(request) : tutti_request_wait(&request, -1);
          REQUIRE(status == TUTTI_DEAD_PEER);
          const std::string told = tutti_error_message();
          REQUIRE(told.find("rank 1 does not go on") != std::string::npos);
          REQUIRE(told.find("stopped by a signal") != std::string::npos);
        },
        start_and_stop_in_the_midst));
}

TEST(Processes, AbortEndsWaits) {
  for (const bool in_the_midst : {false, true})
    EXPECT_TRUE(first_of_two(
        [](Rank& own) {
          std::vector<std::byte> data;
          tutti_request* request = nullptr;
          reduce_with_the_stopped(own, &data, &request);
          std::thread aborts([&] {
            usleep(200000);
            REQUIRE(tutti_group_abort(own.group) == TUTTI_OK);
          });
          const tutti_status status = tutti_request_wait(&request, -1);
          REQUIRE(status == TUTTI_UNAVAILABLE || status == TUTTI_DEAD_PEER);
          REQUIRE(std::string(tutti_error_message()).find("was aborted") != std::string::npos);
          aborts.join();
          REQUIRE(tutti_ibarrier(own.group, &request) == TUTTI_UNAVAILABLE);
        },
        [=](Rank& own) {
          if (in_the_midst)
            start_and_stop_in_the_midst(own);
          else
            pause();
        }));
}

// A rank's first message and its first collective, from two threads at once.
TEST(Processes, ThreadsStartAtOnce) {
  const Directory directory;
  in_processes(2, directory.path, [&](Rank& first) {
    const int rank = tutti_group_rank(first.group);
    for (int round = 0; round < 30; ++round) {
      Rank own(directory.path, "round " + std::to_string(round), rank, 2);
      std::atomic<int> ready{0};
      const auto meet = [&] {
        ++ready;
        while (ready < 2) {  // without a pause, so that both go on at one moment
        }
      };
      std::thread sends([&] {
        meet();
        REQUIRE(tutti_send(own.group, 1 - rank, 1, &rank, sizeof rank) == TUTTI_OK);
      });
      int value = rank + 1, sum = 0, got = -1;
      tutti_request *reduction = nullptr, *message = nullptr;
      meet();
      REQUIRE(tutti_iallreduce(own.group, &value, &sum, 1, TUTTI_INT32, TUTTI_SUM, &reduction) ==
              TUTTI_OK);
      sends.join();
      REQUIRE(tutti_irecv(own.group, 1 - rank, 1, &got, sizeof got, nullptr, &message) == TUTTI_OK);
      complete(reduction);
      complete(message);
      REQUIRE(sum == 3 && got == 1 - rank);
      REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
    }
  });
}

// A child that frees what it has from its parent changes nothing for the parent and the others:
// rank 1 still keeps its records until rank 0 has read them.
TEST(Processes, AForkedChildMayFreeWhatItHas) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    std::vector<int> values(2000, -1);
    std::vector<tutti_request*> requests(values.size());
    tutti_request* request = nullptr;
    int go = 0;
    const bool gives = tutti_group_rank(own.group) == 1;
    if (gives) {
      REQUIRE(tutti_irecv(own.group, 0, 1, &go, sizeof go, nullptr, &request) == TUTTI_OK);
      complete(request);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (gives) values[i] = static_cast<int>(i);
      REQUIRE(tutti_ibcast(own.group, &values[i], sizeof values[i], 1, &requests[i]) == TUTTI_OK);
      if (gives) complete(requests[i]);
    }
    if (gives) return;
    const int status = status_of(start([&] {
      REQUIRE(tutti_request_free(&requests[0]) == TUTTI_OK && requests[0] == nullptr);
      tutti_group_free(own.group);
      tutti_team_free(own.team);
    }));
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    REQUIRE(tutti_send(own.group, 1, 1, &go, sizeof go) == TUTTI_OK);
    for (size_t i = 0; i < values.size(); ++i) {
      complete(requests[i]);
      REQUIRE(values[i] == static_cast<int>(i));
    }
  });
}

// A rank that ends without freeing its group gives its data first.
TEST(Processes, FlushWaitsForTheReaders) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    constexpr size_t bytes = 100000;
    std::vector<char> message(bytes, 1), all(bytes, 1);
    tutti_request *receives = nullptr, *broadcast = nullptr;
    if (tutti_group_rank(own.group) == 0) {
      REQUIRE(tutti_send(own.group, 1, 1, message.data(), bytes) == TUTTI_OK);
      REQUIRE(tutti_ibcast(own.group, all.data(), bytes, 0, &broadcast) == TUTTI_OK);
      complete(broadcast);
      REQUIRE(tutti_group_flush(own.group, 0.05) == TUTTI_TIMEOUT);
      const int go = 1;
      REQUIRE(tutti_send(own.group, 1, 2, &go, sizeof go) == TUTTI_OK);
      REQUIRE(tutti_group_flush(own.group, 50) == TUTTI_OK);
      _exit(0);
    }
    int go = 0;
    REQUIRE(tutti_irecv(own.group, 0, 2, &go, sizeof go, nullptr, &receives) == TUTTI_OK);
    complete(receives);
    usleep(200000);
    std::fill(message.begin(), message.end(), 0);
    std::fill(all.begin(), all.end(), 0);
    REQUIRE(tutti_irecv(own.group, 0, 1, message.data(), bytes, nullptr, &receives) == TUTTI_OK);
    complete(receives);
    REQUIRE(tutti_ibcast(own.group, all.data(), bytes, 0, &broadcast) == TUTTI_OK);
    complete(broadcast);
    REQUIRE(message == std::vector<char>(bytes, 1) && all == message);
  });
}

// Values that killed processes have left in the directory do not mislead a later team of the same
// name.
TEST(Processes, TheDirectoryMayHoldValuesOfTheDead) {
  const Directory directory;
  for (int round = 0; round < 3; ++round) {
    std::vector<pid_t> children;
    for (int rank = 0; rank < 2; ++rank)
      children.push_back(start([&] {
        tutti_store* store = nullptr;
        tutti_team* team = nullptr;
        REQUIRE(tutti_store_open(directory.path.c_str(), rank, 20, &store) == TUTTI_OK);
        REQUIRE(tutti_team_create_by(store, "same", rank, 2, 20, &team) == TUTTI_OK);
        kill(getpid(), SIGKILL);
      }));
    for (const pid_t child : children) EXPECT_TRUE(WIFSIGNALED(status_of(child)));
    EXPECT_FALSE(files::is_empty(directory.path));
  }
}

}  // namespace
