// Teams without MPI in which threads of processes are ranks: several of a process, or all.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "api/test_calls.h"
#include "api/test_processes.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;

TEST(ProcessThreads, AllCollectives) {
  for (const std::vector<int>& threads : {std::vector<int>{2, 2}, {1, 3}, {3, 1}, {2}, {1, 1, 2}}) {
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      for (const size_t count : {size_t{1}, size_t{4}, size_t{33}, size_t{20000}})
        use_all(own, count);
      use_alltoallv(own);
      use_short_types(own);
      use_messages(own);
    });
    EXPECT_TRUE(std::filesystem::is_empty(directory.path));
  }
}

// The ranks are threads of this process, which forms a second team of them, and then again one.
TEST(ProcessThreads, OneProcessHasAllRanks) {
  const Directory directory;
  for (int round = 0; round < 3; ++round)
    be_threads(directory.path, 0, 4, 4, [&](Rank& own) {
      const int rank = tutti_group_rank(own.group);
      Rank other(directory.path, "other", 3 - rank, 4);
      for (const size_t count : {size_t{4}, size_t{20000}}) {
        use_all(own, count);
        use_all(other, count);
      }
      use_messages(other);
    });
}

TEST(ProcessThreads, TwoTeamsInDifferentOrders) {
  const Directory directory;
  in_threads({2, 1}, directory.path, [&](Rank& own) {
    const int rank = tutti_group_rank(own.group);
    Rank other(directory.path, "other", 2 - rank, 3);
    for (int round = 0; round < 100; ++round) {
      tutti_group* const groups[] = {own.group, other.group};
      const int one = 1;
      int sums[2] = {0, 0};
      tutti_request* requests[2] = {};
      for (const int i : {rank % 2, 1 - rank % 2})
        REQUIRE(tutti_iallreduce(groups[i], &one, &sums[i], 1, TUTTI_INT32, TUTTI_SUM,
                                 &requests[i]) == TUTTI_OK);
      for (tutti_request* const request : requests) complete(request);
      REQUIRE(sums[0] == 3 && sums[1] == 3);
    }
  });
}

TEST(ProcessThreads, ARankJoinsAsItself) {
  const Directory directory;
  in_threads({2}, directory.path, [](Rank& own) {
    const int rank = tutti_group_rank(own.group);
    tutti_group* group = nullptr;
    REQUIRE(tutti_team_join(own.team, 1 - rank, &group) == TUTTI_INVALID_ARGUMENT);
    REQUIRE(tutti_team_join(own.team, rank, &group) == TUTTI_INVALID_ARGUMENT);
    REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
  });
}

// The ranks of a process that is killed end together. Every rank of the others learns of it.
TEST(ProcessThreads, AKilledProcessTakesItsRanks) {
  for (const bool starts : {false, true}) {
    const Directory directory;
    const auto call_until_an_end = [&](Rank& own) {
      for (int calls = 0;; ++calls) {
        if (tutti_group_rank(own.group) == 2 && calls == 100) kill(getpid(), SIGKILL);
        const int one = 1;
        int sum = 0;
        tutti_request* request = nullptr;
        tutti_status status =
            starts ? tutti_iallreduce(own.group, &one, &sum, 1, TUTTI_INT32, TUTTI_SUM, &request)
                   : tutti_allreduce(own.group, &one, &sum, 1, TUTTI_INT32, TUTTI_SUM);
        if (request != nullptr) status = tutti_request_wait(&request, 20);
        if (status == TUTTI_DEAD_PEER) return;
        REQUIRE(status == TUTTI_OK && sum == 4);
      }
    };
    const pid_t lives = start([&] { be_threads(directory.path, 0, 2, 4, call_until_an_end); });
    const pid_t dies = start([&] { be_threads(directory.path, 2, 2, 4, call_until_an_end); });
    EXPECT_TRUE(WIFSIGNALED(status_of(dies)));
    EXPECT_EQ(status_of(lives), 0);
  }
}

}  // namespace
