// One-sided transfers and servers in teams without MPI: of processes, and of threads of processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "api/test_processes.h"
#include "base/sanitized.h"
#include "tutti/tutti.h"

namespace {

using namespace tutti::test;
using Numbers = std::vector<int64_t>;

constexpr size_t count = 3000;

// A barrier that ThreadSanitizer understands, too: ranks of one process map the team's memory at
// different addresses, so it sees no order there.
void meet(Rank& own) {
  static std::atomic<int> order{0};
  order.fetch_add(1);
  REQUIRE(tutti_barrier(own.group) == TUTTI_OK);
  order.fetch_add(1);
}

// The values that ranks pass, by rank.
template <class Value>
std::vector<Value> all_of(Rank& own, Value value) {
  std::vector<Value> all(static_cast<size_t>(tutti_group_size(own.group)));
  REQUIRE(tutti_allgather(own.group, &value, all.data(), sizeof value) == TUTTI_OK);
  return all;
}

// The rank's number, those of its neighbours in a ring, and by rank some memory of each.
struct Ring {
  Ring(Rank& own, void* memory)
      : rank(tutti_group_rank(own.group)),
        ranks(tutti_group_size(own.group)),
        next((rank + 1) % ranks),
        before((rank + ranks - 1) % ranks) {
    for (void* const address : all_of(own, memory)) there.push_back(static_cast<int64_t*>(address));
    meet(own);
  }
  int64_t* of(int which) const { return there[static_cast<size_t>(which)]; }

  const int rank, ranks, next, before;
  std::vector<int64_t*> there;
};

// Memory of the shared heap, zero at first.
struct Shared {
  explicit Shared(size_t numbers)
      : start(static_cast<int64_t*>(tutti_alloc(numbers * sizeof(int64_t)))) {
    REQUIRE(start != nullptr);
    std::fill_n(start, numbers, 0);
  }
  Shared(const Shared&) = delete;
  ~Shared() { tutti_free(start); }
  int64_t* const start;
};

// Puts into the next rank's memory, and gets it back, so many numbers at a time.
void exchange(Rank& own, const Ring& ring, size_t at_once, int rounds = 3) {
  for (int round = 0; round < rounds; ++round) {
    Numbers mine(count), back(count);
    std::iota(mine.begin(), mine.end(), 1000000 * ring.rank + 10000 * round);
    std::vector<tutti_handle> handles;
    const size_t bytes = at_once * sizeof(int64_t);
    for (size_t i = 0; i + at_once <= count; i += at_once)
      REQUIRE(tutti_put(own.group, ring.next, ring.of(ring.next) + i, &mine[i], bytes,
                        &handles.emplace_back()) == TUTTI_OK);
    for (tutti_handle& handle : handles) REQUIRE(tutti_wait(own.group, &handle) == TUTTI_OK);
    meet(own);
    const int64_t first = 1000000 * ring.before + 10000 * round;
    REQUIRE(ring.of(ring.rank)[0] == first);
    REQUIRE(ring.of(ring.rank)[at_once - 1] == first + static_cast<int64_t>(at_once) - 1);
    for (size_t i = 0; i + at_once <= count; i += at_once)
      REQUIRE(tutti_get(own.group, ring.next, &back[i], ring.of(ring.next) + i, bytes, nullptr) ==
              TUTTI_OK);
    REQUIRE(tutti_fence(own.group) == TUTTI_OK);
    const auto moved = static_cast<ptrdiff_t>(count / at_once * at_once);
    REQUIRE(std::equal(mine.begin(), mine.begin() + moved, back.begin()));
    meet(own);
  }
}

// How many threads of each process are ranks.
const std::vector<std::vector<int>> layouts = {{1}, {1, 1}, {1, 1, 1}, {2, 1}, {3}};

TEST(ProcessTransfers, InTheSharedHeap) {
  for (const std::vector<int>& threads : layouts) {
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      const Shared memory(count);
      const Ring ring(own, memory.start);
      for (const size_t at_once : {size_t{1}, size_t{7}, size_t{500}, count})
        exchange(own, ring, at_once);
    });
  }
}

// Blocks of a column of the next rank's matrix of 4 columns, from its end.
TEST(ProcessTransfers, BlocksAndStrictTransfers) {
  for (const std::vector<int>& threads : layouts) {
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      const Shared memory(12);
      const Ring ring(own, memory.start);
      const Numbers mine = {10 * ring.rank + 1, 10 * ring.rank + 2, 10 * ring.rank + 3};
      constexpr ptrdiff_t number = sizeof(int64_t);
      REQUIRE(tutti_put_strided(own.group, ring.next, ring.of(ring.next) + 11, -4 * number,
                                mine.data(), number, number, 3, nullptr) == TUTTI_OK);
      REQUIRE(tutti_wait_all(own.group) == TUTTI_OK);
      meet(own);
      for (int i = 0; i < 12; ++i)
        REQUIRE(memory.start[i] == (i % 4 == 3 ? 10 * ring.before + 1 + (11 - i) / 4 : 0));
      int64_t got = 0;
      REQUIRE(tutti_get_strict(own.group, ring.next, &got, ring.of(ring.next) + 11, number) ==
              TUTTI_OK);
      REQUIRE(got == mine[0]);
      meet(own);
      REQUIRE(tutti_put_strict(own.group, ring.next, ring.of(ring.next), &mine[2], number) ==
              TUTTI_OK);
      meet(own);
      REQUIRE(memory.start[0] == 10 * ring.before + 3);
    });
  }
}

bool may_read(pid_t process) {
  static int64_t value = 0;
  int64_t found = 0;
  const iovec here = {&found, sizeof found}, there = {&value, sizeof value};
  return process_vm_readv(process, &here, 1, &there, 1, 0) == sizeof found;
}

// True if the system permits its copies between all ranks.
bool all_may_read(Rank& own) {
  const std::vector<pid_t> processes = all_of(own, getpid());
  const bool permitted = std::all_of(processes.begin(), processes.end(), may_read);
  const std::vector<char> all = all_of(own, static_cast<char>(permitted));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

// The system's copies reach it, where they are permitted.
TEST(ProcessTransfers, InPrivateMemory) {
  for (const std::vector<int>& threads : layouts) {
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      Numbers memory(count);
      const Ring ring(own, memory.data());
      if (all_may_read(own))
        for (const size_t at_once : {size_t{7}, size_t{1500}}) exchange(own, ring, at_once);
      meet(own);
    });
  }
}

// Every rank puts to all others, and reads what they have put as soon as its signal says so. Two
// halves of the memory take turns.
TEST(ProcessTransfers, PutsThatSignal) {
  const int rounds = tutti::looks_for_races ? 50 : 300;
  for (const std::vector<int>& threads : layouts) {
    const Directory directory;
    in_threads(threads, directory.path, [=](Rank& own) {
      constexpr size_t part = 100;
      const size_t half = part * static_cast<size_t>(tutti_group_size(own.group));
      const Shared memory(2 * half + 2);
      const Ring ring(own, memory.start);
      const auto signal_of = [&](int rank, int turn) {
        return reinterpret_cast<uint64_t*>(ring.of(rank) + 2 * half) + turn;
      };
      Numbers mine(part);
      for (int round = 0; round < rounds; ++round) {
        const int turn = round % 2;
        const size_t offset = turn == 0 ? 0 : half;
        std::iota(mine.begin(), mine.end(), 1000 * round + 100 * ring.rank);
        for (int target = 0; target < ring.ranks; ++target)
          REQUIRE(tutti_put_signal(own.group, target,
                                   ring.of(target) + offset + static_cast<size_t>(ring.rank) * part,
                                   mine.data(), part * sizeof(int64_t), signal_of(target, turn),
                                   nullptr) == TUTTI_OK);
        REQUIRE(tutti_wait_all(own.group) == TUTTI_OK);
        const uint64_t sum = half * sizeof(int64_t) * static_cast<uint64_t>(round / 2 + 1);
        REQUIRE(tutti_signal_wait(own.group, signal_of(ring.rank, turn), sum) == TUTTI_OK);
        for (size_t i = 0; i < half; ++i)
          REQUIRE(memory.start[offset + i] == 1000 * round + static_cast<int64_t>(i));
      }
      meet(own);
    });
  }
}

void refused(tutti_status status, const std::string& culprit,
             tutti_status expected = TUTTI_INVALID_ARGUMENT) {
  REQUIRE(status == expected);
  REQUIRE(std::string(tutti_error_message()).find(culprit) != std::string::npos);
}

TEST(ProcessTransfers, MistakesAreNamed) {
  for (const std::vector<int>& threads : layouts) {
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      const Shared memory(8);
      const Ring ring(own, memory.start);
      int64_t* const there = ring.of(ring.next);
      auto* const signal = reinterpret_cast<uint64_t*>(there + 4);
      Numbers mine(1);
      // No heap has the first page. An address of this process might be one of the target's heap.
      auto* const nowhere = reinterpret_cast<uint64_t*>(64);
      uint64_t elsewhere = 0;
      int complete = 0;
      refused(tutti_put(own.group, ring.ranks, there, mine.data(), 8, nullptr), "out of range");
      refused(tutti_put(own.group, ring.rank, memory.start, memory.start, 8, nullptr), "overlap");
      refused(tutti_put_signal(own.group, ring.next, nowhere, mine.data(), 8, signal, nullptr),
              "to is not within the shared heap");
      refused(tutti_put_signal(own.group, ring.next, there, mine.data(), 8, nowhere, nullptr),
              "signal is not within the shared heap");
      refused(tutti_signal_wait(own.group, &elsewhere, 1), "signal is not within the shared heap");
      tutti_handle handle = {{1, 99}};
      refused(tutti_wait(own.group, &handle), "of no transfer");
      refused(tutti_test(own.group, &handle, &complete), "of no transfer");
      if (getpid() == all_of(own, getpid())[static_cast<size_t>(ring.next)]) {
        // A thread of this process: its addresses mean the same here.
        refused(tutti_put(own.group, ring.next, there, there, 8, nullptr), "overlap");
      } else {
        refused(tutti_put(own.group, ring.next, there, mine.data(), size_t{1} << 46, nullptr),
                "beyond the end of the heap");
      }
      refused(tutti_servers_start(own.team, 65, TUTTI_SERVE_ALL), "number of servers");
      refused(tutti_servers_start(own.team, 60, TUTTI_SERVE_ALL), "no room for 60 more servers");
      meet(own);
    });
  }
}

// It reaches no other process, and starts no servers.
TEST(ProcessTransfers, AForkedChildIsAlone) {
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    const Shared memory(count);
    const Ring ring(own, memory.start);
    const int status = status_of(start([&] {
      int64_t value = 5, got = 0;
      const Numbers many(count);
      refused(tutti_put(own.group, ring.next, ring.of(ring.next), &value, 8, nullptr), "forked",
              TUTTI_UNAVAILABLE);
      refused(tutti_put(own.group, ring.next, ring.of(ring.next), many.data(), count * 8, nullptr),
              "forked", TUTTI_UNAVAILABLE);
      refused(tutti_signal_wait(own.group, reinterpret_cast<uint64_t*>(memory.start), 1), "forked",
              TUTTI_UNAVAILABLE);
      refused(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL), "forked", TUTTI_UNAVAILABLE);
      refused(tutti_servers_enable(own.team), "forked", TUTTI_UNAVAILABLE);
      REQUIRE(tutti_servers_count(own.team) == 0);
      REQUIRE(tutti_get(own.group, ring.rank, &got, &value, 8, nullptr) == TUTTI_OK && got == 5);
      tutti_group_free(own.group);
      tutti_team_free(own.team);
    }));
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    exchange(own, ring, 500);
  });
}

void pause_ms(int milliseconds) { usleep(static_cast<useconds_t>(1000 * milliseconds)); }

// Two ranks go, one in order and one by a signal. The waits of the third end, and one that is for a
// rank which still puts does not.
TEST(ProcessTransfers, WaitsForRanksThatHaveGoneEnd) {
  const Directory directory;
  std::vector<pid_t> children;
  for (int rank = 0; rank < 3; ++rank)
    children.push_back(start([&, rank] {
      Rank own(directory.path, "all", rank, 3);
      Numbers* const kept = new Numbers(1, rank);
      const Shared memory(2);
      const Ring ring(own, memory.start), their_private(own, kept->data());
      const bool permitted = may_read(all_of(own, getpid())[2]);
      meet(own);
      if (rank == 1) return;
      auto* const signal = reinterpret_cast<uint64_t*>(ring.of(0) + 1);
      if (rank == 2) {
        pause_ms(500);
        REQUIRE(tutti_put_signal(own.group, 0, ring.of(0), &kept->front(), 8, signal, nullptr) ==
                TUTTI_OK);
        pause_ms(300);
        kill(getpid(), SIGKILL);
      }
      REQUIRE(tutti_signal_wait(own.group, signal, 8) == TUTTI_OK && memory.start[0] == 2);
      refused(tutti_signal_wait(own.group, signal, 16), "rank 2 has ended", TUTTI_DEAD_PEER);
      refused(tutti_signal_wait(own.group, signal, 16), "which is 8 of 16", TUTTI_DEAD_PEER);
      REQUIRE(tutti_signal_wait(own.group, signal, 8) == TUTTI_OK);
      int64_t got = 0;
      if (permitted)
        refused(tutti_get(own.group, 2, &got, their_private.of(2), 8, nullptr), "has ended",
                TUTTI_DEAD_PEER);
    }));
  EXPECT_EQ(status_of(children[1]), 0);
  EXPECT_TRUE(WIFSIGNALED(status_of(children[2])));
  EXPECT_EQ(status_of(children[0]), 0);
}

TEST(ProcessTransfers, AWaitEndsWhenAllOthersHaveLeft) {
  const Directory directory;
  in_processes(3, directory.path, [](Rank& own) {
    const Shared memory(1);
    if (tutti_group_rank(own.group) != 1) return;
    refused(tutti_signal_wait(own.group, reinterpret_cast<uint64_t*>(memory.start), 1),
            "all other ranks have left", TUTTI_DEAD_PEER);
  });
}

TEST(ProcessTransfers, AWaitStallsForARankThatDoesNothing) {
  setenv("TUTTI_STALL_SECONDS", "1", 1);
  setenv("TUTTI_STALL", "abort", 1);
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    const Shared memory(1);
    if (tutti_group_rank(own.group) == 1)
      refused(tutti_signal_wait(own.group, reinterpret_cast<uint64_t*>(memory.start), 1),
              "TUTTI_STALL=abort", TUTTI_DEAD_PEER);
    else
      pause_ms(3000);
  });
  unsetenv("TUTTI_STALL_SECONDS");
  unsetenv("TUTTI_STALL");
}

TEST(ProcessTransfers, ReachMayBeSwitchedOff) {
  setenv("TUTTI_REACH", "staged", 1);
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    const Shared memory(2);
    const Ring ring(own, memory.start);
    int64_t* const there = ring.of(ring.next);
    const int64_t value = 1;
    refused(tutti_put(own.group, ring.next, there, &value, 8, nullptr), "not in its shared heap",
            TUTTI_UNAVAILABLE);
    refused(tutti_put_signal(own.group, ring.next, there, &value, 8,
                             reinterpret_cast<uint64_t*>(there + 1), nullptr),
            "is not reached", TUTTI_UNAVAILABLE);
    meet(own);
  });
  unsetenv("TUTTI_REACH");
}

// Ranks put with signals in a ring, without and with servers, until one is killed. The others learn
// of it.
TEST(ProcessTransfers, KilledRanksAreTold) {
  constexpr int ranks = 3;
  for (int round = 0; round < 12; ++round) {
    const Directory directory;
    int formed[2];
    ASSERT_EQ(pipe(formed), 0);
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank)
      children.push_back(start([&] {
        Rank own(directory.path, "all", rank, ranks);
        const Shared memory(2 * count + 1);
        const Ring ring(own, memory.start);
        const Numbers mine(count, 1);
        if (round % 2 == 1 && rank == round % ranks)
          REQUIRE(tutti_servers_start(own.team, 2, TUTTI_SERVE_ALL) == TUTTI_OK);
        meet(own);
        REQUIRE(write(formed[1], "f", 1) == 1);
        for (uint64_t sent = 1;; ++sent) {
          int64_t* const there = ring.of(ring.next) + sent % 2 * count;
          Numbers back(count);
          REQUIRE(tutti_put(own.group, ring.next, there, mine.data(), 8 * count, nullptr) ==
                  TUTTI_OK);
          REQUIRE(tutti_wait_all(own.group) == TUTTI_OK);
          REQUIRE(tutti_get(own.group, ring.next, back.data(), there, 8 * count, nullptr) ==
                  TUTTI_OK);
          REQUIRE(tutti_wait_all(own.group) == TUTTI_OK && back == mine);
          auto* const signal = reinterpret_cast<uint64_t*>(ring.of(ring.next) + 2 * count);
          REQUIRE(tutti_put_signal(own.group, ring.next, there, mine.data(), 8, signal, nullptr) ==
                  TUTTI_OK);
          const tutti_status status = tutti_signal_wait(
              own.group, reinterpret_cast<uint64_t*>(memory.start + 2 * count), 8 * sent);
          if (status == TUTTI_DEAD_PEER) _exit(7);
          REQUIRE(status == TUTTI_OK);
        }
      }));
    close(formed[1]);
    char byte = 0;
    for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(read(formed[0], &byte, 1), 1);
    close(formed[0]);
    pause_ms(1 + 3 * round);
    const auto killed = static_cast<size_t>(round % ranks);
    kill(children[killed], SIGKILL);
    for (size_t rank = 0; rank < ranks; ++rank) {
      const int status = status_of(children[rank]);
      if (rank == killed) {
        EXPECT_TRUE(WIFSIGNALED(status));
      } else {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
      }
    }
  }
}

// ThreadSanitizer does not see what orders the work of a server for ranks of other processes, nor
// for other threads of its own, before what its process does next (meet()).
constexpr const char* unseen_order = "the order passes through other processes";

// Servers of one rank, and then of all, for the transfers of all.
TEST(ProcessTransfers, Servers) {
  for (const std::vector<int>& threads : layouts) {
    if (tutti::looks_for_races && threads != std::vector<int>{1}) continue;
    const Directory directory;
    in_threads(threads, directory.path, [](Rank& own) {
      const Shared memory(count);
      Numbers own_memory(count);
      const Ring ring(own, memory.start), their_private(own, own_memory.data());
      const auto exchange_all = [&] {
        for (const size_t at_once : {size_t{20}, size_t{1500}}) exchange(own, ring, at_once, 1);
      };
      for (const tutti_serve serve : {TUTTI_SERVE_ALL, TUTTI_SERVE_SELECTIVE, TUTTI_SERVE_NONE}) {
        if (ring.rank == ring.ranks - 1) {
          REQUIRE(tutti_servers_start(own.team, 2, serve) == TUTTI_OK);
          refused(tutti_servers_start(own.team, 1, serve), "has servers already");
        }
        meet(own);
        REQUIRE(tutti_servers_count(own.team) == 2);
        exchange_all();
        if (ring.rank == 0) REQUIRE(tutti_servers_disable(own.team) == TUTTI_OK);
        exchange_all();
        if (ring.rank == 0) REQUIRE(tutti_servers_enable(own.team) == TUTTI_OK);
        if (ring.rank == 0) REQUIRE(tutti_servers_wake(own.team) == TUTTI_OK);
        exchange_all();
        if (ring.rank == 0) REQUIRE(tutti_servers_sleep(own.team) == TUTTI_OK);
        meet(own);
        if (ring.rank == ring.ranks - 1) REQUIRE(tutti_servers_stop(own.team) == TUTTI_OK);
        exchange_all();
        REQUIRE(tutti_servers_count(own.team) == 0);
        meet(own);
      }
      REQUIRE(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL) == TUTTI_OK);
      meet(own);
      REQUIRE(tutti_servers_count(own.team) == ring.ranks);
      exchange_all();
      if (all_may_read(own)) exchange(own, their_private, 1500);
      meet(own);
    });
  }
}

void await_number(const volatile int64_t* number) {
  for (int looks = 0; *number == 0; ++looks) {
    REQUIRE(looks < 2000);
    pause_ms(10);
  }
}

// The rank that puts makes no call of Tutti's until the data is there.
TEST(ProcessTransfers, ServersMoveDataWhileTheirClientsGoOn) {
  if (tutti::looks_for_races) GTEST_SKIP() << unseen_order;
  const Directory directory;
  in_processes(2, directory.path, [](Rank& own) {
    const Shared memory(count);
    const Ring ring(own, memory.start);
    if (ring.rank == 1) {
      REQUIRE(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL) == TUTTI_OK);
      REQUIRE(tutti_servers_wake(own.team) == TUTTI_OK);
    }
    meet(own);
    if (ring.rank == 0) {
      const Numbers mine(count, 7);
      tutti_handle handle;
      REQUIRE(tutti_put(own.group, 1, ring.of(1), mine.data(), 8 * count, &handle) == TUTTI_OK);
      REQUIRE(handle.place[1] != 0);
      await_number(memory.start);
      REQUIRE(tutti_wait(own.group, &handle) == TUTTI_OK);
    } else {
      await_number(memory.start + count - 1);
      const int64_t seven = 7;
      REQUIRE(tutti_put_strict(own.group, 0, ring.of(0), &seven, 8) == TUTTI_OK);
    }
    meet(own);
  });
}

// A rank leaves with the servers that it has started; another one is killed with its own.
TEST(ProcessTransfers, ServersThatAreGoneAreNotMissed) {
  if (tutti::looks_for_races) GTEST_SKIP() << unseen_order;
  const Directory directory;
  std::vector<pid_t> children;
  for (int rank = 0; rank < 4; ++rank)
    children.push_back(start([&, rank] {
      Rank own(directory.path, "all", rank, 4);
      // The last two numbers are the other rank's, which may see earlier that the servers have
      // gone.
      const Shared memory(count + 2);
      const Ring ring(own, memory.start);
      if (rank >= 2) REQUIRE(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL) == TUTTI_OK);
      exchange(own, ring, 500);
      if (rank == 2) return;
      if (rank == 3) kill(getpid(), SIGKILL);
      for (int looks = 0; tutti_servers_count(own.team) > 0; ++looks) {
        const Numbers mine(count, 10 + rank);
        Numbers back(count);
        REQUIRE(tutti_put(own.group, rank, memory.start, mine.data(), 8 * count, nullptr) ==
                TUTTI_OK);
        REQUIRE(tutti_wait_all(own.group) == TUTTI_OK);
        REQUIRE(tutti_get(own.group, rank, back.data(), memory.start, 8 * count, nullptr) ==
                TUTTI_OK);
        REQUIRE(tutti_wait_all(own.group) == TUTTI_OK && back == mine);
        REQUIRE(looks < 100000);
      }
      const int64_t value = 20 + rank;
      int64_t* const theirs = ring.of(1 - rank) + count;
      REQUIRE(tutti_put_signal(own.group, 1 - rank, theirs, &value, 8,
                               reinterpret_cast<uint64_t*>(theirs + 1), nullptr) == TUTTI_OK);
      await_number(memory.start + count + 1);
      REQUIRE(memory.start[count] == 21 - rank);
    }));
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(status_of(children[static_cast<size_t>(rank)]), 0);
  EXPECT_TRUE(WIFSIGNALED(status_of(children[3])));
}

// The servers that are processes of this owner, as `ps` shows them.
int processes_that_serve(pid_t owner) {
  const std::string words[] = {"--owner", std::to_string(owner)};
  int found = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "cmdline");
    std::string program, option, process;
    std::getline(file, program, '\0') && std::getline(file, option, '\0') &&
        std::getline(file, process, '\0');
    if (program.find("tutti-server") != std::string::npos && option == words[0] &&
        process == words[1])
      ++found;
  }
  return found;
}

// Threads serve where the system does not let a server copy from the rank that has started it.
TEST(ProcessTransfers, ServersThatAreProcesses) {
  if (tutti::looks_for_races) GTEST_SKIP() << unseen_order;
  setenv("TUTTI_SERVERS_AS", "processes", 1);
  const Directory directory;
  in_threads({2, 1}, directory.path, [](Rank& own) {
    const Shared memory(count);
    const Ring ring(own, memory.start);
    const pid_t owner = all_of(own, getpid())[2];
    const bool permitted = all_may_read(own);
    if (ring.rank == 2) REQUIRE(tutti_servers_start(own.team, 2, TUTTI_SERVE_ALL) == TUTTI_OK);
    meet(own);
    REQUIRE(tutti_servers_count(own.team) == 2);
    REQUIRE(processes_that_serve(owner) == 2 || !permitted);
    for (const size_t at_once : {size_t{20}, size_t{1500}}) exchange(own, ring, at_once, 1);
    if (ring.rank == 2) REQUIRE(tutti_servers_stop(own.team) == TUTTI_OK);
    meet(own);
    REQUIRE(tutti_servers_count(own.team) == 0);
    exchange(own, ring, 1500, 1);
  });
  const pid_t owner = start([&] {
    Rank own(directory.path, "alone", 0, 1);
    REQUIRE(tutti_servers_start(own.team, 1, TUTTI_SERVE_ALL) == TUTTI_OK);
    REQUIRE(processes_that_serve(getpid()) == 1 || !may_read(getppid()));
    kill(getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status_of(owner)));
  for (int looks = 0; looks < 2000 && processes_that_serve(owner) > 0; ++looks) pause_ms(10);
  EXPECT_EQ(processes_that_serve(owner), 0);
  unsetenv("TUTTI_SERVERS_AS");
}

}  // namespace
