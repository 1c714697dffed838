#include "exec/look_times.h"

#include <gtest/gtest.h>

namespace tutti::exec {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A thread that looks when it is asked to, and whose waits end at given times.
class Looker {
 public:
  struct Result {
    int looks = 0;
    LookTimes::Duration late{};
  };
  Result wait(LookTimes::Duration length) {
    const LookTimes::Clock::time_point begin = now_, end = begin + length;
    times_.missed(now_);
    Result result;
    while (true) {
      now_ = times_.next();
      ++result.looks;
      if (now_ >= end) break;
      times_.missed(now_);
    }
    result.late = now_ - end;
    times_.found(now_);
    return result;
  }
  const LookTimes& times() const { return times_; }

 private:
  LookTimes::Clock::time_point now_{milliseconds(1)};
  LookTimes times_;
};

TEST(LookTimes, FewLooksFindWhatComesAfterTheUsualTime) {
  for (const auto length : {microseconds(30), microseconds(1080), microseconds(2500)}) {
    Looker looker;
    for (int i = 0; i < 40; ++i) looker.wait(length);
    int looks = 0;
    LookTimes::Duration late{};
    for (int i = 0; i < 100; ++i) {
      const Looker::Result result = looker.wait(length);
      looks += result.looks;
      late += result.late;
    }
    EXPECT_LE(looks, 150) << length.count();
    EXPECT_LE(late / 100, std::max<LookTimes::Duration>(microseconds(20), length / 8));
  }
}

TEST(LookTimes, LongWaitsAreFoundAtMostAnEighthLate) {
  for (int milli = 1; milli < 1000; milli += 7) {
    Looker looker;
    EXPECT_LE(looker.wait(milliseconds(milli)).late,
              std::min<LookTimes::Duration>(microseconds(125 * milli), milliseconds(1)));
  }
}

TEST(LookTimes, OneLateRankChangesLittle) {
  Looker looker;
  for (int i = 0; i < 40; ++i) looker.wait(microseconds(100));
  const auto before = looker.times().usual();
  looker.wait(milliseconds(500));
  EXPECT_LE(looker.times().usual(), before + LookTimes::longest_first / 4);
  for (int i = 0; i < 20; ++i) looker.wait(microseconds(100));
  EXPECT_LE(looker.times().usual(), microseconds(150));
}

TEST(LookTimes, LooksThatComeEarlyChangeNothing) {
  LookTimes times;
  EXPECT_FALSE(times.waits());
  times.found(LookTimes::Clock::time_point(milliseconds(1)));
  EXPECT_EQ(times.usual(), LookTimes::shortest);
  const LookTimes::Clock::time_point begin(milliseconds(2));
  times.missed(begin);
  EXPECT_TRUE(times.waits());
  const auto next = times.next();
  for (int i = 1; i < 20; ++i) times.missed(begin + microseconds(i));
  EXPECT_EQ(times.next(), next);
  EXPECT_EQ(times.since(), begin);
  times.found(begin + microseconds(19));
  EXPECT_FALSE(times.waits());
  EXPECT_EQ(times.usual(), LookTimes::shortest);
}

// A look that drives comes soon, however long such waits usually last, and is followed by others.
TEST(LookTimes, LooksThatDriveAreNeverFarApart) {
  LookTimes times;
  LookTimes::Clock::time_point now{milliseconds(1)};
  for (int i = 0; i < 40; ++i) {  // the usual wait becomes long
    times.missed(now);
    times.missed(now = times.next());
    times.found(now += milliseconds(50));
  }
  ASSERT_EQ(times.usual(), LookTimes::longest_first);
  times.missed(now, true);
  LookTimes::Duration apart = LookTimes::longest_first_driving;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(times.next() - now, apart);
    const auto waited = (now = times.next()) - times.since();
    apart = std::clamp(waited / 8, LookTimes::shortest, LookTimes::longest_driving);
    times.missed(now, true);
  }
  times.found(now);
  EXPECT_GT(times.usual(), milliseconds(3)) << "of waits for what needs no driving";
}

// An operation has two messages of one rank, 40 us apart, after 1 ms.
TEST(LookTimes, EachPlaceOfAnOperationHasItsOwnUsualWait) {
  LookTimesByPlace times;
  LookTimes::Clock::time_point now{milliseconds(1)};
  int looks = 0;
  LookTimes::Duration late{};
  const auto wait_until = [&](LookTimes::Clock::time_point end) {
    times.missed(now);
    while (true) {
      now = times.here().next();
      ++looks;
      if (now >= end) break;
      times.missed(now);
    }
    times.found(now);
  };
  constexpr int settling = 40, operations = 100;
  for (int i = 0; i < settling + operations; ++i) {
    if (i == settling) looks = 0, late = {};
    times.operation_begins();
    const auto first = now + milliseconds(1), second = first + microseconds(40);
    wait_until(first);
    if (now < second) wait_until(second);
    late += now - second;
    now += milliseconds(1);
  }
  EXPECT_LE(late / operations, microseconds(100));
  EXPECT_LE(looks, 3 * operations);
}

}  // namespace
}  // namespace tutti::exec
