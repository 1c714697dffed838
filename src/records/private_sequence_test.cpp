#include "records/private_sequence.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "records/test_ranks.h"

namespace tutti::records {
namespace {

constexpr uint64_t some_call = uint64_t{3} << 20;

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::unique_ptr<PrivateSequence> open(TestRanks& ranks, int rank, const std::string& note = {},
                                      std::optional<std::vector<int>> readers = {},
                                      uint64_t call = some_call) {
  PrivateSequence::Settings settings;
  settings.openings = &ranks.openings(rank);
  settings.arena = &ranks.arena(rank);
  settings.call = call;
  settings.note = bytes_of(note);
  settings.readers = std::move(readers);
  return std::make_unique<PrivateSequence>(settings);
}

uint64_t issue(PrivateSequence& one, uint64_t value, size_t bytes = sizeof(uint64_t)) {
  std::byte* const data = one.sequence().prepare(bytes);
  std::memcpy(data, &value, sizeof value);
  return one.sequence().publish(uint64_t{1} << 60 | bytes);
}

uint64_t value_of(PrivateSequence& reader, int rank, uint64_t number) {
  uint64_t value = 0;
  std::memcpy(&value, reader.sequence().record(rank, number).data, sizeof value);
  return value;
}

// Pins an error: a root that was far ahead waited for ever, because it never looked for the ledger
// of a rank that had opened late.
TEST(PrivateSequence, ARankThatOnlyAsksWhatOthersHaveIssuedFindsTheirLedgers) {
  TestRanks ranks({.ranks = 2});
  auto first = open(ranks, 0);
  issue(*first, 7);
  EXPECT_EQ(first->sequence().least_issued(), 0u);
  auto second = open(ranks, 1);
  issue(*second, 8);
  EXPECT_EQ(first->sequence().issued(1), 1u);
  EXPECT_EQ(first->sequence().least_issued(), 1u);
}

TEST(PrivateSequence, RanksThatHaveNotOpenedHaveStartedNothing) {
  TestRanks ranks({.ranks = 2});
  auto first = open(ranks, 0);
  EXPECT_EQ(issue(*first, 7), 0u);
  EXPECT_FALSE(first->sequence().has(1, 0));
  EXPECT_EQ(first->sequence().least_issued(), 0u);
  auto second = open(ranks, 1);
  EXPECT_TRUE(second->sequence().has(0, 0));
  EXPECT_EQ(value_of(*second, 0, 0), 7u);
  EXPECT_FALSE(first->sequence().has(1, 0));
  issue(*second, 8);
  EXPECT_TRUE(first->sequence().has(1, 0));
  EXPECT_EQ(value_of(*first, 1, 0), 8u);
}

TEST(PrivateSequence, RanksUseSeveralInOrdersOfTheirOwn) {
  TestRanks ranks({.ranks = 2});
  std::vector<std::unique_ptr<PrivateSequence>> opened[2];
  for (int i = 0; i < 5; ++i)
    for (int rank = 0; rank < 2; ++rank) opened[rank].push_back(open(ranks, rank));
  for (size_t i = 0; i < 5; ++i) issue(*opened[0][i], 10 + i);
  for (size_t i = 5; i-- > 0;) issue(*opened[1][i], 20 + i);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(opened[0][i]->number(), i);
    EXPECT_EQ(value_of(*opened[0][i], 1, 0), 20 + i);
    EXPECT_EQ(value_of(*opened[1][i], 0, 0), 10 + i);
  }
}

TEST(PrivateSequence, TellsTheNoteOfEachRank) {
  TestRanks ranks({.ranks = 2});
  auto first = open(ranks, 0, "a note of rank 0");
  std::span<const std::byte> note;
  EXPECT_FALSE(first->find_note(1, &note));
  auto second = open(ranks, 1);
  ASSERT_TRUE(second->find_note(0, &note));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(note.data()), note.size()),
            "a note of rank 0");
  ASSERT_TRUE(first->find_note(1, &note));
  EXPECT_TRUE(note.empty());
}

TEST(PrivateSequence, RanksThatOpenDifferentOnesAreNamed) {
  TestRanks ranks({.ranks = 2});
  auto first = open(ranks, 0);
  auto second = open(ranks, 1, {}, {}, some_call + 1);
  try {
    (void)first->sequence().has(1, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::mismatch);
    EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
  }
}

TEST(PrivateSequence, ARankThatEndsKeepsNobodyWaiting) {
  TestRanks ranks({.ranks = 2});
  auto first = open(ranks, 0), second = open(ranks, 1);
  issue(*first, 1);
  first->sequence().done(0);
  first->close();
  EXPECT_FALSE(first->try_close());
  second->sequence().abandon();
  EXPECT_TRUE(first->try_close());
}

// Issue 33: ranks that opened later looked for its ledger, which was gone.
TEST(PrivateSequence, ARankThatHasEndedIsNotLookedFor) {
  TestRanks ranks({.ranks = 3});
  auto early = open(ranks, 0);
  early->close();
  EXPECT_TRUE(early->try_close()) << "nobody needs it, because it has started nothing";
  early.reset();
  ranks.end(0);
  auto giver = open(ranks, 1, "a note"), taker = open(ranks, 2, {}, std::vector<int>{});
  issue(*giver, 7);
  issue(*taker, 8);
  EXPECT_FALSE(giver->sequence().may_end());
  EXPECT_EQ(giver->sequence().least_issued(), 1u);
  EXPECT_EQ(value_of(*taker, 1, 0), 7u);
  for (PrivateSequence* one : {giver.get(), taker.get()}) {
    one->sequence().done(0);
    one->close();
  }
  EXPECT_TRUE(taker->try_close());
  EXPECT_TRUE(giver->try_end());
  EXPECT_TRUE(taker->try_end());
}

TEST(PrivateSequence, MemoryStaysUntilAllRanksHaveClosed) {
  TestRanks ranks({.ranks = 3});
  std::vector<std::unique_ptr<PrivateSequence>> opened;
  for (int rank = 0; rank < 2; ++rank) opened.push_back(open(ranks, rank));
  issue(*opened[0], 5, 1000);
  issue(*opened[1], 6);
  const size_t held = ranks.arena(0).held();
  const auto complete = [](PrivateSequence& one) {
    one.sequence().done(0);
    one.close();
  };
  complete(*opened[0]);
  EXPECT_FALSE(opened[0]->try_close()) << "rank 1 may still read its record";
  complete(*opened[1]);
  EXPECT_FALSE(opened[0]->try_close()) << "rank 2 has not even opened it";
  opened.push_back(open(ranks, 2));
  issue(*opened[2], 7);
  ASSERT_TRUE(opened[2]->sequence().has(0, 0));
  EXPECT_EQ(value_of(*opened[2], 0, 0), 5u);
  complete(*opened[2]);
  EXPECT_TRUE(opened[0]->try_close());
  EXPECT_FALSE(opened[0]->try_end())
      << "the others do not know yet that nobody reads their records";
  for (auto& one : opened) EXPECT_TRUE(one->try_close());
  for (auto& one : opened) EXPECT_TRUE(one->try_end());
  opened.clear();
  EXPECT_LT(ranks.arena(0).held(), held - 1000);
  for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(ranks.openings(rank).may_end());
}

// The oldest stays open, so the records of all later openings stay, and nothing else.
TEST(PrivateSequence, ManyAreOpenedAndClosedBesideOneThatStays) {
  TestRanks ranks({.ranks = 2});
  auto stays = open(ranks, 0), stays_too = open(ranks, 1);
  size_t held = 0;
  for (int round = 0; round < 500; ++round) {
    auto one = open(ranks, 0), other = open(ranks, 1);
    for (uint64_t number = 0; number < 3; ++number) {
      issue(*one, number, 5000);
      issue(*other, number, 5000);
      for (PrivateSequence* reader : {one.get(), other.get()}) {
        for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(value_of(*reader, rank, number), number);
        reader->sequence().done(number);
      }
    }
    one->close();
    other->close();
    EXPECT_TRUE(one->try_close() && other->try_close());
    EXPECT_TRUE(one->try_end() && other->try_end());
    if (round == 0) held = ranks.arena(0).held();
  }
  EXPECT_LT(ranks.arena(0).held(), held + 600 * sizeof(shm::Line) * 2);
  EXPECT_FALSE(ranks.openings(0).may_end());
}

TEST(PrivateSequence, OnlyReadersKeepMemory) {
  TestRanks ranks({.ranks = 3});
  auto giver = open(ranks, 0, {}, std::vector<int>{1});
  auto reader = open(ranks, 1, {}, std::vector<int>{});
  auto stranger = open(ranks, 2, {}, std::vector<int>{});  // is done with nothing
  size_t most = 0;
  for (uint64_t number = 0; number < 200; ++number) {
    issue(*giver, number, 50000);
    issue(*reader, 0, 8);
    EXPECT_EQ(value_of(*reader, 0, number), number);
    reader->sequence().done(number);
    giver->sequence().done(number);
    most = std::max(most, giver->sequence().held());
  }
  EXPECT_LT(most, 10 * 65536u);
  EXPECT_TRUE(giver->sequence().may_end());
}

TEST(PrivateSequence, WithoutMemoryNothingIsOpened) {
  TestRanks ranks({.ranks = 2, .memory = size_t{64} << 10});
  auto first = open(ranks, 0);
  std::vector<Arena::Block> all;
  try {
    for (;;) all.push_back(ranks.arena(0).take(sizeof(shm::Ledger) + sizeof(uint64_t)));
  } catch (const Error&) {
  }
  EXPECT_THROW((void)open(ranks, 0), Error);
  for (const Arena::Block& block : all) ranks.arena(0).give_back(block);
  auto second = open(ranks, 0), of_rank_1 = open(ranks, 1);
  EXPECT_EQ(second->number(), 1u);
  EXPECT_EQ(of_rank_1->number(), 0u);
}

// Ranks in threads open, use and close private sequences in random order.
TEST(PrivateSequence, RanksInThreads) {
  constexpr int size = 3;
  constexpr size_t count = 40;
  TestRanks ranks({.ranks = size, .concurrent = true});
  const auto play = [&](int rank) {
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<std::unique_ptr<PrivateSequence>> opened;
    for (size_t i = 0; i < count; ++i) opened.push_back(open(ranks, rank));
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (uint64_t round = 0; round < 5; ++round) {
      for (const size_t i : order) issue(*opened[i], 1000 * round + i, 8 + i * 17);
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t i : order) {
        for (int peer = 0; peer < size; ++peer) {
          while (!opened[i]->sequence().has(peer, round)) std::this_thread::yield();
          ASSERT_EQ(value_of(*opened[i], peer, round), 1000 * round + i);
        }
        opened[i]->sequence().done(round);
      }
    }
    for (auto& one : opened) one->close();
    while (!opened.empty()) std::erase_if(opened, [](const auto& one) { return one->try_end(); });
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) threads.emplace_back(play, rank);
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(ranks.openings(rank).may_end());
}

}  // namespace
}  // namespace tutti::records
