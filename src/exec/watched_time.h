// How long a wait has been watched, for the watchdog (TUTTI_STALL_SECONDS).
//
// Two looks may be far apart because this process or the whole machine stood still: a debugger held
// it, or a virtual machine was suspended. Other ranks may then have stood still as well, so that
// time says nothing about them. A program may also look seldom because it computes. The time
// between two looks therefore counts as at most a second.
//
// One thread at a time; times are passed in, and never decrease.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/options.h"

namespace tutti::exec {

class WatchedTime {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;
  static constexpr Duration longest_step = std::chrono::seconds(1);

  WatchedTime() = default;
  explicit WatchedTime(Clock::time_point now) : last_(now) {}

  void look(Clock::time_point now) {
    time_ += std::min(now - last_, longest_step);
    last_ = now;
  }
  // True once, when the wait has been watched for as long as the watchdog allows.
  bool stalls() {
    if (told_ || !is_too_long()) return false;
    return told_ = true;
  }
  // True each time from then on.
  bool is_too_long() const {
    const std::chrono::seconds limit(options().stall_seconds);
    return limit.count() > 0 && time_ >= limit;
  }
  // Up to the last look.
  Duration time() const { return time_; }

 private:
  Clock::time_point last_{};
  Duration time_{};
  bool told_ = false;
};

}  // namespace tutti::exec
