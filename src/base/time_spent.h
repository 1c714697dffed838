// How long a thread is in its calls of MPI, and for how much of that time it waits for other ranks.
// For the report; without one nobody reads a clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace tutti {

struct TimeSpent {
  std::chrono::nanoseconds whole{0};
  std::chrono::nanoseconds waiting{0};  // a part of the whole

  TimeSpent& operator+=(const TimeSpent& more) {
    whole += more.whole;
    waiting += more.waiting;
    return *this;
  }
};

// True once waits are timed. Set inside MPI_Init.
inline constinit bool waits_are_timed = false;
// This thread's waits so far. A wait that ends within the first polls is not among them.
inline constinit thread_local std::chrono::nanoseconds waited_so_far{0};

// Measures the time of a thread since it was made. Without `runs` it reads no clock, and read()
// must not be called.
class Stopwatch {
 public:
  explicit Stopwatch(bool runs = true) {
    if (!runs) return;
    begin_ = Clock::now();
    waited_ = waited_so_far;
  }
  TimeSpent read() const {
    const std::chrono::nanoseconds whole = Clock::now() - begin_;
    return {whole, std::min(whole, waited_so_far - waited_)};
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_;
  std::chrono::nanoseconds waited_;
};

}  // namespace tutti
