// Threads on chosen cores that begin at one instant, for measurements of steps and algorithms.
//
// One caller starts them; run() returns when all have ended. Within the body all threads call
// meet() alike.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "clock.h"
#include "rows.h"
#include "statistics.h"

namespace tutti::bench {

// The cores that this process may use, in ascending order.
std::vector<int> usable_cores();
// False if the calling thread could not be bound to the core.
bool bind_to(int core);

// Where threads, or processes that share its memory, meet.
class Meeting {
 public:
  // Returns when all have called it for the `number`-th time, to all of them at the same instant,
  // which is the result, in ticks. If they share cores, they return one after another.
  uint64_t meet(int all, uint64_t number, const BenchClock& clock, bool share_cores);

 private:
  alignas(128) std::atomic<uint64_t> arrived_{0};
  alignas(128) std::atomic<uint64_t> released_{0};  // meetings
  std::atomic<uint64_t> start_{0};                  // the start of the last meeting
};

class BoundThreads {
 public:
  // A thread for each entry, which names its core. Threads of one core yield while they wait.
  explicit BoundThreads(std::vector<int> cores);

  int count() const { return static_cast<int>(cores_.size()); }
  int core(int thread) const { return cores_[static_cast<size_t>(thread)]; }
  bool share_cores() const { return share_cores_; }
  const BenchClock& clock() const { return clock_; }

  // False if a thread could not be bound to its core. An exception in a body ends the process with
  // one line, because the other threads would wait for this one.
  bool run(const std::function<void(int thread)>& body);

  uint64_t meet(int thread) {
    const uint64_t number = ++own_[static_cast<size_t>(thread)].meetings;
    return meeting_.meet(count(), number, clock_, share_cores_);
  }
  // The first `count` threads do `work` from the same instant on. All get the nanoseconds that the
  // slowest of them took.
  template <class Work>
  double slowest(int thread, int count, const Work& work) {
    const uint64_t start = meet(thread);
    if (thread < count) {
      work();
      own_[static_cast<size_t>(thread)].ticks = now() - start;
    }
    meet(thread);
    uint64_t slowest = 0;
    for (int i = 0; i < count; ++i) slowest = std::max(slowest, own_[static_cast<size_t>(i)].ticks);
    meet(thread);
    return nanoseconds(slowest);
  }

  // Adds the row of the job, with the cores.
  void job_row() const {
    row_begin("job");
    row_integers("cores", cores_.data(), count());
    row_end();
  }

  uint64_t now() const { return bench_now(&clock_); }
  double nanoseconds(uint64_t ticks) const {
    return static_cast<double>(ticks) / clock_.ticks_per_second * 1e9;
  }

 private:
  struct alignas(128) Own {
    uint64_t meetings = 0;
    uint64_t ticks = 0;  // its time of the last work
  };

  std::vector<int> cores_;
  bool share_cores_;
  BenchClock clock_;
  std::vector<Own> own_;
  Meeting meeting_;
};

// Memory that starts on a page, filled with zeros.
struct FreePages {
  void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte, FreePages>;
Memory memory_of(size_t bytes);

// Both are as in statistics.h, and change the order of the values, of which there must be one.
inline double middle_mean(std::vector<double>& values) {
  return middle_mean_of(values.data(), values.size());
}
inline double median(std::vector<double>& values) {
  return median_of(values.data(), values.size());
}

// The median of what `once(thread, round)` returns at the first thread. All threads make rounds
// until is_enough(rounds, milliseconds).
template <class Once, class IsEnough>
double median_of_rounds(BoundThreads& threads, const Once& once, const IsEnough& is_enough) {
  std::vector<double> times;
  bool ends = false;
  threads.run([&](int me) {
    const uint64_t first = threads.now();
    for (int round = 0; !ends; ++round) {
      const double taken = once(me, round);
      if (me == 0) {
        times.push_back(taken);
        ends = is_enough(round + 1, threads.nanoseconds(threads.now() - first) / 1e6);
      }
      threads.meet(me);
    }
  });
  return median(times);
}

// True if two entries are the same core.
bool share_cores(std::vector<int> cores);

// The cores of "0,1,1". Throws Error(invalid_argument) that names `option` if the text is no such
// list, or if the process may not run on one of them.
std::vector<int> read_cores(const char* option, const char* text);

}  // namespace tutti::bench
