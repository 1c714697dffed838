#include "records/arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>
#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "base/error.h"

namespace tutti::records {
namespace {

TEST(Arena, BlocksAreAlignedDistinctAndLargeEnough) {
  Arena arena({});
  std::mt19937 random(1);
  std::vector<std::pair<Arena::Block, unsigned char>> blocks;
  for (int i = 0; i < 300; ++i) {
    const size_t bytes = size_t{1} << (random() % 22);
    const size_t wanted = bytes + random() % bytes;
    blocks.emplace_back(arena.take(wanted), static_cast<unsigned char>(i));
    Arena::Block& block = blocks.back().first;
    ASSERT_GE(block.bytes, wanted);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 64, 0u);
    std::memset(block.data, i, block.bytes);
    if (random() % 2 == 0) {
      const size_t which = random() % blocks.size();
      const auto& [gone, mark] = blocks[which];
      for (size_t at = 0; at < gone.bytes; at += 61)
        ASSERT_EQ(gone.data[at], std::byte{mark}) << "two blocks overlap";
      arena.give_back(gone);
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(which));
    }
  }
  size_t held = 0;
  for (const auto& block : blocks) held += block.first.bytes;
  EXPECT_EQ(arena.held(), held);
  EXPECT_GE(arena.most_held(), held);
}

TEST(Arena, TheLastFreeBlockIsUsedFirst) {
  Arena arena({});
  const Arena::Block one = arena.take(1000), other = arena.take(1000);
  arena.give_back(one);
  arena.give_back(other);
  EXPECT_EQ(arena.take(990).data, other.data);
  EXPECT_EQ(arena.take(990).data, one.data);
}

TEST(Arena, WarnsOnceAboveItsUsualMost) {
  Arena arena({.usual_most = 4096});
  testing::internal::CaptureStderr();
  arena.give_back(arena.take(4000));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  for (const size_t bytes : {200, 4000, 100000}) (void)arena.take(bytes);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("TUTTI_OUTSTANDING_BYTES"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

// Issue 33: the first piece had 4 MiB, whatever was asked for.
TEST(Arena, WorksUnderALimitOfTheFileSize) {
  shm::Segment node = shm::Segment::create(shm::Segment::Kind::memfd, size_t{1} << 20);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit least = {size_t{64} << 10, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &least);
    try {
      Arena arena({.shared = &node});
      std::memset(arena.take(1000).data, 1, 1000);
      const Arena::Block block = arena.take(size_t{512} << 10);
      std::memset(block.data, 1, block.bytes);
      const bool found = arena.address(block.place) == block.data;
      try {
        (void)arena.take(size_t{2} << 20);
        _exit(2);
      } catch (const Error&) {
      }
      _exit(found ? 0 : 1);
    } catch (...) {
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Arena, GivesPagesOfLargeFreeBlocksBack) {
  Arena arena({});
  std::vector<Arena::Block> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(arena.take(size_t{32} << 20));
    std::memset(blocks.back().data, 1, blocks.back().bytes);
  }
  for (const Arena::Block& block : blocks) arena.give_back(block);
  int empty = 0;
  for (int i = 0; i < 10; ++i) empty += arena.take(size_t{32} << 20).data[4096] == std::byte{0};
  EXPECT_EQ(empty, 2) << "eight blocks of 32 MiB keep their pages";
}

TEST(Arena, AnotherArenaReadsByPlace) {
  Arena mine({}), other({});
  const Arena::Block block = mine.take(100);
  std::memcpy(block.data, "hello", 6);
  const std::byte* const seen = other.address(block.place);
  EXPECT_STREQ(reinterpret_cast<const char*>(seen), "hello");
  EXPECT_EQ(mine.address(block.place), block.data);
  EXPECT_EQ(other.address(block.place), seen) << "mapped once";
}

TEST(Arena, AnotherProcessReadsByPlace) {
  Arena mine({});
  const Arena::Block block = mine.take(100);
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    Arena its({});
    const Arena::Block reply = its.take(3 << 20);
    std::memcpy(reply.data, "from a child", 13);
    const shm::ArenaPlace place = reply.place;
    if (write(pipes[1], &place, sizeof place) < 0) _exit(1);
    pause();
  }
  shm::ArenaPlace place;
  ASSERT_EQ(read(pipes[0], &place, sizeof place), static_cast<ssize_t>(sizeof place));
  EXPECT_STREQ(reinterpret_cast<const char*>(mine.address(place)), "from a child");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  place.identity[0] ^= 1;
  EXPECT_THROW(mine.address(place), Error) << "the process is gone";
  (void)block;
}

TEST(Arena, TakesFromASharedSegmentWhereProcessesCannotOpenNewOnes) {
  shm::Segment segment = shm::Segment::create(shm::Segment::Kind::posix, size_t{1} << 20);
  segment.forget_name();
  const size_t all = segment.free_bytes();
  {
    Arena arena({.kind = shm::Segment::Kind::posix, .shared = &segment});
    const Arena::Block block = arena.take(10000);
    EXPECT_EQ(arena.address(block.place), block.data);
    EXPECT_LT(segment.free_bytes(), all);
    EXPECT_THROW(arena.take(size_t{2} << 20), Error);
  }
  EXPECT_EQ(segment.free_bytes(), all) << "the arena leaves what it took";
}

}  // namespace
}  // namespace tutti::records
