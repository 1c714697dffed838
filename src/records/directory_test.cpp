#include "records/directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti::records {
namespace {

// The directories of several members, each with an arena of its own.
struct Members {
  explicit Members(int count, const Arena::Settings& settings = {})
      : pages(static_cast<size_t>(count)) {
    for (int member = 0; member < count; ++member) {
      arenas.push_back(std::make_unique<Arena>(settings));
      directories.push_back(
          std::make_unique<Directory>(pages.data(), count, member, *arenas.back()));
    }
  }
  Directory& operator[](int member) { return *directories[static_cast<size_t>(member)]; }
  Arena& arena(int member) { return *arenas[static_cast<size_t>(member)]; }

  std::vector<Directory::Page> pages;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<Directory>> directories;
};

Key random_key(std::mt19937_64& random) { return {{random() | 1, random()}}; }

TEST(Directory, MembersFindWhatOneHasEntered) {
  Members members(3);
  const Key key{{7, 8}}, other{{7, 9}};
  const Arena::Block block = members.arena(1).take(100);
  block.data[0] = std::byte{42};
  EXPECT_EQ(members[0].find(1, key), nullptr);
  Directory::Entry& entered = members[1].enter(key, block.place);
  for (int reader = 0; reader < 3; ++reader) {
    Directory::Entry* const found = members[reader].find(1, key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(members[reader].address(*found)[0], std::byte{42});
    EXPECT_EQ(members[reader].find(0, key), nullptr);
    EXPECT_EQ(members[reader].find(1, other), nullptr);
  }
  shm::publish(entered.closed, 1);
  members[1].remove(entered);
  EXPECT_EQ(members[0].find(1, key), nullptr);
  members[1].enter(key, block.place);
  EXPECT_EQ(shm::observe(members[0].find(1, key)->closed), 0u);
}

// So many that there are several tables; entries that are removed make room.
TEST(Directory, ManyEntries) {
  Members members(2);
  std::mt19937_64 random(1);
  const Arena::Block block = members.arena(0).take(64);
  const shm::ArenaPlace place = block.place;
  std::vector<std::pair<Key, Directory::Entry*>> entered;
  for (int i = 0; i < 3000; ++i) {
    const Key key = random_key(random);
    entered.emplace_back(key, &members[0].enter(key, place));
  }
  for (const auto& [key, entry] : entered) EXPECT_NE(members[1].find(0, key), nullptr);
  const size_t held = members.arena(0).held();
  for (int round = 0; round < 20000; ++round) {
    auto& [key, entry] = entered[random() % entered.size()];
    members[0].remove(*entry);
    EXPECT_EQ(members[1].find(0, key), nullptr);
    key = random_key(random);
    entry = &members[0].enter(key, place);
    EXPECT_NE(members[1].find(0, key), nullptr);
  }
  EXPECT_LE(members.arena(0).held(), 2 * held);
}

TEST(Directory, KeysThatSelectTheSameLinesHaveRoom) {
  Members members(2);
  const Arena::Block block = members.arena(0).take(64);
  const shm::ArenaPlace place = block.place;
  for (uint64_t i = 1; i <= 50; ++i) members[0].enter({{i, 5}}, place);
  for (uint64_t i = 1; i <= 50; ++i) EXPECT_NE(members[1].find(0, {{i, 5}}), nullptr);
  EXPECT_EQ(members[1].find(0, {{51, 5}}), nullptr);
}

TEST(Directory, WithoutMemoryNothingIsEntered) {
  shm::Segment segment = shm::Segment::create(shm::Segment::Kind::memfd, size_t{64} << 10);
  Members members(2, {.kind = shm::Segment::Kind::posix, .shared = &segment});
  std::mt19937_64 random(2);
  std::vector<Key> entered;
  const auto fill = [&] {
    for (int i = 0; i < 1000; ++i) {
      const Key key = random_key(random);
      members[0].enter(key, {});
      entered.push_back(key);
    }
  };
  EXPECT_THROW(fill(), Error);
  EXPECT_GT(entered.size(), Directory::first_entries);
  for (const Key& key : entered) EXPECT_NE(members[1].find(0, key), nullptr);
}

// Threads of one member enter and remove while another member looks.
TEST(Directory, ThreadsAtOnce) {
  Members members(2);
  const Key stays{{3, 3}};
  members[0].enter(stays, {});
  std::atomic<bool> goes_on{true};
  std::vector<std::thread> threads;
  for (uint64_t seed = 0; seed < 2; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (int round = 0; round < 300; ++round) {
        std::vector<Directory::Entry*> own;
        for (int i = 0; i < 40; ++i) own.push_back(&members[0].enter(random_key(random), {}));
        for (Directory::Entry* const entry : own) members[0].remove(*entry);
      }
    });
  threads.emplace_back([&] {
    while (goes_on) {
      EXPECT_NE(members[1].find(0, stays), nullptr);
      EXPECT_EQ(members[1].find(0, {{3, 4}}), nullptr);
    }
  });
  threads[0].join();
  threads[1].join();
  goes_on = false;
  threads[2].join();
}

}  // namespace
}  // namespace tutti::records
