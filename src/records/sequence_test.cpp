#include "records/sequence.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/sanitized.h"
#include "records/test_ranks.h"

namespace tutti::records {
namespace {

constexpr uint64_t some_call = uint64_t{3} << 60;

// Data of a rank's record, which depends on all that distinguishes it.
std::byte datum(int rank, uint64_t number, size_t at) {
  return static_cast<std::byte>(rank * 31 + static_cast<int>(number * 7) + static_cast<int>(at));
}

uint64_t issue(TestRanks& ranks, int rank, size_t bytes, uint64_t number) {
  std::byte* const data = ranks[rank].prepare(bytes);
  for (size_t at = 0; at < bytes; ++at) data[at] = datum(rank, number, at);
  return ranks[rank].publish(some_call | bytes);
}

void expect_record(TestRanks& ranks, int reader, int rank, uint64_t number, size_t bytes) {
  ASSERT_TRUE(ranks[reader].has(rank, number));
  const Sequence::Record record = ranks[reader].record(rank, number);
  ASSERT_EQ(record.call, some_call | bytes);
  for (size_t at = 0; at < bytes; ++at)
    ASSERT_EQ(record.data[at], datum(rank, number, at))
        << "operation " << number << " of rank " << rank << ", byte " << at;
}

TEST(Sequence, ARecordIsThereOncePublished) {
  TestRanks ranks({.ranks = 3});
  EXPECT_FALSE(ranks[2].has(0, 0));
  EXPECT_EQ(issue(ranks, 0, 8, 0), 0u);
  for (int reader = 0; reader < 3; ++reader) expect_record(ranks, reader, 0, 0, 8);
  EXPECT_FALSE(ranks[2].has(1, 0));
  EXPECT_FALSE(ranks[2].has(0, 1));
  EXPECT_EQ(ranks[1].issued(0), 1u);
}

TEST(Sequence, AnyNumberOfOperationsMayBeUnderWay) {
  constexpr uint64_t count = 3000;
  TestRanks ranks({.ranks = 2});
  const auto bytes_of = [](uint64_t number) -> size_t {
    return number % 5 == 0 ? 200 : number % 49;
  };
  for (uint64_t number = 0; number < count; ++number)
    EXPECT_EQ(issue(ranks, 0, bytes_of(number), number), number);
  std::vector<uint64_t> order;
  for (uint64_t number = 0; number < count; ++number) order.push_back(number);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (const uint64_t number : order) expect_record(ranks, 1, 0, number, bytes_of(number));
  for (uint64_t number = 0; number < count; ++number) issue(ranks, 1, 0, number);
  for (const uint64_t number : order) ranks[1].done(number);
  EXPECT_EQ(ranks[0].taken(1), count);
  EXPECT_FALSE(ranks[0].may_end()) << "rank 0 itself is not done";
  for (const uint64_t number : order) ranks[0].done(number);
  EXPECT_TRUE(ranks[0].may_end());
  EXPECT_TRUE(ranks[1].may_end());
}

TEST(Sequence, MemoryIsUsedAgainOnlyWhenAllRanksAreDone) {
  TestRanks ranks({.ranks = 3});
  constexpr size_t bytes = 100000;
  for (uint64_t number = 0; number < 8; ++number) issue(ranks, 0, bytes, number);
  const size_t held = ranks[0].held();
  EXPECT_GE(held, 8 * bytes);
  for (const int rank : {1, 2})
    for (uint64_t number = 0; number < 8; ++number) issue(ranks, rank, 0, number);
  for (uint64_t number = 0; number < 8; ++number) {
    ranks[0].done(number);
    ranks[1].done(number);
    if (number != 2) ranks[2].done(number);  // rank 2 still reads operation 2
  }
  issue(ranks, 0, bytes, 8);
  EXPECT_LT(ranks[0].held(), held) << "operations 0 and 1 are given back";
  expect_record(ranks, 2, 0, 2, bytes);
  expect_record(ranks, 2, 0, 7, bytes);
  ranks[2].done(2);
  issue(ranks, 0, bytes, 9);
  EXPECT_LE(ranks[0].held(), 3 * 131072u);
}

// Without the waits of real ranks: one thread plays all of them, so a start that waited would hang,
// and memory that is used again too early would show another operation's data.
TEST(Sequence, KeepsDataInRandomInterleavings) {
  constexpr uint64_t count = 400;
  // One thread plays all ranks, so there are no races to look for.
  const unsigned seeds = looks_for_races ? 4 : 20;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    const int size = 2 + static_cast<int>(seed % 4);
    TestRanks ranks({.ranks = size});
    const auto bytes_of = [&](int rank, uint64_t number) -> size_t {
      const auto mixed = static_cast<size_t>(rank + 1) * 2654435761u + number * 40503u + seed;
      return mixed % 7 == 0 ? mixed % 40000 : mixed % 60;
    };
    std::vector<uint64_t> issued(static_cast<size_t>(size), 0);
    std::vector<std::vector<uint64_t>> open(static_cast<size_t>(size));
    uint64_t done = 0;
    while (done < count * static_cast<uint64_t>(size)) {
      const int rank = static_cast<int>(random() % static_cast<unsigned>(size));
      const auto at = static_cast<size_t>(rank);
      if (issued[at] < count && random() % 2 == 0) {
        open[at].push_back(issue(ranks, rank, bytes_of(rank, issued[at]), issued[at]));
        ++issued[at];
        continue;
      }
      if (open[at].empty()) continue;
      const size_t which = random() % open[at].size();
      const uint64_t number = open[at][which];
      bool all = true;
      for (int peer = 0; peer < size; ++peer) all &= ranks[rank].has(peer, number);
      ASSERT_EQ(all, *std::min_element(issued.begin(), issued.end()) > number);
      if (!all) continue;
      for (int peer = 0; peer < size; ++peer)
        expect_record(ranks, rank, peer, number, bytes_of(peer, number));
      ranks[rank].done(number);
      open[at].erase(open[at].begin() + static_cast<ptrdiff_t>(which));
      ++done;
    }
    for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks[rank].may_end());
  }
}

TEST(Sequence, ALackOfMemoryIsAnErrorThatChangesNothing) {
  TestRanks ranks({.ranks = 2, .memory = size_t{128} << 10});  // a ring and one long record
  issue(ranks, 0, 50000, 0);
  EXPECT_THROW(ranks[0].prepare(60000), Error);
  issue(ranks, 0, 48, 1);
  issue(ranks, 1, 0, 0);
  issue(ranks, 1, 0, 1);
  expect_record(ranks, 1, 0, 0, 50000);
  expect_record(ranks, 1, 0, 1, 48);
  for (const int rank : {0, 1})
    for (const uint64_t number : {0u, 1u}) ranks[rank].done(number);
  EXPECT_EQ(issue(ranks, 0, 60000, 2), 2u) << "there is room again";
}

// One thread for each rank, which issues and takes in its own order.
TEST(Sequence, ThreadsExchangeRecords) {
  constexpr uint64_t count = 600;
  for (const int size : {2, 4, 16}) {
    TestRanks ranks({.ranks = size, .one_arena = true});
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&ranks, rank, size] {
        std::mt19937 random(static_cast<unsigned>(rank));
        std::vector<uint64_t> open;
        uint64_t next = 0;
        const auto bytes_of = [](int whose, uint64_t number) {
          return (static_cast<size_t>(whose) + number) % 9 == 0 ? size_t{1000} : size_t{16};
        };
        while (next < count || !open.empty()) {
          if (next < count && open.size() < 1 + random() % 100) {
            open.push_back(issue(ranks, rank, bytes_of(rank, next), next));
            ++next;
            continue;
          }
          const size_t which = random() % open.size();
          const uint64_t number = open[which];
          for (int peer = 0; peer < size; ++peer) {
            while (!ranks[rank].has(peer, number)) std::this_thread::yield();
            expect_record(ranks, rank, peer, number, bytes_of(peer, number));
          }
          ranks[rank].done(number);
          open.erase(open.begin() + static_cast<ptrdiff_t>(which));
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks[rank].may_end());
  }
}

// Two threads for each rank: one issues, the other takes what the first has issued.
TEST(Sequence, OneThreadIssuesWhileAnotherTakes) {
  constexpr uint64_t count = 1000;
  constexpr int size = 3;
  TestRanks ranks({.ranks = size, .one_arena = true, .concurrent = true});
  std::vector<shm::Word> issued(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      for (uint64_t number = 0; number < count; ++number) {
        issue(ranks, rank, number % 70, number);
        shm::publish(issued[static_cast<size_t>(rank)], number + 1);
      }
    });
    threads.emplace_back([&, rank] {
      for (uint64_t number = 0; number < count; ++number) {
        while (shm::observe(issued[static_cast<size_t>(rank)]) <= number) std::this_thread::yield();
        for (int peer = 0; peer < size; ++peer) {
          while (!ranks[rank].has(peer, number)) std::this_thread::yield();
          expect_record(ranks, rank, peer, number, number % 70);
        }
        ranks[rank].done(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks[rank].may_end());
}

}  // namespace
}  // namespace tutti::records
