// Errors of teams of processes without MPI: ranks that differ, are missing, stop or are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "api/test_processes.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;

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

// In a child, because a process that has begun to form a team has a heap, which those that it forks
// later do not share.
TEST(Processes, AMissingRankIsNamed) {
  const Directory directory;
  EXPECT_EQ(status_of(start([&] {
              tutti_store* store = nullptr;
              tutti_team* team = nullptr;
              REQUIRE(tutti_store_open(directory.path.c_str(), 0, 1, &store) == TUTTI_OK);
              REQUIRE(tutti_team_create_by(store, "two", 0, 2, 0.2, &team) == TUTTI_UNAVAILABLE);
              REQUIRE(std::string(tutti_error_message()).find("rank 1 of team \"two\"") !=
                      std::string::npos);
              tutti_store_close(store);
              REQUIRE(tutti_store_open("tcp://127.0.0.1", 1, 1, &store) == TUTTI_INVALID_ARGUMENT);
              REQUIRE(tutti_store_open("/nonexistent/place", 1, 1, &store) == TUTTI_UNAVAILABLE);
            })),
            0);
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
    int formed[2];  // each rank writes a byte when the team is there
    ASSERT_EQ(pipe(formed), 0);
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank)
      children.push_back(start([&] {
        Rank own(directory.path, "all", rank, ranks);
        REQUIRE(write(formed[1], "f", 1) == 1);
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
    close(formed[1]);
    char byte = 0;
    for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(read(formed[0], &byte, 1), 1);
    close(formed[0]);
    usleep(static_cast<useconds_t>(1000 + 3300 * round));
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

// The root lends its buffer, because other ranks reach it. Rank 1 stops while it reads.
TEST(Processes, ARankThatStopsWhileItReadsDataIsNamed) {
  EXPECT_TRUE(first_of_two(
      [](Rank& own) {
        void* const data = tutti_alloc(trap_bytes);
        REQUIRE(data != nullptr);
        tutti_request* request = nullptr;
        REQUIRE(tutti_ibcast(own.group, data, trap_bytes, 0, &request) == TUTTI_OK);
        REQUIRE(tutti_request_limit(request, 0.2) == TUTTI_OK);
        while (!is_stopped(second_process)) usleep(1000);
        REQUIRE(tutti_request_wait(&request, -1) == TUTTI_DEAD_PEER && request == nullptr);
        const std::string told = tutti_error_message();
        REQUIRE(told.find("rank 1 does not go on with reading") != std::string::npos);
        REQUIRE(told.find("stopped by a signal") != std::string::npos);
      },
      [](Rank& own) {
        std::byte* const out = make_trap();
        REQUIRE(mprotect(out, trap_bytes / 2, PROT_READ | PROT_WRITE) == 0);
        tutti_request* request = nullptr;
        REQUIRE(tutti_ibcast(own.group, out, trap_bytes, 0, &request) == TUTTI_OK);
        tutti_request_wait(&request, -1);
      }));
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

}  // namespace
