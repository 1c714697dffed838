#include "exec/watched_time.h"

#include <gtest/gtest.h>

namespace tutti::exec {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto begin = WatchedTime::Clock::time_point(seconds(100));

// Looks every 100 ms from `now` on, for this long.
WatchedTime::Clock::time_point look_for(WatchedTime& watched, WatchedTime::Clock::time_point now,
                                        WatchedTime::Duration time) {
  for (const auto end = now + time; now < end;) watched.look(now += milliseconds(100));
  return now;
}

TEST(WatchedTime, AStallIsToldOnceAfterTheWatchdogsTime) {
  const seconds limit(options().stall_seconds);
  WatchedTime watched(begin);
  const auto before = look_for(watched, begin, limit - milliseconds(100));
  EXPECT_FALSE(watched.stalls());
  EXPECT_FALSE(watched.is_too_long());
  const auto then = look_for(watched, before, milliseconds(100));
  EXPECT_EQ(watched.time(), limit);
  EXPECT_TRUE(watched.stalls());
  look_for(watched, then, seconds(1));
  EXPECT_FALSE(watched.stalls());
  EXPECT_TRUE(watched.is_too_long());
}

// A debugger held the process for an hour, or the machine was suspended.
TEST(WatchedTime, APauseIsNoStall) {
  WatchedTime watched(begin);
  const auto paused = look_for(watched, begin, seconds(2)) + std::chrono::hours(1);
  watched.look(paused);
  EXPECT_EQ(watched.time(), seconds(3));
  EXPECT_FALSE(watched.stalls());
  look_for(watched, paused, seconds(options().stall_seconds - 3));
  EXPECT_TRUE(watched.stalls());
}

}  // namespace
}  // namespace tutti::exec
