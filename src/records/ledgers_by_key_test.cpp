#include "records/ledgers_by_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "base/sanitized.h"

namespace tutti::records {
namespace {

constexpr auto operations = shm::LedgerOf::operations;
constexpr uint64_t call = uint64_t{1} << 60 | sizeof(uint64_t);

// The members of a team.
struct Team {
  explicit Team(int count) : pages(static_cast<size_t>(count)) {
    for (int member = 0; member < count; ++member) {
      arenas.push_back(std::make_unique<Arena>(Arena::Settings{}));
      directories.push_back(
          std::make_unique<Directory>(pages.data(), count, member, *arenas.back()));
    }
  }
  std::vector<Directory::Page> pages;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<Directory>> directories;
};

// Leaves the team, as Team of src/mpi/job does.
void leave(Team& team, size_t member) {
  shm::publish(team.pages[member].ended, 1);
  team.arenas[member].reset();
}

// One rank of a communicator of all members, in reverse order.
class Rank {
 public:
  Rank(Team& team, const Key& key, int rank) {
    const auto count = static_cast<int>(team.pages.size());
    LedgersByKey::Settings settings;
    for (int i = 0; i < count; ++i) settings.members.push_back(count - 1 - i);
    const auto own = static_cast<size_t>(settings.members[static_cast<size_t>(rank)]);
    settings.directory = team.directories[own].get();
    settings.arena = team.arenas[own].get();
    settings.key = key;
    settings.rank = rank;
    ledgers_ = std::make_unique<LedgersByKey>(settings);
    Sequence::Settings its;
    its.rank = rank;
    its.ledgers.resize(static_cast<size_t>(count));
    its.ledgers[static_cast<size_t>(rank)] = ledgers_->own(operations);
    its.source = &ledgers_->source(operations);
    its.arena = settings.arena;
    sequence_.emplace(its);
  }

  Sequence& sequence() { return *sequence_; }
  uint64_t issue(uint64_t value) {
    std::memcpy(sequence_->prepare(sizeof value), &value, sizeof value);
    return sequence_->publish(call);
  }
  uint64_t value_of(int rank, uint64_t number) {
    uint64_t value = 0;
    std::memcpy(&value, sequence_->record(rank, number).data, sizeof value);
    return value;
  }
  // True once all ranks have ended. After the first success of may_end, no ledger is read.
  bool try_end() {
    closing_ = closing_ || sequence_->may_end();
    return closing_ && ledgers_->try_end();
  }

 private:
  std::unique_ptr<LedgersByKey> ledgers_;
  std::optional<Sequence> sequence_;
  bool closing_ = false;
};

// Issue 33: ranks that needed its ledger for the first time could not map it, and failed.
TEST(LedgersByKey, AMemberThatHasLeftHasEnded) {
  for (const bool has_many_keys : {false, true}) {
    Team team(2);
    // The entry may be in a table that the member has made in its arena.
    std::vector<std::unique_ptr<Rank>> others;
    for (uint64_t i = 0; has_many_keys && i < 100; ++i)
      others.push_back(std::make_unique<Rank>(team, Key{{1, i}}, 1));
    auto early = std::make_unique<Rank>(team, Key{{7, 8}}, 1);  // rank 1 is member 0
    others.clear();
    early.reset();
    leave(team, 0);
    Rank late(team, Key{{7, 8}}, 0);
    EXPECT_EQ(late.sequence().issued(1), UINT64_MAX);
    late.issue(5);
    late.sequence().done(0);
    EXPECT_TRUE(late.sequence().may_end());
    EXPECT_FALSE(late.sequence().has(1, 0));
  }
}

TEST(LedgersByKey, RanksFindEachOtherWithoutWaiting) {
  Team team(3);
  Rank first(team, {{5, 6}}, 0);
  EXPECT_EQ(first.issue(70), 0u);
  EXPECT_FALSE(first.sequence().has(1, 0));
  Rank other_communicator(team, {{5, 7}}, 1);
  other_communicator.issue(1);
  EXPECT_FALSE(first.sequence().has(1, 0));
  Rank second(team, {{5, 6}}, 1);
  EXPECT_TRUE(second.sequence().has(0, 0));
  EXPECT_EQ(second.value_of(0, 0), 70u);
  second.issue(71);
  EXPECT_TRUE(first.sequence().has(1, 0));
  EXPECT_EQ(first.value_of(1, 0), 71u);
  EXPECT_FALSE(first.sequence().has(2, 0));
}

TEST(LedgersByKey, LedgersStayUntilAllRanksHaveClosed) {
  Team team(2);
  const size_t empty = team.arenas[1]->held();
  std::optional<Rank> first, second;
  first.emplace(team, Key{{5, 6}}, 0);
  first->issue(7);
  first->sequence().done(0);
  EXPECT_FALSE(first->try_end()) << "rank 1 has not started the operation";
  second.emplace(team, Key{{5, 6}}, 1);
  second->issue(8);
  EXPECT_FALSE(first->try_end()) << "rank 1 is not done with it";
  second->sequence().done(0);
  EXPECT_FALSE(first->try_end()) << "rank 1 does not know yet that nobody reads its records";
  EXPECT_TRUE(second->try_end());
  second.reset();  // removes its entry
  EXPECT_TRUE(first->try_end()) << "rank 1 has seen this rank closed";
  first.reset();
  EXPECT_EQ(team.arenas[1]->held(), empty);
  EXPECT_EQ(team.directories[0]->find(1, {{5, 6}}), nullptr);
  EXPECT_EQ(team.directories[1]->find(0, {{5, 6}}), nullptr);
}

// At the end of MPI a rank goes while others still look for its ledgers.
TEST(LedgersByKey, ARankThatEndsEarlyLeavesItsLedgers) {
  Team team(2);
  Rank first(team, {{5, 6}}, 0);
  first.issue(7);
  first.sequence().done(0);
  {
    Rank second(team, {{5, 6}}, 1);
    second.issue(8);
    second.sequence().abandon();
  }
  EXPECT_TRUE(first.sequence().may_end());
}

// Ranks in threads make many communicators, use them in orders of their own, and end them at
// different times.
TEST(LedgersByKey, ManyCommunicatorsInThreads) {
  constexpr int ranks = 3, at_once = 8;
  const int rounds = looks_for_races || looks_at_memory ? 30 : 200;
  Team team(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      std::mt19937 random(static_cast<unsigned>(rank));
      std::vector<std::unique_ptr<Rank>> left;
      for (int round = 0; round < rounds; ++round) {
        std::vector<std::unique_ptr<Rank>> all(at_once);
        std::vector<size_t> order(at_once);
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        for (const size_t i : order) {
          const Key key{{static_cast<uint64_t>(round) * at_once + i + 1, i % 3}};
          all[i] = std::make_unique<Rank>(team, key, rank);
          all[i]->issue(1000 * static_cast<uint64_t>(rank) + i);
        }
        for (size_t i = 0; i < order.size(); ++i)
          for (int from = 0; from < ranks; ++from) {
            while (!all[i]->sequence().has(from, 0)) std::this_thread::yield();
            EXPECT_EQ(all[i]->value_of(from, 0), 1000 * static_cast<uint64_t>(from) + i);
          }
        for (auto& one : all) {
          one->sequence().done(0);
          left.push_back(std::move(one));
        }
        std::erase_if(left, [](auto& one) { return one->try_end(); });
      }
      while (!left.empty()) {
        std::erase_if(left, [](auto& one) { return one->try_end(); });
        std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& arena : team.arenas) EXPECT_LT(arena->held(), size_t{1} << 16);
  const Key key{{1, 0}};
  for (int member = 0; member < ranks; ++member)
    EXPECT_EQ(team.directories[0]->find(member, key), nullptr);
}

}  // namespace
}  // namespace tutti::records
