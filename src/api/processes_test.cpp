// Teams of processes without MPI: they are forked, and find each other by each kind of store.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "api/test_calls.h"
#include "api/test_processes.h"
#include "tutti/tutti.h"

namespace {

namespace files = std::filesystem;
using namespace tutti::test;

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

// Memory of tutti_alloc is lent, and read where it is.
TEST(Processes, ReachMemoryOfTuttiAlloc) {
  const Directory directory;
  in_processes(3, directory.path, [](Rank& own) {
    constexpr size_t count = 60000, bytes = count * sizeof(int64_t);
    const int rank = tutti_group_rank(own.group);
    auto* const in = static_cast<int64_t*>(tutti_alloc(bytes));
    auto* const out = static_cast<int64_t*>(tutti_alloc(3 * bytes));
    REQUIRE(in != nullptr && out != nullptr);
    for (int round = 0; round < 20; ++round)
      for (const bool starts : {false, true}) {
        std::fill(in, in + count, 10 * round + rank);
        std::fill(out, out + 3 * count, -1);
        tutti_request* request = nullptr;
        REQUIRE((starts ? tutti_iallgather(own.group, in, out, bytes, &request)
                        : tutti_allgather(own.group, in, out, bytes)) == TUTTI_OK);
        if (starts) complete(request);
        std::fill(in, in + count, 1);  // this rank's again
        for (size_t i = 0; i < 3 * count; ++i)
          REQUIRE(out[i] == 10 * round + static_cast<int64_t>(i / count));
        REQUIRE((starts
                     ? tutti_iallreduce(own.group, in, out, count, TUTTI_INT64, TUTTI_SUM, &request)
                     : tutti_allreduce(own.group, in, out, count, TUTTI_INT64, TUTTI_SUM)) ==
                TUTTI_OK);
        if (starts) complete(request);
        REQUIRE(std::count(out, out + count, 3) == count);
      }
    tutti_free(out);
    tutti_free(in);
  });
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
