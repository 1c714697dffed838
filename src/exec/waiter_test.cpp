#include "exec/waiter.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tutti::exec {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto looks_at_nothing = [] { return Code::ok; };

TEST(Waiter, LooksAfterItsPollsAndEndsWithTheFirstThatIsReady) {
  Pace pace;
  pace.polls = 5;
  pace.yields_after = Pace::never;
  int polls = 0, looks = 0;
  Waiter waiter(pace);
  EXPECT_EQ(waiter.until([&] { return ++polls == 13; },
                         [&] {
                           ++looks;
                           return Code::ok;
                         }),
            Code::ok);
  EXPECT_EQ(polls, 13);
  EXPECT_EQ(looks, 2);
}

TEST(Waiter, LooksSeldomWhileItYields) {
  Pace pace;
  pace.first = Rest::yield;
  pace.rests_before_look = 4;
  int polls = 0, looks = 0;
  Waiter(pace).until([&] { return ++polls == 20; },
                     [&] {
                       ++looks;
                       return Code::ok;
                     });
  EXPECT_EQ(looks, 4);
}

TEST(Waiter, LooksAfterEachYieldOnceMessagesHaveProgressed) {
  Pace pace;
  pace.first = Rest::yield;
  pace.rests_before_look = 4;
  int polls = 0, looks = 0;
  const ProgressHook hook{[](void* context) { return ++*static_cast<int*>(context) == 2; }, &looks};
  Waiter(pace, hook).until([&] { return ++polls == 20; }, looks_at_nothing);
  EXPECT_EQ(looks, 2 + (20 - 1 - 2 * 4));
}

TEST(Waiter, EndsWithTheCodeOfALook) {
  EXPECT_EQ(Waiter(pace_of_set_up()).until([] { return false; }, [] { return Code::mismatch; }),
            Code::mismatch);
}

TEST(Waiter, DrivesTheHost) {
  int calls = 0;
  const ProgressHook hook{[](void* context) {
                            ++*static_cast<int*>(context);
                            return false;
                          },
                          &calls};
  Waiter waiter(pace_between_calls(WaitStyle::yield), hook);
  waiter.until([&] { return calls == 3; }, looks_at_nothing);
  EXPECT_EQ(calls, 3);
}

TEST(Waiter, SleepsWhenItHasYieldedForLong) {
  Pace pace;
  pace.sleeps_after = milliseconds(2);
  Waiter waiter(pace);
  Pace::Duration first_sleep{};
  int sleeps = 0;
  waiter.until([&] { return sleeps == 3; }, looks_at_nothing,
               [&] {
                 if (sleeps++ == 0) first_sleep = waiter.elapsed();
               });
  EXPECT_GE(first_sleep, milliseconds(2));
}

// A message that has come is often followed by another.
TEST(Waiter, YieldsAgainAfterMessagesHaveProgressed) {
  Pace pace;
  pace.sleeps_after = milliseconds(2);
  bool progresses = false;
  const ProgressHook hook{
      [](void* context) { return std::exchange(*static_cast<bool*>(context), false); },
      &progresses};
  Waiter waiter(pace, hook);
  const std::chrono::microseconds most = std::chrono::seconds(1);
  EXPECT_EQ(waiter.sleep_limit(most), most);
  std::vector<Pace::Duration> sleeps;
  waiter.until([&] { return sleeps.size() == 2; }, looks_at_nothing,
               [&] {
                 progresses = sleeps.empty();
                 sleeps.push_back(waiter.elapsed());
               });
  EXPECT_GE(sleeps[1] - sleeps[0], pace.sleeps_after);
  EXPECT_LT(waiter.sleep_limit(most), waiter.elapsed() / 4);
}

// Frequent short sleeps can make the kernel's scheduler fail. No sleep is shorter than was asked
// for, so the number of sleeps has a limit on any machine.
TEST(Waiter, SleepsOfALongWaitGrow) {
  Pace pace;
  pace.sleeps_after = microseconds(0);
  pace.shortest_sleep = pace.longest_sleep = microseconds(1);
  pace.sleeps_exactly = true;
  Waiter waiter(pace);
  int polls = 0;
  waiter.until([&] { return ++polls, waiter.elapsed() >= milliseconds(100); }, looks_at_nothing);
  EXPECT_LT(polls, 400);
}

// Yields without end can make the kernel's scheduler fail.
TEST(Waiter, EveryWaitThatBecomesLongSleeps) {
  for (const WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
    for (const Pace& pace : {pace_between_calls(style), pace_of_copies(style),
                             pace_of_messages(style), pace_of_set_up(), pace_of_joining()}) {
      Waiter waiter(pace);
      int sleeps = 0;
      waiter.until([&] { return sleeps == 3; }, looks_at_nothing, [&] { ++sleeps; });
      EXPECT_EQ(sleeps, 3);
    }
  }
}

TEST(Waiter, LooksCloselyTenTimesASecond) {
  Waiter waiter(pace_of_joining());
  int close_looks = 0;
  waiter.until([&] { return close_looks == 2; },
               [&] {
                 if (waiter.looks_closely()) ++close_looks;
                 return Code::ok;
               });
  EXPECT_GE(waiter.elapsed(), milliseconds(200));
}

// One peer, whose word and process are what waits look at.
struct Peer {
  Peer() : control(std::make_unique<shm::Control>()) {}
  Areas areas() const { return {reinterpret_cast<std::byte*>(control.get()), sizeof *control}; }
  Awaited awaits(uint64_t value) const { return {&control->word, value, 0, nullptr}; }
  std::unique_ptr<shm::Control> control;
};

struct CountingWatch final : Watch {
  Code look(const Awaited&) override {
    ++looks;
    return Code::ok;
  }
  Code dead(const Awaited&) override { return Code::dead_peer; }
  Code stalled() override { return Code::unavailable; }
  std::atomic<int> looks = 0;
};

TEST(WaitSlowly, SleepsForALatePeerAlsoOnItsOwnCore) {
  Peer peer;
  CountingWatch watch;
  const Awaited awaited = peer.awaits(7);
  std::thread publisher([&] {
    std::this_thread::sleep_for(milliseconds(300));
    shm::publish(peer.control->word, 7);
  });
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  EXPECT_EQ(wait_slowly(&awaited, 1, peer.areas(), WaitStyle::spin, false, {}, watch), Code::ok);
  getrusage(RUSAGE_THREAD, &after);
  publisher.join();
  EXPECT_GT(after.ru_nvcsw - before.ru_nvcsw, 10);  // a yield is not counted here
}

TEST(WaitSlowly, EndsWhenThePeerPublishes) {
  for (const WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
    Peer peer;
    CountingWatch watch;
    const Awaited awaited = peer.awaits(7);
    EXPECT_FALSE(poll_eagerly(&awaited, 1, style));
    std::thread publisher([&] {
      while (watch.looks == 0) std::this_thread::sleep_for(milliseconds(1));
      shm::publish(peer.control->word, 7);
      wake_sleepers(*peer.control);
    });
    EXPECT_EQ(wait_slowly(&awaited, 1, peer.areas(), style, false, {}, watch), Code::ok);
    publisher.join();
    EXPECT_TRUE(poll_eagerly(&awaited, 1, style));
    EXPECT_EQ(shm::look(peer.control->doorbell.sleepers), 0u);
  }
}

// A line bears the stamp itself: a later one is another operation's.
TEST(WaitSlowly, ALineIsAwaitedExactly) {
  shm::Line line{};
  const Awaited awaited{&line.stamp, 7, 0, &line};
  shm::publish(line.stamp, 8);
  EXPECT_FALSE(awaited.here());
  shm::publish(line.stamp, 7);
  EXPECT_TRUE(awaited.here());
}

TEST(WaitSlowly, NoticesADeadPeer) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  for (const WaitStyle style : {WaitStyle::spin, WaitStyle::yield}) {
    Peer peer;
    shm::store_relaxed(peer.control->process, static_cast<uint64_t>(child));
    CountingWatch watch;
    const Awaited awaited = peer.awaits(1);
    EXPECT_EQ(wait_slowly(&awaited, 1, peer.areas(), style, false, {}, watch), Code::dead_peer);
  }
}

}  // namespace
}  // namespace tutti::exec
