#include "report/board.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "report/board_file.h"

namespace tutti::report {
namespace {

constexpr int places = 3;

class Boards : public testing::Test {
 protected:
  void SetUp() override {
    void* const mapped = mmap(nullptr, Board::bytes(places), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    memory_ = static_cast<std::byte*>(mapped);
  }
  void TearDown() override { munmap(memory_, Board::bytes(places)); }
  Board board(int own) { return {memory_, places, own}; }

  // A process that enters, may leave, and ends.
  void short_life(int own, bool leaves) {
    const pid_t child = fork();
    if (child == 0) {
      Board its = board(own);
      its.enter(own);
      if (leaves) its.leave(numbers(5), {.under_way = 9});
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  static Numbers numbers(uint64_t started) {
    Numbers some{};
    some.started = started;
    return some;
  }

  std::byte* memory_ = nullptr;
};

TEST_F(Boards, TheLastOneThatLeavesWritesForAll) {
  Board first = board(0), second = board(1);
  first.enter(0);
  second.enter(1);
  first.leave(numbers(2), {.under_way = 7});
  EXPECT_FALSE(first.nobody_comes(true) || first.some_died());
  second.leave(numbers(3), {.under_way = 4});
  EXPECT_TRUE(first.nobody_comes(false));
  EXPECT_TRUE(second.may_write());
  EXPECT_FALSE(first.may_write());
  const Board::Sum sum = first.sum();
  EXPECT_EQ(sum.numbers.started, 5u);
  EXPECT_EQ(sum.most.under_way, 7u);
  EXPECT_EQ(sum.ranks, (std::vector<int>{0, 1}));
  EXPECT_TRUE(sum.missing.empty());
}

TEST_F(Boards, TheDeadAreMissing) {
  Board own = board(0);
  own.enter(4);
  short_life(1, true);
  short_life(2, false);
  own.leave(numbers(2), {});
  EXPECT_FALSE(own.nobody_comes(false));
  EXPECT_TRUE(own.nobody_comes(true));
  EXPECT_TRUE(own.some_died());
  EXPECT_TRUE(own.may_write());
  EXPECT_EQ(own.sum().numbers.started, 7u);
  EXPECT_EQ(own.sum().most.under_way, 9u);
  EXPECT_EQ(own.sum().missing, std::vector<int>{2});
}

TEST_F(Boards, WhoEntersAgainIsWaitedForAgain) {
  Board first = board(0), second = board(1);
  first.enter(0);
  first.leave(numbers(1), {});
  EXPECT_TRUE(first.nobody_comes(true) && first.may_write());
  first.enter(0);
  second.enter(1);
  second.leave(numbers(1), {});
  EXPECT_FALSE(second.nobody_comes(true));
  first.leave(numbers(3), {});
  EXPECT_TRUE(first.nobody_comes(true) && first.may_write());
  EXPECT_EQ(first.sum().numbers.started, 4u);
}

TEST_F(Boards, OneWritesHoweverManyLeaveAtOnce) {
  constexpr int rounds = 20000;
  std::atomic<int> writers = 0;
  std::barrier together(places);
  const auto leave_often = [&](int rank) {
    Board own = board(rank);
    for (int round = 0; round < rounds; ++round) {
      own.enter(rank);
      together.arrive_and_wait();
      own.leave(numbers(1), {});
      while (!own.nobody_comes(false)) std::this_thread::yield();
      writers += own.may_write() ? 1 : 0;
      together.arrive_and_wait();
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < places; ++rank) threads.emplace_back(leave_often, rank);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(writers, rounds);
}

TEST(BoardFile, AKilledJobsFileIsRemovedByTheNextJob) {
  const std::string name = "test-" + std::to_string(getpid());
  const auto files = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      if (entry.path().string().find(name) != std::string::npos) found.push_back(entry.path());
    return found.size();
  };
  int entered[2];
  ASSERT_EQ(pipe(entered), 0);
  const pid_t child = fork();
  if (child == 0) {
    BoardFile its(name + "-killed", 0);
    if (write(entered[1], "", 1) == 1) pause();
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(entered[0], &byte, 1), 1);
  const auto enter_and_leave = [&] {
    BoardFile next(name + "-next", 0);
    next.board().leave({}, {});
    next.remove();
  };
  enter_and_leave();
  EXPECT_EQ(files(), 1u) << "the process lives";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  enter_and_leave();
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace tutti::report
