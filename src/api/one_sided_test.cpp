// One-sided transfers and servers by the C API, with and without servers.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "api/test_ranks.h"

using tutti::test::spawn;

namespace {

// Memory of every rank that all may write.
using Heaps = std::vector<std::vector<int64_t>>;

// Every rank puts its number to all others and gets theirs, many transfers at once.
void exchange(tutti_group* group, int rank, int ranks, Heaps& heaps, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    std::vector<int64_t> mine(static_cast<size_t>(ranks)), got(static_cast<size_t>(ranks));
    std::vector<tutti_handle> handles(static_cast<size_t>(ranks));
    for (int target = 0; target < ranks; ++target) {
      const auto at = static_cast<size_t>(target);
      mine[at] = 1000 * round + 100 * rank + target;
      ASSERT_EQ(tutti_put(group, target, &heaps[at][static_cast<size_t>(rank)], &mine[at],
                          sizeof(int64_t), &handles[at]),
                TUTTI_OK)
          << tutti_error_message();
    }
    for (tutti_handle& handle : handles) {
      ASSERT_EQ(tutti_wait(group, &handle), TUTTI_OK) << tutti_error_message();
      ASSERT_EQ(handle.place[1], 0u);
      ASSERT_EQ(tutti_wait(group, &handle), TUTTI_OK);  // a handle without a transfer is complete
    }
    ASSERT_EQ(tutti_barrier(group), TUTTI_OK);
    for (int from = 0; from < ranks; ++from) {
      const auto at = static_cast<size_t>(from);
      ASSERT_EQ(heaps[static_cast<size_t>(rank)][at], 1000 * round + 100 * from + rank);
      ASSERT_EQ(tutti_get(group, from, &got[at], &heaps[at][at], sizeof(int64_t), nullptr),
                TUTTI_OK);
    }
    ASSERT_EQ(tutti_fence(group), TUTTI_OK);
    for (int from = 0; from < ranks; ++from)
      ASSERT_EQ(got[static_cast<size_t>(from)], 1000 * round + 101 * from);
    ASSERT_EQ(tutti_barrier(group), TUTTI_OK);
  }
}

TEST(OneSided, WithoutServers) {
  constexpr int ranks = 3;
  Heaps heaps(ranks, std::vector<int64_t>(ranks));
  spawn(ranks, [&](tutti_group* group, int rank) { exchange(group, rank, ranks, heaps, 20); });
}

// A team with ranks in threads and servers.
struct Team {
  explicit Team(int count) : ranks(count), groups(static_cast<size_t>(count)) {
    EXPECT_EQ(tutti_team_create(ranks, &team), TUTTI_OK);
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(tutti_team_join(team, rank, &groups[static_cast<size_t>(rank)]), TUTTI_OK);
  }
  ~Team() {
    for (tutti_group* group : groups) tutti_group_free(group);
    tutti_team_free(team);
  }
  Team(const Team&) = delete;

  template <class Body>
  void run(Body body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] { body(groups[static_cast<size_t>(rank)], rank); });
    for (std::thread& thread : threads) thread.join();
  }

  int ranks;
  tutti_team* team = nullptr;
  std::vector<tutti_group*> groups;
};

TEST(OneSided, ServersStartAndStopBetweenAndDuringTransfers) {
  constexpr int ranks = 4;
  Team team(ranks);
  Heaps heaps(ranks, std::vector<int64_t>(ranks));
  for (const tutti_serve serve : {TUTTI_SERVE_ALL, TUTTI_SERVE_SELECTIVE, TUTTI_SERVE_NONE}) {
    ASSERT_EQ(tutti_servers_start(team.team, 2, serve), TUTTI_OK) << tutti_error_message();
    EXPECT_EQ(tutti_servers_count(team.team), 2);
    EXPECT_EQ(tutti_servers_start(team.team, 1, serve), TUTTI_INVALID_ARGUMENT);
    team.run([&](tutti_group* group, int rank) {
      exchange(group, rank, ranks, heaps, 10);
      if (rank == 0) {
        ASSERT_EQ(tutti_servers_disable(team.team), TUTTI_OK);
        ASSERT_EQ(tutti_servers_wake(team.team), TUTTI_OK);
        ASSERT_EQ(tutti_servers_enable(team.team), TUTTI_OK);
      }
      exchange(group, rank, ranks, heaps, 10);
      if (rank == 1) {
        ASSERT_EQ(tutti_servers_sleep(team.team), TUTTI_OK);
        ASSERT_EQ(tutti_servers_stop(team.team), TUTTI_OK);
      }
      exchange(group, rank, ranks, heaps, 10);
    });
    EXPECT_EQ(tutti_servers_count(team.team), 0);
  }
}

TEST(OneSided, BlocksAndStrictTransfers) {
  Team team(1);
  ASSERT_EQ(tutti_servers_start(team.team, 1, TUTTI_SERVE_ALL), TUTTI_OK);
  tutti_group* const group = team.groups[0];
  std::vector<int> matrix(12), column(3, -1);  // 3 rows of 4
  std::iota(matrix.begin(), matrix.end(), 0);
  tutti_handle handle;
  ASSERT_EQ(tutti_get_strided(group, 0, column.data(), sizeof(int), matrix.data() + 1,
                              4 * sizeof(int), sizeof(int), 3, &handle),
            TUTTI_OK);
  ASSERT_EQ(tutti_wait(group, &handle), TUTTI_OK);
  EXPECT_EQ(column, (std::vector<int>{1, 5, 9}));
  column = {-1, -2, -3};
  ASSERT_EQ(tutti_put_strided(group, 0, matrix.data() + 11, -4 * ptrdiff_t{sizeof(int)},
                              column.data(), sizeof(int), sizeof(int), 3, nullptr),
            TUTTI_OK);
  int strict = 0;  // a strict one comes after what is outstanding
  ASSERT_EQ(tutti_get_strict(group, 0, &strict, &matrix[3], sizeof strict), TUTTI_OK);
  EXPECT_EQ(strict, -3);
  EXPECT_EQ(matrix[11], -1);
  strict = 77;
  ASSERT_EQ(tutti_put_strict(group, 0, &matrix[0], &strict, sizeof strict), TUTTI_OK);
  EXPECT_EQ(matrix[0], 77);
}

// Every rank puts to all others, and reads what they have put as soon as its signal says so. Two
// halves of the memory take turns, so nobody waits for anything else.
TEST(OneSided, PutsThatSignal) {
  constexpr int ranks = 4, rounds = 200;
  constexpr size_t count = 100, half = count * ranks;
  for (const int servers : {0, 1}) {
    Team team(ranks);
    if (servers > 0) {
      ASSERT_EQ(tutti_servers_start(team.team, servers, TUTTI_SERVE_ALL), TUTTI_OK);
    }
    Heaps heaps(ranks, std::vector<int64_t>(2 * half));
    std::vector<std::vector<uint64_t>> signals(ranks, std::vector<uint64_t>(2));
    team.run([&](tutti_group* group, int rank) {
      std::vector<int64_t> mine(count);
      const auto me = static_cast<size_t>(rank);
      for (int round = 0; round < rounds; ++round) {
        const auto turn = static_cast<size_t>(round % 2);
        std::iota(mine.begin(), mine.end(), 1000 * round + 100 * rank);
        for (size_t target = 0; target < ranks; ++target) {
          tutti_handle handle;
          ASSERT_EQ(tutti_put_signal(group, static_cast<int>(target),
                                     &heaps[target][turn * half + me * count], mine.data(),
                                     count * sizeof(int64_t), &signals[target][turn], &handle),
                    TUTTI_OK)
              << tutti_error_message();
          ASSERT_EQ(tutti_wait(group, &handle), TUTTI_OK);
        }
        const uint64_t sum = half * sizeof(int64_t) * static_cast<uint64_t>(round / 2 + 1);
        ASSERT_EQ(tutti_signal_wait(group, &signals[me][turn], sum), TUTTI_OK);
        for (int from = 0; from < ranks; ++from)
          for (size_t i = 0; i < count; ++i)
            ASSERT_EQ(heaps[me][turn * half + static_cast<size_t>(from) * count + i],
                      1000 * round + 100 * from + static_cast<int64_t>(i));
      }
    });
  }
}

void expect_refused(tutti_status status, const std::string& culprit) {
  EXPECT_EQ(status, TUTTI_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tutti_error_message()).find(culprit), std::string::npos)
      << tutti_error_message();
}

TEST(OneSided, MistakesAreNamed) {
  Team team(2);
  ASSERT_EQ(tutti_servers_start(team.team, 1, TUTTI_SERVE_ALL), TUTTI_OK);
  tutti_group* const group = team.groups[0];
  tutti_group* const other = team.groups[1];
  int64_t from = 1, to = 0;
  int complete = 0;
  tutti_handle handle;
  expect_refused(tutti_put(group, 2, &to, &from, 8, &handle), "target 2");
  expect_refused(tutti_put(group, -1, &to, &from, 8, &handle), "target -1");
  expect_refused(tutti_put(nullptr, 0, &to, &from, 8, &handle), "group is null");
  expect_refused(tutti_put(group, 0, nullptr, &from, 8, &handle), "to is null");
  expect_refused(tutti_get(group, 0, &to, nullptr, 8, &handle), "from is null");
  expect_refused(tutti_put(group, 0, &from, &from, 8, &handle), "overlap");
  expect_refused(tutti_put(group, 0, &to, &from, SIZE_MAX, &handle), "length");
  expect_refused(tutti_put_strided(group, 0, &to, PTRDIFF_MAX, &from, 8, 8, 3, &handle), "stride");
  expect_refused(tutti_put_strided(group, 0, &to, 0, &from, 0, 0, size_t{1} << 40, &handle),
                 "blocks");
  uint64_t words[2] = {};
  auto* const odd = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(words) + 4);
  auto* const nowhere = reinterpret_cast<uint64_t*>(8);
  expect_refused(tutti_put_signal(group, 2, &to, &from, 8, words, &handle), "target 2");
  expect_refused(tutti_put_signal(group, 1, &to, &from, 8, nullptr, &handle), "signal is null");
  expect_refused(tutti_put_signal(group, 1, &to, &from, 8, odd, &handle), "not aligned");
  expect_refused(tutti_put_signal(group, 1, words, &from, 8, words, &handle), "overlap");
  expect_refused(tutti_put_signal(group, 1, &to, &from, 8, nowhere, &handle),
                 "signal is not within the shared heap of rank 1");
  expect_refused(tutti_signal_wait(nullptr, words, 1), "group is null");
  expect_refused(tutti_signal_wait(group, nullptr, 1), "signal is null");
  expect_refused(tutti_signal_wait(group, odd, 1), "not aligned");
  EXPECT_EQ(tutti_put_signal(group, 1, nullptr, nullptr, 0, words, nullptr), TUTTI_OK);
  EXPECT_EQ(words[0] + words[1], 0u);
  expect_refused(tutti_wait(group, nullptr), "handle is null");
  expect_refused(tutti_test(group, &handle, nullptr), "complete is null");
  expect_refused(tutti_servers_start(team.team, 0, TUTTI_SERVE_ALL), "number of servers");
  expect_refused(tutti_servers_start(team.team, 65, TUTTI_SERVE_ALL), "number of servers");
  expect_refused(tutti_servers_start(team.team, 1, static_cast<tutti_serve>(9)), "serve");
  expect_refused(tutti_servers_stop(nullptr), "team is null");
  EXPECT_EQ(tutti_servers_count(nullptr), 0);
  EXPECT_EQ(tutti_most_outstanding(nullptr), 0u);

  ASSERT_EQ(tutti_put(group, 1, &to, &from, 8, &handle), TUTTI_OK);
  ASSERT_NE(handle.place[1], 0u);
  tutti_handle copy = handle;
  expect_refused(tutti_wait(other, &copy), "another group");
  ASSERT_EQ(tutti_wait(group, &handle), TUTTI_OK);
  expect_refused(tutti_wait(group, &copy), "completed already");
  expect_refused(tutti_test(group, &copy, &complete), "completed already");
  EXPECT_EQ(to, 1);
}

// More than fit into the servers' queues: the caller does the rest, and nothing is lost.
TEST(OneSided, MoreThanMayBeOutstanding) {
  Team team(1);
  ASSERT_EQ(tutti_servers_start(team.team, 1, TUTTI_SERVE_ALL), TUTTI_OK);
  const size_t most = tutti_most_outstanding(team.groups[0]);
  std::vector<int> from(3 * most), to(3 * most, -1);
  std::iota(from.begin(), from.end(), 0);
  size_t handed = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    tutti_handle handle;
    ASSERT_EQ(tutti_put(team.groups[0], 0, &to[i], &from[i], sizeof(int), &handle), TUTTI_OK);
    if (handle.place[1] != 0) ++handed;
  }
  EXPECT_EQ(handed, most);
  ASSERT_EQ(tutti_wait_all(team.groups[0]), TUTTI_OK);
  EXPECT_EQ(to, from);
}

}  // namespace
