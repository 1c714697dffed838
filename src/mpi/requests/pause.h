// Between two looks at what other ranks do: spin a little, then let others run, then sleep. For
// waits that may be long; the executor has its own.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "exec/executor.h"
#include "shm/order.h"

namespace tutti::mpi {

class Pause {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Pause(exec::WaitStyle style) : spins_(style == exec::WaitStyle::spin ? 2000 : 20) {}

  // True now and then, when it is time for whatever must happen in a long wait.
  bool next() {
    if (++looks_ % spins_ != 0) {
      shm::relax();
      return false;
    }
    const auto elapsed = Clock::now() - begin_;
    if (elapsed > yield_before_sleep) {
      usleep(sleep_microseconds_);
      sleep_microseconds_ = std::min(2 * sleep_microseconds_, longest_sleep_microseconds);
    } else {
      sched_yield();
    }
    return true;
  }

  // True every 100 ms, for a look at the peers; asked after next().
  bool look_closely() {
    const auto now = Clock::now();
    if (now < next_look_) return false;
    next_look_ = now + looks_every;
    return true;
  }
  int64_t seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
  }

 private:
  // Yielding does not hand a core over where ranks are in scheduling groups of their own (as in
  // exec/wait.cpp): a round of four ranks on two cores took the whole time of yielding, which was 1
  // ms.
  static constexpr auto yield_before_sleep = std::chrono::microseconds(20);
  static constexpr auto looks_every = std::chrono::milliseconds(100);
  static constexpr useconds_t longest_sleep_microseconds = 50;

  const int spins_;
  int looks_ = 0;
  useconds_t sleep_microseconds_ = 1;  // the system adds some 50 to it
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_look_ = begin_ + looks_every;
};

}  // namespace tutti::mpi
