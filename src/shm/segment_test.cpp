#include "shm/segment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti::shm {
namespace {

using Kind = Segment::Kind;

// Runs `function` in a child. True if it returned true.
template <class Function>
bool in_a_child(Function function) {
  const pid_t child = fork();
  if (child == 0) _exit(function() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class EveryKind : public testing::TestWithParam<Kind> {};

TEST_P(EveryKind, IsOneMemoryForSeveralProcesses) {
  Segment segment = Segment::create(GetParam(), 100'000);
  const auto piece = segment.take(1, 8192, 1);
  ASSERT_TRUE(piece);
  const Segment::Location location = segment.location();
  EXPECT_TRUE(in_a_child([&] {
    Segment other = Segment::attach(location);
    if (!other.is(location)) return false;
    strcpy(reinterpret_cast<char*>(other.address(piece->first_page)), "from the child");
    return true;
  }));
  EXPECT_STREQ(reinterpret_cast<char*>(segment.address(piece->first_page)), "from the child");
  segment.forget_name();
}

TEST_P(EveryKind, CanBeAttachedWithoutAName) {
  Segment segment = Segment::create(GetParam(), 4096);
  segment.forget_name();
  EXPECT_EQ(segment.location().name[0], '\0');
  const Segment::Location location = segment.location();
  EXPECT_TRUE(in_a_child([&] { return Segment::attach(location).is(location); }));
}

TEST_P(EveryKind, LeavesNoFile) {
  const auto ours = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      count += entry.path().filename().string().starts_with("tutti") ? 1 : 0;
    return count;
  };
  const int before = ours();
  Segment segment = Segment::create(GetParam(), 4096);
  segment.forget_name();
  EXPECT_LE(ours(), before);
}

TEST_P(EveryKind, RefusesASegmentOfAnotherIdentity) {
  Segment segment = Segment::create(GetParam(), 4096);
  Segment::Location location = segment.location();
  location.identity[1] ^= 1;
  EXPECT_THROW(Segment::attach(location), Error);
  location = segment.location();
  location.bytes += page_size;
  EXPECT_THROW(Segment::attach(location), Error);
  location = segment.location();
  location.descriptor = 99999;
  location.name[0] = '\0';
  EXPECT_THROW(Segment::attach(location), Error);
  segment.forget_name();
}

TEST_P(EveryKind, TheLastMemberFreesAPiece) {
  Segment segment = Segment::create(GetParam(), 8 * page_size);
  segment.forget_name();
  const auto piece = segment.take(1, 8 * page_size, 3);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->pages, 8u);
  EXPECT_TRUE(piece->fresh);
  EXPECT_EQ(segment.free_bytes(), 0u);
  EXPECT_FALSE(segment.take(1, 1, 1));
  segment.leave(piece->first_page);
  segment.leave(piece->first_page);
  EXPECT_FALSE(segment.take(1, 1, 1));
  segment.leave(piece->first_page);
  EXPECT_EQ(segment.free_bytes(), 8 * page_size);
  const auto again = segment.take(1, page_size, 1);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->fresh);
}

TEST_P(EveryKind, ALockSurvivesItsOwner) {
  Segment segment = Segment::create(GetParam(), 64 * page_size);
  segment.forget_name();
  const Segment::Location location = segment.location();
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      Segment other = Segment::attach(location);
      for (;;)
        if (const auto piece = other.take(1, page_size, 1)) other.leave(piece->first_page);
    }
    usleep(2000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_TRUE(segment.take(1, page_size, 1)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, testing::Values(Kind::memfd, Kind::posix),
                         [](const auto& info) {
                           return info.param == Kind::memfd ? "memfd" : "posix";
                         });

TEST(SegmentTest, TakesLessThanWantedButNotLessThanNeeded) {
  Segment segment = Segment::create(Kind::memfd, 10 * page_size);
  const auto piece = segment.take(2 * page_size, 100 * page_size, 1);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->pages, 10u);
  EXPECT_FALSE(segment.take(page_size, page_size, 1));
}

// Random takes and leaves, checked against a map of pages: pieces never overlap, and all pages
// become free again.
TEST(SegmentTest, PiecesNeverOverlap) {
  constexpr uint32_t pages = 200;
  Segment segment = Segment::create(Kind::memfd, pages * page_size);
  std::mt19937 random(7);
  std::vector<std::pair<uint32_t, uint32_t>> taken;
  std::vector<bool> used(pages + 64);
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0) {
      const size_t wanted = (1 + random() % 20) * page_size;
      const auto piece = segment.take(wanted / 2, wanted, 1);
      if (!piece) continue;
      for (uint32_t page = piece->first_page; page < piece->first_page + piece->pages; ++page) {
        ASSERT_LT(page, used.size());
        ASSERT_FALSE(used[page]) << "page " << page << " taken twice";
        used[page] = true;
      }
      taken.emplace_back(piece->first_page, piece->pages);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      for (uint32_t page = 0; page < taken.back().second; ++page)
        used[taken.back().first + page] = false;
      segment.leave(taken.back().first);
      taken.pop_back();
    }
  }
  for (const auto& [first, count] : taken) segment.leave(first);
  EXPECT_EQ(segment.free_bytes(), segment.usable_bytes());
  EXPECT_TRUE(segment.take(pages * page_size, pages * page_size, 1));
}

TEST(SegmentTest, PiecesAreZeroWhenFresh) {
  Segment segment = Segment::create(Kind::memfd, 4 * page_size);
  const auto piece = segment.take(1, 4 * page_size, 1);
  ASSERT_TRUE(piece && piece->fresh);
  const std::byte* bytes = segment.address(piece->first_page);
  for (size_t i = 0; i < 4 * page_size; ++i) ASSERT_EQ(bytes[i], std::byte{0});
}

}  // namespace
}  // namespace tutti::shm
